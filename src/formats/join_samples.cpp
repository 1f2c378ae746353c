// Files of parts of a job of samples, joined into the file of the whole job. The first pass compares the parts and adds up
// their sizes; the second copies them. A part is open only while it is looked at.

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tendril/array_file.hpp>
#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/sample_parts.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "formats/mapped_file.hpp"
#include "formats/npy.hpp"
#include "formats/part_sequence.hpp"
#include "formats/safetensors.hpp"
#include "formats/zip.hpp"

namespace tendril {
namespace {

constexpr std::size_t copied_bytes = std::size_t{8} << 20U;  // at a time: large against any per-call cost

/// How an array of the whole comes from those of the parts.
enum class joining : std::uint8_t {
  rows,     ///< One behind the other.
  offsets,  ///< Those of a part begin with 0, and go on where those of the part before end.
  same,     ///< It belongs to no sample: all parts have the same one.
};

joining joining_of(std::string_view name)
{
  constexpr std::array<std::string_view, 5> of_no_sample{"cluster_of", "node_counts", "edge_counts", "loss",
                                                         "aggregator"};
  if (name.ends_with("offsets")) { return joining::offsets; }
  bool const same = std::find(of_no_sample.begin(), of_no_sample.end(), name) != of_no_sample.end();
  return same ? joining::same : joining::rows;
}

struct sample_array {
  array_spec spec;
  std::span<std::byte const> bytes;
  std::shared_ptr<void const> owner;  ///< Of bytes that were inflated.
};

/// A file of samples that is open.
struct sample_file {
  std::string path;
  std::shared_ptr<formats::mapped_file const> file;
  std::vector<sample_array> arrays;  ///< In the order of the file.
  std::map<std::string, std::string> metadata;
  nlohmann::ordered_json params;  ///< Of metadata, without the first id.
  std::optional<std::int64_t> first_id;
  std::int64_t num_samples = 0;  ///< Of a file with metadata.
};

template <class... Values>
[[noreturn]] void refuse_samples(sample_file const& part, fmt::format_string<Values...> what, Values&&... values)
{
  throw format_error(fmt::format("{}: {}", part.path, fmt::format(what, std::forward<Values>(values)...)));
}

void add_array(sample_file& part, formats::array_view const& array)
{
  constexpr std::array types{std::pair{formats::dtype::int32, element_type::int32},
                             std::pair{formats::dtype::int64, element_type::int64},
                             std::pair{formats::dtype::float32, element_type::float32}};
  auto const* const type =
      std::find_if(types.begin(), types.end(), [&](auto const& pair) { return pair.first == array.type; });
  if (type == types.end()) {
    refuse_samples(part, "array '{}' is {}, expected int32, int64 or float32", array.name, to_string(array.type));
  }
  if (array.shape.empty()) { refuse_samples(part, "array '{}' is a number, expected an array of samples", array.name); }
  if (joining_of(array.name) == joining::offsets &&
      (type->second != element_type::int64 || array.shape.size() != 1 || array.shape[0] == 0)) {
    refuse_samples(part, "array '{}' is {} of shape {}, expected int64 of one dimension, with an element at least",
                   array.name, to_string(array.type), array.shape_text());
  }
  part.arrays.push_back({{array.name, type->second, array.shape}, array.bytes, array.owner});
}

std::int64_t rows_of(sample_file const& part, std::string_view name)
{
  for (auto const& array : part.arrays) {
    if (array.spec.name == name) { return array.spec.shape[0]; }
  }
  refuse_samples(part, "no array '{}', expected a file of samples", name);
}

std::int64_t number_from_0(sample_file const& part, nlohmann::ordered_json const& number, char const* name)
{
  if (!number.is_number_unsigned() || number > std::uint64_t{1} << 62U) {
    refuse_samples(part, "{} is {}, expected a number from 0 on", name, number.dump());
  }
  return number.get<std::int64_t>();
}

/// What the metadata say of the place of these samples in the job.
void read_place(sample_file& part)
{
  auto const entry = [&](char const* name) {
    auto const found = part.metadata.find(name);
    if (found == part.metadata.end()) { refuse_samples(part, "no {} in the metadata, expected it of samples", name); }
    return found->second;
  };
  part.params = nlohmann::ordered_json::parse(entry("params"), nullptr, false);
  if (!part.params.is_object()) { refuse_samples(part, "params is no object, expected one"); }
  std::string const app = entry("app");
  bool const of_catalogue = part.metadata.contains("num_samples");
  char const* const first = of_catalogue ? "first_sample" : app == "khop" ? "first_root" : "first_batch";
  part.first_id = number_from_0(part, part.params.value(first, nlohmann::ordered_json()), first);
  part.params.erase(first);
  if (of_catalogue) {
    auto const number = nlohmann::ordered_json::parse(entry("num_samples"), nullptr, false);
    part.num_samples = number_from_0(part, number, "num_samples");
  } else {
    part.num_samples = app == "khop" ? rows_of(part, "seeds") : rows_of(part, "node_offsets") - 1;
  }
}

constexpr std::string_view sample_format = "tendril-samples";

void read_safetensors_samples(sample_file& part)
{
  auto contents = formats::parse_safetensors(part.path, part.file->bytes());
  part.metadata = std::move(contents.metadata);
  auto const format = part.metadata.find("format");
  if (format == part.metadata.end() || format->second != sample_format) {
    refuse_samples(part, "its metadata don't say format {}, expected a file of samples", sample_format);
  }
  for (auto const& name : contents.names) {
    auto const& tensor = contents.tensors.at(name);
    add_array(part, {name, tensor.type, tensor.shape,
                     part.file->bytes().subspan(static_cast<std::size_t>(tensor.begin),
                                                static_cast<std::size_t>(tensor.end - tensor.begin)),
                     nullptr});
  }
  read_place(part);
}

void read_npz_samples(sample_file& part, cpu_exec const& exec)
{
  formats::zip_reader const archive(part.path, part.file->bytes(), part.file);
  std::vector<formats::zip_entry const*> members;
  for (auto const& [name, entry] : archive.entries()) { members.push_back(&entry); }
  std::sort(members.begin(), members.end(),
            [](auto const* a, auto const* b) { return a->local_header < b->local_header; });
  for (auto const* const member : members) {
    constexpr std::string_view extension = ".npy";
    if (!member->name.ends_with(extension)) {
      refuse_samples(part, "member '{}', expected arrays alone: .npy", member->name);
    }
    auto const held = archive.read(*member, exec);
    std::string const name = member->name.substr(0, member->name.size() - extension.size());
    add_array(part, formats::parse_npy(part.path, name, held.bytes, held.owner));
    part.file->release_pages();  // that the check sum has read
  }
}

/// @throws format_error for a file that is damaged or no file of samples; io_error.
sample_file open_samples(std::string const& path, std::string_view extension, cpu_exec const& exec)
{
  sample_file part;
  part.path = path;
  if (!path.ends_with(extension)) { refuse_samples(part, "expected {}, the format of the output", extension); }
  part.file = formats::mapped_file::open(path);
  extension == ".npz" ? read_npz_samples(part, exec) : read_safetensors_samples(part);
  return part;
}

/// Compares two parts in all that parts of one job share.
void expect_same_job(sample_file const& part, sample_file const& first)
{
  auto const metadata_of = [](sample_file const& file) {
    auto all = file.metadata;
    for (char const* const name : {formats::part_number_entry, "first_sample", "num_samples"}) { all.erase(name); }
    if (!all.empty()) { all["params"] = file.params.dump(); }
    return all;
  };
  auto const here = metadata_of(part), there = metadata_of(first);
  auto names = here;
  names.insert(there.begin(), there.end());
  for (auto const& one : names) {
    auto const text = [&](std::map<std::string, std::string> const& in) {
      auto const found = in.find(one.first);
      return found == in.end() ? std::string("missing") : fmt::format("'{}'", found->second);
    };
    if (text(here) != text(there)) {
      refuse_samples(part, "{} is {}, expected {} as in {}", one.first, text(here), text(there), first.path);
    }
  }
  if (part.arrays.size() != first.arrays.size()) {
    refuse_samples(part, "{} arrays, expected {} as in {}", part.arrays.size(), first.arrays.size(), first.path);
  }
  for (std::size_t a = 0; a < part.arrays.size(); ++a) {
    array_spec const& mine = part.arrays[a].spec;
    array_spec const& theirs = first.arrays[a].spec;
    if (mine.name != theirs.name) {
      refuse_samples(part, "array '{}', expected '{}' as in {}", mine.name, theirs.name, first.path);
    }
    if (mine.type != theirs.type) {
      refuse_samples(part, "{} is {}, expected {} as in {}", mine.name, to_string(mine.type), to_string(theirs.type),
                     first.path);
    }
    if (!std::equal(mine.shape.begin() + 1, mine.shape.end(), theirs.shape.begin() + 1, theirs.shape.end())) {
      refuse_samples(part, "rows of {} have another shape, expected that in {}", mine.name, first.path);
    }
    if (joining_of(mine.name) == joining::same &&
        !std::equal(part.arrays[a].bytes.begin(), part.arrays[a].bytes.end(), first.arrays[a].bytes.begin(),
                    first.arrays[a].bytes.end())) {
      refuse_samples(part, "{} differs, expected what {} has", mine.name, first.path);
    }
  }
}

/// Samples of several seeds each are full, but for the last one of a job. @throws format_error for a part before others that has
/// one with fewer.
void expect_full_batches(sample_file const& part)
{
  bool const has_seeds = std::any_of(part.arrays.begin(), part.arrays.end(),
                                     [](sample_array const& array) { return array.spec.name == "seeds"; });
  if (!has_seeds || !part.params.contains("batch_size")) { return; }
  std::int64_t const num_seeds = rows_of(part, "seeds");
  std::int64_t const each = number_from_0(part, part.params["batch_size"], "batch_size");
  if (num_seeds != checked_product("seeds of samples", part.num_samples, each)) {
    refuse_samples(part, "{} seeds in {} batches of {}, expected full batches, since other parts follow", num_seeds,
                   part.num_samples, each);
  }
}

/// Copies parts into a file, piece by piece.
class sample_joiner {
 public:
  sample_joiner(std::string const& path, std::vector<array_spec> const& arrays,
                std::map<std::string, std::string> const& metadata, std::int64_t total_bytes, cpu_exec const& exec)
      : exec_(exec), total_(total_bytes), last_(arrays.size()), writer_(path, arrays, metadata)
  {
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      if (joining_of(arrays[a].name) == joining::offsets) { writer_.append(a, std::span<std::int64_t const>(zero)); }
    }
  }

