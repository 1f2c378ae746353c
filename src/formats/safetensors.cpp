// The safetensors container: 8 bytes of length, that much JSON, then the tensors' bytes.
// Format: https://huggingface.co/docs/safetensors, "Format".

#include "formats/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tendril/error.hpp>
#include <tendril/file.hpp>  // atomic_file

#include "base/expects.hpp"
#include "formats/text_numbers.hpp"  // quoted

namespace tendril::formats {
namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::size_t data_alignment = 64;
constexpr std::uint64_t max_header_bytes = 100'000'000;  // the format's own limit

constexpr std::array<std::pair<std::string_view, dtype>, 13> type_names{{{"BOOL", dtype::boolean},
                                                                         {"U8", dtype::uint8},
                                                                         {"I8", dtype::int8},
                                                                         {"U16", dtype::uint16},
                                                                         {"I16", dtype::int16},
                                                                         {"U32", dtype::uint32},
                                                                         {"I32", dtype::int32},
                                                                         {"U64", dtype::uint64},
                                                                         {"I64", dtype::int64},
                                                                         {"F16", dtype::float16},
                                                                         {"BF16", dtype::bfloat16},
                                                                         {"F32", dtype::float32},
                                                                         {"F64", dtype::float64}}};

/// Takes the header's JSON event by event: whatever is not of the one shape that a header has ends the parse, so that
/// memory is bounded by what a header means, not by what JSON can nest. `fail_` holds the reason.
class header_handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit header_handler(safetensors_contents& contents) : contents_(contents) {}

  [[nodiscard]] std::string const& reason() const noexcept { return reason_; }

  bool null() override { return fail("null"); }
  bool boolean(bool /*value*/) override { return fail("a boolean"); }
  bool number_float(double /*value*/, std::string const& /*text*/) override
  {
    return fail("a fraction or huge number");
  }
  bool binary(binary_t& /*value*/) override { return fail("binary data"); }

  bool number_integer(number_integer_t /*value*/) override { return fail("a negative number"); }

  bool number_unsigned(number_unsigned_t value) override
  {
    if (list_ == nullptr) { return fail("a number"); }
    if (value > std::uint64_t{1} << 62U) { return fail("a number above 2^62"); }
    list_->push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool string(string_t& value) override
  {
    if (depth_ != 2 || list_ != nullptr) { return fail("a string"); }
    if (in_metadata_) {
      contents_.metadata[key_] = std::move(value);
      return true;
    }
    if (key_ != "dtype") { return fail("a string"); }
    auto const* const found =
        std::find_if(type_names.begin(), type_names.end(), [&](auto const& entry) { return entry.first == value; });
    entry_.type = found == type_names.end() ? dtype::other : found->second;
    has_type_ = true;
    return true;
  }

  bool start_object(std::size_t /*size*/) override
  {
    if (depth_ == 2 || list_ != nullptr) { return fail("an object"); }
    if (++depth_ == 2) {
      in_metadata_ = key_ == "__metadata__";
      entry_ = {};
      entry_.name = key_;
      offsets_.clear();
      has_type_ = has_shape_ = has_offsets_ = false;
    }
    return true;
  }

  bool key(string_t& value) override
  {
    key_ = std::move(value);
    return true;
  }

  bool end_object() override
  {
    if (--depth_ != 1 || in_metadata_) { return true; }
    if (!has_type_ || !has_shape_ || !has_offsets_ || offsets_.size() != 2) {
      reason_ = fmt::format("tensor {} lacks its dtype, shape or data_offsets [begin, end]", quoted(entry_.name));
      return false;
    }
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    std::string const name = entry_.name;
    if (!contents_.tensors.try_emplace(name, std::move(entry_)).second) {
      reason_ = fmt::format("tensor {} is there twice", quoted(name));
      return false;
    }
    contents_.names.push_back(name);
    return true;
  }

  bool start_array(std::size_t /*size*/) override
  {
    if (depth_ != 2 || in_metadata_ || list_ != nullptr) { return fail("a list"); }
    if (key_ == "shape") {
      list_ = &entry_.shape;
      has_shape_ = true;
    } else if (key_ == "data_offsets") {
      list_ = &offsets_;
      has_offsets_ = true;
    } else {
      return fail("a list");
    }
    list_->clear();
    return true;
  }

  bool end_array() override
  {
    list_ = nullptr;
    return true;
  }

  bool parse_error(std::size_t position, std::string const& /*token*/,
                   nlohmann::detail::exception const& /*e*/) override
  {
    reason_ = fmt::format("not JSON at byte {}", length_bytes + position);
    return false;
  }

 private:
  bool fail(char const* what)
  {
    reason_ = fmt::format("{} at {}", what, quoted(key_));
    return false;
  }

  safetensors_contents& contents_;
  std::string reason_, key_;
  tensor_entry entry_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t>* list_ = nullptr;
  int depth_ = 0;
  bool in_metadata_ = false, has_type_ = false, has_shape_ = false, has_offsets_ = false;
};

/// Turns offsets into the data into offsets into the file, and checks them against the file and each other.
void place_tensors(std::string const& path, std::int64_t data_begin, std::int64_t file_size,
                   safetensors_contents& contents)
{
  std::vector<tensor_entry const*> order;
  for (auto& [name, tensor] : contents.tensors) {
    std::int64_t const data_size = file_size - data_begin;
    if (tensor.begin > tensor.end || tensor.end > data_size) {
      throw format_error(fmt::format("{}: tensor {}: data_offsets [{}, {}], expected both in [0, {}] and ascending",
                                     path, quoted(name), tensor.begin, tensor.end, data_size));
    }
    std::int64_t const count = count_elements(tensor.shape, tensor.type);
    std::int64_t const size = tensor.end - tensor.begin;
    if (tensor.type != dtype::other && (count < 0 || count * size_of(tensor.type) != size)) {
      array_view const shown{name, tensor.type, tensor.shape, {}, nullptr};
      throw format_error(fmt::format("{}: tensor {}: {} bytes of data, expected {} elements of {} bytes in shape {}",
                                     path, quoted(name), size, count < 0 ? "countless" : std::to_string(count),
                                     size_of(tensor.type), shown.shape_text()));
    }
    tensor.begin += data_begin;
    tensor.end += data_begin;
    if (size > 0) { order.push_back(&tensor); }
  }
  std::sort(order.begin(), order.end(), [](auto const* a, auto const* b) { return a->begin < b->begin; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i]->begin < order[i - 1]->end) {
      throw format_error(fmt::format("{}: tensors {} and {} overlap, expected each in bytes of its own", path,
                                     quoted(order[i - 1]->name), quoted(order[i]->name)));
    }
  }
}

}  // namespace

