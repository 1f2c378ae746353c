#include "result_file.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>

namespace tendril::cli {
namespace {

constexpr std::array<std::int64_t, 1> first_offset{0};

std::int64_t row_size(std::vector<std::int64_t> const& row)
{
  return std::accumulate(row.begin(), row.end(), std::int64_t{1}, std::multiplies{});
}

}  // namespace

void sample_part::clear()
{
  vertices = edges = 0;
  for (array& one : arrays_) {
    one.size = one.last = 0;
    one.pieces.clear();
  }
}

void sample_part::add_offsets(std::string const& name, buffer<std::int64_t> offsets)
{
  array& to = find<std::int64_t>(name, {});
  to.ragged = to.offsets = true;
  std::int64_t const size = offsets.size() - 1, last = offsets[size];
  auto const held = std::make_shared<buffer<std::int64_t> const>(std::move(offsets));
  to.append(
      {size, last, [held](sample_file& file, std::size_t which, std::int64_t at, std::int64_t base, cpu_exec const&) {
         buffer<std::int64_t> shifted(held->size() - 1);
         std::transform(held->begin() + 1, held->end(), shifted.begin(),
                        [base](std::int64_t offset) { return base + offset; });
         file.put(which, at, std::span<std::int64_t const>(shifted.data(), shifted.span().size()));
       }});
}

result_file::result_file(std::string path, element_type vertices, metadata about, std::int64_t num_samples,
                         sample_makers const& makers, cpu_exec const& exec)
    : path_(std::move(path)),
      vertices_(vertices),
      about_(std::move(about)),
      num_samples_(num_samples),
      makers_(makers),
      exec_(exec)
{
  exec_.on_progress = {};
  (void)checked_product("bytes of offsets of samples", num_samples, sizeof(std::int64_t));  // before any is made
}

void result_file::add_whole(std::string const& name, std::vector<std::int64_t> shape,
                            std::span<vertex_id const> elements)
{
  wholes_.emplace_back([elements](sample_file& file, std::size_t which, std::int64_t at, std::int64_t,
                                  cpu_exec const& exec) { file.put(which, at, elements, exec); });
  arrays_.push_back({.spec = {name, vertices_, std::move(shape)}});
}

void result_file::learn(sample_part const& part, std::int64_t num_samples)
{
  num_wholes_ = arrays_.size();
  for (auto const& one : part.arrays_) {
    arrays_.push_back({{one.name, one.type.value_or(vertices_), one.row},
                       one.offsets,
                       num_samples == 0 ? 0 : one.size / num_samples});
    ragged_ = ragged_ || one.ragged;
  }
  known_ = true;
}

void result_file::agree(sample_part const& first_part, std::int64_t num_samples)
{
  nlohmann::ordered_json told;
  if (makers_.tells()) {
    learn(first_part, num_samples);
    told = {{"ragged", ragged_}, {"wholes", num_wholes_}, {"about", about_}};
    for (auto const& [spec, offsets, each] : arrays_) {
      told["arrays"].push_back({spec.name, static_cast<int>(spec.type), spec.shape, offsets, each});
    }
  }
  auto const heard =
      nlohmann::ordered_json::parse(makers_.writers()->broadcast("the arrays of the output", told.dump()));
  if (!makers_.tells()) {
    ragged_ = heard["ragged"];
    num_wholes_ = heard["wholes"];
    about_ = heard["about"].get<metadata>();
    for (auto const& one : heard["arrays"]) {
      arrays_.push_back(
          {{one[0], static_cast<element_type>(one[1].get<int>()), one[2].get<std::vector<std::int64_t>>()},
           one[3],
           one[4]});
    }
    known_ = true;
  }
  if (!ragged_) { open_even(); }
}

void result_file::take(sample_part&& part, std::int64_t first, std::int64_t num_samples)
{
  if (!known_) { learn(part, num_samples); }
  if (ragged_) {
    if (kept_.empty()) { expect_room(); }
    kept_.push_back({first, std::move(part)});
    return;
  }
  if (!file_) { open_even(); }
  std::vector<place> places(num_parted());
  for (std::size_t i = 0; i < places.size(); ++i) { places[i].at = first * arrays_[num_wholes_ + i].each; }
  write(part, std::move(places));
}

void result_file::expect_room() const
{
  try {
    buffer<std::int64_t> const offsets(checked_sum("offsets of samples", num_samples_, 1));
  } catch (memory_error const& refusal) {
    throw memory_error(fmt::format("{} samples: {}", num_samples_, refusal.what()));
  }
}

void result_file::open_even()
{
  std::vector<std::int64_t> sizes;
  for (std::size_t i = num_wholes_; i < arrays_.size(); ++i) {
    sizes.push_back(checked_product("elements of all samples", arrays_[i].each, num_samples_));
  }
  open(sizes);
}

void result_file::open(std::vector<std::int64_t> const& sizes)
{
  std::vector<array_spec> specs;
  for (auto const& [spec, offsets, each] : arrays_) { specs.push_back(spec); }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto& shape = specs[num_wholes_ + i].shape;
    shape.insert(shape.begin(), sizes[i] / row_size(shape));
  }
  file_.emplace(makers_.writers(), path_, specs, about_);
  if (!makers_.tells()) { return; }
  for (std::size_t i = 0; i < wholes_.size(); ++i) { wholes_[i](*file_, i, 0, 0, exec_); }
  for (std::size_t i = num_wholes_; i < arrays_.size(); ++i) {
    if (arrays_[i].offsets) { file_->put(i, 0, std::span<std::int64_t const>(first_offset)); }
  }
}