  /// @param is_first  Of the parts.
  void append(sample_file const& part, bool is_first)
  {
    for (std::size_t a = 0; a < part.arrays.size(); ++a) {
      joining const how = joining_of(part.arrays[a].spec.name);
      if (how == joining::same && !is_first) { continue; }
      if (how == joining::offsets) {
        append_offsets(part, a);
        continue;
      }
      auto const copy = [&](auto none) {
        using element = decltype(none);
        for_elements<element>(
            part, a, [&](std::span<element> elements) { writer_.append(a, std::span<element const>(elements)); });
      };
      switch (part.arrays[a].spec.type) {
        case element_type::int32: copy(std::int32_t{}); break;
        case element_type::int64: copy(std::int64_t{}); break;
        default: copy(float{});
      }
    }
  }

  void commit() { writer_.commit(); }

 private:
  static constexpr std::array<std::int64_t, 1> zero{0};

  /// Calls take(elements) for all elements, in order, and takes their pages out of memory afterwards.
  template <class T, class Take>
  void for_elements(sample_file const& part, std::size_t which, Take take)
  {
    auto bytes = part.arrays[which].bytes;
    buffer<T> elements(static_cast<std::int64_t>(std::min(bytes.size(), copied_bytes) / sizeof(T)));
    while (!bytes.empty()) {
      auto const piece = bytes.first(std::min(bytes.size(), copied_bytes));
      std::memcpy(elements.data(), piece.data(), piece.size());
      take(std::span<T>(elements.data(), piece.size() / sizeof(T)));
      bytes = bytes.subspan(piece.size());
      part.file->release_pages();
      done_ += std::ssize(piece);
      if (exec_.on_progress) { exec_.on_progress({"joining", std::min(done_, total_), total_}); }
    }
  }

