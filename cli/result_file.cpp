#include "result_file.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>

namespace tendril::cli {

result_file::result_file(std::string path, element_type vertices, std::map<std::string, std::string> about,
                         std::int64_t num_samples, cpu_exec const& exec)
    : path_(std::move(path)), vertices_(vertices), about_(std::move(about)), num_samples_(num_samples), exec_(exec)
{
  exec_.on_progress = {};
  (void)checked_product("bytes of offsets of samples", num_samples, sizeof(std::int64_t));  // before any is made
}

void sample_part::add_offsets(std::string const& name, buffer<std::int64_t> part)
{
  keep(std::move(part),
       [name](result_file& file, buffer<std::int64_t> held) { file.add_offsets(name, std::move(held)); });
}

void result_file::take(sample_part&& part, std::int64_t num_samples)
{
  for (auto const& call : part.calls_) { call(*this); }
  part.calls_.clear();
  end_part(num_samples);
}

result_file::array& result_file::find(std::string const& name, std::vector<std::int64_t> const& row, element_type type)
{
  auto const found = std::find_if(arrays_.begin(), arrays_.end(), [&](array const& a) { return a.spec.name == name; });
  if (found != arrays_.end()) { return *found; }
  arrays_.emplace_back();
  arrays_.back().spec = {name, type, row};
  return arrays_.back();
}

void result_file::add_whole(std::string const& name, std::vector<std::int64_t> shape,
                            std::span<vertex_id const> elements)
{
  add_part(
      name, {}, vertices_, static_cast<std::int64_t>(elements.size()),
      [elements](array_writer& writer, std::size_t at, cpu_exec const& exec) { writer.append(at, elements, exec); });
  set_whole(name, std::move(shape));
}

void result_file::set_whole(std::string const& name, std::vector<std::int64_t> shape)
{
  array& to = find(name, {}, vertices_);
  to.spec.shape = std::move(shape);
  to.whole = true;
}

void result_file::add_part(std::string const& name, std::vector<std::int64_t> const& row, element_type type,
                           std::int64_t size, append_part part)
{
  array& to = find(name, row, type);
  to.size += size;
  to.parts.push_back(std::move(part));
}

void result_file::add_offsets(std::string const& name, buffer<std::int64_t> part)
{
  array& to = find(name, {}, element_type::int64);
  std::int64_t const begin = to.parts.empty() ? 0 : 1;  // the first of a later part is the last of the one before
  buffer<std::int64_t> shifted(part.size() - begin);
  std::transform(part.begin() + begin, part.end(), shifted.begin(),
                 [base = to.last](std::int64_t offset) { return base + offset; });
  to.last += part[part.size() - 1];
  ragged_ = true;
  add(name, {}, std::move(shifted));
}

void result_file::expect_room() const
{
  try {
    buffer<std::int64_t> const offsets(checked_sum("offsets of samples", num_samples_, 1));
  } catch (memory_error const& refusal) {
    throw memory_error(fmt::format("{} samples: {}", num_samples_, refusal.what()));
  }
}

void result_file::end_part(std::int64_t num_samples)
{
  if (ragged_) {
    if (!std::exchange(asked_, true)) { expect_room(); }
    return;
  }
  if (!writer_) { open(num_samples == 0 ? 1 : num_samples_, std::max<std::int64_t>(num_samples, 1)); }
  write_parts();
}

void result_file::commit()
{
  if (!writer_) { open(1, 1); }
  write_parts();
  writer_->commit();
}

void result_file::open(std::int64_t times_num, std::int64_t times_den)
{
  std::vector<array_spec> specs;
  for (auto const& a : arrays_) {
    array_spec spec = a.spec;
    if (!a.whole) {
      std::int64_t const row =
          std::accumulate(spec.shape.begin(), spec.shape.end(), std::int64_t{1}, std::multiplies{});
      spec.shape.insert(spec.shape.begin(),
                        checked_product("elements of all samples", a.size / row / times_den, times_num));
    }
    specs.push_back(std::move(spec));
  }
  writer_.emplace(path_, std::move(specs), about_);
}

void result_file::write_parts()
{
  for (std::size_t at = 0; at < arrays_.size(); ++at) {
    for (auto const& part : arrays_[at].parts) { part(*writer_, at, exec_); }
    arrays_[at].parts.clear();
  }
}

}  // namespace tendril::cli