void result_file::write(sample_part const& part, std::vector<place> places)
{
  for (std::size_t i = 0; i < part.arrays_.size(); ++i) {
    auto& [at, base] = places[i];
    for (auto const& piece : part.arrays_[i].pieces) {
      piece.write(*file_, num_wholes_ + i, at, base, exec_);
      at += piece.size;
      base += piece.last;
    }
  }
}

void result_file::write_kept()
{
  std::size_t const a_part = 1 + 2 * num_parted();
  std::vector<std::int64_t> sizes;  // of each part: its first sample, and of each array its size and its last offset
  for (auto const& [first, part] : kept_) {
    sizes.push_back(first);
    for (auto const& one : part.arrays_) { sizes.insert(sizes.end(), {one.size, one.last}); }
  }
  sizes = numbers_of_all(makers_.writers(), "sizes of samples", std::move(sizes));
  std::vector<std::int64_t const*> parts;
  parts.reserve(sizes.size() / a_part);
  for (std::size_t i = 0; i < sizes.size(); i += a_part) { parts.push_back(&sizes[i]); }
  std::stable_sort(parts.begin(), parts.end(), [](auto const* a, auto const* b) { return *a < *b; });

  std::vector<place> next(num_parted());
  for (std::size_t i = 0; i < next.size(); ++i) { next[i].at = arrays_[num_wholes_ + i].offsets ? 1 : 0; }
  std::vector<std::vector<place>> own;
  for (std::int64_t const* const part : parts) {
    if (own.size() < kept_.size() && *part == kept_[own.size()].first) { own.push_back(next); }
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i].at = checked_sum("elements of all samples", next[i].at, part[1 + 2 * i]);
      next[i].base = checked_sum("elements of all samples", next[i].base, part[2 + 2 * i]);
    }
  }
  std::vector<std::int64_t> in_all(next.size());
  std::transform(next.begin(), next.end(), in_all.begin(), [](place const& end) { return end.at; });
  open(in_all);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    write(kept_[i].part, std::move(own[i]));
    kept_[i].part = {};
    if (makers_.ranks != nullptr) { makers_.ranks->beat(); }  // others may wait until this one has written
  }
}

void result_file::commit()
{
  if (ragged_) { write_kept(); }
  file_->commit();
}

}  // namespace tendril::cli