  /// The first offset of a part is the last of the part before.
  void append_offsets(sample_file const& part, std::size_t which)
  {
    std::int64_t at = -1, before = 0;
    for_elements<std::int64_t>(part, which, [&](std::span<std::int64_t> offsets) {
      for (std::int64_t& offset : offsets) {
        ++at;
        if (at == 0 ? offset != 0 : offset < before) {
          refuse_samples(part, "{}[{}] is {}, expected {}", part.arrays[which].spec.name, at, offset,
                         at == 0 ? "0" : fmt::format("{} or more", before));
        }
        before = offset;
        offset = checked_sum("offsets of all parts", offset, last_[which]);
      }
      bool const begins = at + 1 == std::ssize(offsets);
      writer_.append(which, std::span<std::int64_t const>(offsets).subspan(begins ? 1 : 0));
    });
    last_[which] = checked_sum("offsets of all parts", last_[which], before);
  }

  cpu_exec const& exec_;
  std::int64_t total_, done_ = 0;
  std::vector<std::int64_t> last_;  // of arrays of offsets, so far
  array_writer writer_;
};

}  // namespace

bool is_sample_file(std::string const& path)
{
  if (!path.ends_with(".safetensors")) { return path.ends_with(".npz"); }
  auto const file = formats::mapped_file::open(path);
  auto const contents = formats::parse_safetensors(path, file->bytes());
  auto const format = contents.metadata.find("format");
  return format != contents.metadata.end() && format->second == sample_format;
}