safetensors_contents parse_safetensors(std::string const& path, std::span<std::byte const> bytes)
{
  static_assert(std::endian::native == std::endian::little);
  if (bytes.size() < length_bytes) {
    throw format_error(fmt::format("{}: {} bytes, expected a safetensors header of 8 and more", path, bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  std::uint64_t const most = std::min<std::uint64_t>(bytes.size() - length_bytes, max_header_bytes);
  if (length > most) {
    throw format_error(fmt::format("{}: header of {} bytes, expected at most {}", path, length, most));
  }

  safetensors_contents contents;
  header_handler handler(contents);
  auto const* const text = reinterpret_cast<char const*>(bytes.data()) + length_bytes;
  bool const parsed = nlohmann::json::sax_parse(text, text + length, &handler);
  if (!parsed) {
    throw format_error(
        fmt::format("{}: header: {}, expected {{\"name\": {{\"dtype\", \"shape\", \"data_offsets\"}}, …}}", path,
                    handler.reason()));
  }
  place_tensors(path, static_cast<std::int64_t>(length_bytes + length), static_cast<std::int64_t>(bytes.size()),
                contents);
  return contents;
}

std::string safetensors_header(std::span<tensor_spec const> tensors, std::map<std::string, std::string> const& metadata,
                               std::size_t least_size)
{
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) { header["__metadata__"] = metadata; }
  std::int64_t offset = 0;
  for (auto const& tensor : tensors) {
    std::int64_t const count = count_elements(tensor.shape, tensor.type);
    auto const* const type = std::find_if(type_names.begin(), type_names.end(),
                                          [&](auto const& entry) { return entry.second == tensor.type; });
    TENDRIL_EXPECTS(count >= 0, "tensor '{}': its shape is negative or too large", tensor.name);
    TENDRIL_EXPECTS(type != type_names.end(), "tensor '{}': no such type in safetensors files", tensor.name);
    std::int64_t const end = offset + count * size_of(tensor.type);
    header[tensor.name] = {{"dtype", type->first}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  using handler = nlohmann::ordered_json::error_handler_t;
  std::string json = header.dump(-1, ' ', false, handler::replace);  // bytes that are not UTF-8 become U+FFFD
  std::size_t const padded = (length_bytes + json.size() + data_alignment - 1) / data_alignment * data_alignment;
  json.resize(std::max(padded, least_size) - length_bytes, ' ');
  std::uint64_t const length = json.size();
  std::string result(length_bytes, '\0');
  std::memcpy(result.data(), &length, length_bytes);
  return result + json;
}

void write_tensors(std::string const& path, std::vector<tensor_data> tensors,
                   std::map<std::string, std::string> const& metadata, cpu_exec const& exec)
{
  // Nothing may lie between tensors.
  std::ranges::stable_sort(tensors, std::greater(), &tensor_data::alignment);
  std::vector<tensor_spec> specs;
  std::ranges::transform(tensors, std::back_inserter(specs), &tensor_data::spec);
  std::string const header = safetensors_header(specs, metadata);
  auto const num_bytes = [](tensor_data const& t) {
    return count_elements(t.spec.shape, t.spec.type) * size_of(t.spec.type);
  };
  auto total = static_cast<std::int64_t>(header.size());
  for (auto const& tensor : tensors) { total += num_bytes(tensor); }

  atomic_file file(path);
  file.expect_size(total);
  file.write(header.data(), header.size());
  constexpr std::int64_t piece = std::int64_t{64} << 20;  // between two calls of on_progress
  for (auto const& tensor : tensors) {
    std::int64_t const size = num_bytes(tensor);
    for (std::int64_t at = 0; at < size; at += piece) {
      if (exec.on_progress) { exec.on_progress({"writing", file.size(), total}); }
      file.write(static_cast<std::byte const*>(tensor.data) + at, static_cast<std::size_t>(std::min(piece, size - at)));
    }
  }
  file.commit();
}

}  // namespace tendril::formats