joined_samples join_samples(std::span<std::string const> parts, std::string const& path, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(!parts.empty(), "join_samples: no part, expected one at least");
  bool const is_npz = path.ends_with(".npz");
  TENDRIL_EXPECTS(is_npz || path.ends_with(".safetensors"), "{}: unknown extension, expected .npz or .safetensors",
                  path);
  std::string_view const extension = is_npz ? ".npz" : ".safetensors";
  cpu_exec quiet = exec;
  quiet.on_progress = {};  // the bar counts what is copied

  sample_file const first = open_samples(parts.front(), extension, quiet);
  std::vector<array_spec> arrays;
  for (auto const& array : first.arrays) { arrays.push_back(array.spec); }
  formats::part_sequence so_far("sample");
  std::int64_t num_bytes = 0;
  std::optional<sample_file> before;  // the last part that has samples
  for (auto const& one : parts) {
    bool const is_first = so_far.num_parts() == 0;
    sample_file const part = is_first ? first : open_samples(one, extension, quiet);
    if (!is_first) { expect_same_job(part, first); }
    if (part.num_samples > 0) {
      if (before) { expect_full_batches(*before); }
      before = part;
    }
    so_far.take(part.path, part.metadata, part.first_id, part.num_samples);
    num_bytes = checked_sum("bytes of all parts", num_bytes, std::ssize(part.file->bytes()));
    for (std::size_t a = 0; !is_first && a < arrays.size(); ++a) {
      joining const how = joining_of(arrays[a].name);
      if (how == joining::same) { continue; }
      std::int64_t const more = part.arrays[a].spec.shape[0] - (how == joining::offsets ? 1 : 0);
      arrays[a].shape[0] = checked_sum("elements of all parts", arrays[a].shape[0], more);
    }
    part.file->release_pages();
  }
  so_far.end();
  auto metadata = first.metadata;
  metadata.erase(formats::part_number_entry);
  if (metadata.contains("num_samples")) { metadata["num_samples"] = std::to_string(so_far.num_items()); }

  sample_joiner out(path, arrays, metadata, num_bytes, exec);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.append(i == 0 ? first : open_samples(parts[i], extension, quiet), i == 0);
  }
  out.commit();
  return {std::ssize(parts), std::ssize(arrays)};
}

}  // namespace tendril
