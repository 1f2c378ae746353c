// Files of arrays that are written in pieces: every array has its place from the start, pieces fill it.

#include <tendril/array_file.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/file.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // num_threads
#include "base/stages.hpp"
#include "formats/npy.hpp"  // npy_header
#include "formats/safetensors.hpp"
#include "formats/zip.hpp"

namespace tendril {
namespace {

enum class container { npy, npz, safetensors };

container container_of(std::string_view path)
{
  if (path.ends_with(".npy")) { return container::npy; }
  if (path.ends_with(".npz")) { return container::npz; }
  TENDRIL_EXPECTS(path.ends_with(".safetensors"), "{}: unknown extension, expected .npy, .npz or .safetensors", path);
  return container::safetensors;
}

constexpr std::int64_t most_elements = std::int64_t{1} << 59;  // of an array that grows: its bytes can still be counted

formats::dtype stored_type(element_type type)
{
  switch (type) {
    case element_type::int32: return formats::dtype::int32;
    case element_type::int64: return formats::dtype::int64;
    default: return formats::dtype::float32;
  }
}

}  // namespace

std::string_view to_string(element_type type) noexcept { return formats::to_string(stored_type(type)); }

element_type parse_element_type(std::string_view name)
{
  if (name == "int32") { return element_type::int32; }
  TENDRIL_EXPECTS(name == "int64", "unknown type '{}', expected int32 or int64", name);
  return element_type::int64;
}

struct array_writer::state {
  /// An array's place in the file.
  struct slot {
    array_spec spec;
    std::int64_t num_elements = 0, appended = 0;
    bool is_growing = false;  ///< Then num_elements is as many as there can be.
    std::int64_t bytes_each = 0;
    std::int64_t begin = 0;   ///< Of its first element in the file, or in the member of a .npz.
    std::int64_t offset = 0;  ///< Where the next element goes.
    std::size_t member = 0;   ///< Of a .npz.
  };

  /// @param begun  As `unfinished` of a file that several processes write; nothing: this one writes it alone.
  state(std::string const& path, std::vector<array_spec> arrays, std::map<std::string, std::string> const& more,
        std::optional<std::string> const& begun)
      : kind(container_of(path)),
        name(path),
        metadata(more),
        is_shared(begun.has_value()),
        has_joined(is_shared && !begun->empty()),
        file_memory(has_joined ? std::make_unique<atomic_file>(path, *begun) : std::make_unique<atomic_file>(path)),
        file(*file_memory)
  {
    TENDRIL_EXPECTS(kind != container::npy || arrays.size() == 1, "{}: {} arrays, expected 1, or .npz or .safetensors",
                    path, arrays.size());
    if (kind == container::npz) { zip.emplace(file, has_joined); }
    for (auto& spec : arrays) {
      formats::dtype const type = stored_type(spec.type);
      slot place;
      place.is_growing = spec.shape == std::vector{grows};
      if (place.is_growing) {
        expect_growing_fits();
        spec.shape = {most_elements};
      }
      place.num_elements = formats::count_elements(spec.shape, type);
      TENDRIL_EXPECTS(place.num_elements >= 0, "{}: array '{}': its shape is negative or too large", path, spec.name);
      place.bytes_each = formats::size_of(type);
      place.spec = std::move(spec);
      slots.push_back(std::move(place));
    }
    if (kind == container::safetensors) {
      lay_out_safetensors();
    } else {
      lay_out_npy();
    }
  }

  void expect_growing_fits() const
  {
    TENDRIL_EXPECTS(kind == container::safetensors, "{}: an array whose size is not known, expected .safetensors",
                    name);
    bool const has_one = std::any_of(slots.begin(), slots.end(), [](slot const& place) { return place.is_growing; });
    TENDRIL_EXPECTS(!has_one, "{}: two arrays whose size is not known, expected one", name);
  }

  /// Only who begins a file writes its header.
  void write_header(std::string const& header)
  {
    if (has_joined) {
      file.skip(static_cast<std::int64_t>(header.size()));
    } else {
      file.write(header.data(), header.size());
    }
  }

  void lay_out_npy()
  {
    for (auto& place : slots) {
      std::string const header = formats::npy_header(stored_type(place.spec.type), place.spec.shape);
      std::int64_t const bytes = checked_product("bytes of an array", place.num_elements, place.bytes_each);
      if (zip) {
        place.member = zip->reserve(place.spec.name + ".npy", header.size() + static_cast<std::uint64_t>(bytes));
        place.begin = static_cast<std::int64_t>(header.size());
        if (has_joined) {
          zip->seek(place.member, header.size());
        } else {
          zip->fill(place.member, header.data(), header.size());
        }
      } else {
        write_header(header);
        place.begin = place.offset = file.size();
        file.skip(bytes);
      }
    }
  }

  /// The arrays of a safetensors file in their order: wide elements first, so that every array is aligned to its elements;
  /// but an array that grows is the last.
  [[nodiscard]] std::vector<slot*> safetensors_order()
  {
    std::vector<slot*> order;
    for (auto& place : slots) { order.push_back(&place); }
    std::stable_sort(order.begin(), order.end(), [](slot const* a, slot const* b) {
      return a->is_growing != b->is_growing ? b->is_growing : a->bytes_each > b->bytes_each;
    });
    return order;
  }

  /// @param least_size  Of the header, in bytes.
  [[nodiscard]] std::string header_of(std::vector<slot*> const& order, std::size_t least_size) const
  {
    std::vector<formats::tensor_spec> tensors;
    tensors.reserve(order.size());
    for (auto const* const place : order) {
      tensors.push_back({place->spec.name, stored_type(place->spec.type), place->spec.shape});
    }
    return formats::safetensors_header(tensors, metadata, least_size);
  }

  void lay_out_safetensors()
  {
    auto const order = safetensors_order();
    std::string const header = header_of(order, 0);
    write_header(header);
    header_size = header.size();
    for (auto* const place : order) {
      place->begin = place->offset = file.size();
      if (!place->is_growing) {
        file.skip(checked_product("bytes of an array", place->num_elements, place->bytes_each));
      }
    }
  }

  /// Writes the header again with the size that a growing array has now. The header keeps its own size: the first one had
  /// the longest numbers.
  void settle_growing()
  {
    for (auto& place : slots) {
      if (!place.is_growing) { continue; }
      TENDRIL_EXPECTS(!is_shared || place.num_elements < most_elements,
                      "{}: array '{}': several processes write it, expected set_size", name, place.spec.name);
      if (has_joined) { return; }  // it is the only one
      if (!is_shared) { place.num_elements = place.appended; }
      place.spec.shape = {place.num_elements};
      std::string const header = header_of(safetensors_order(), header_size);
      file.write_at(0, header.data(), header.size());
    }
  }

  /// Takes note of `count` more elements of array `which`, which holds floats or integers. @return their place.
  slot& advance(std::size_t which, std::int64_t count, bool floats = false)
  {
    TENDRIL_EXPECTS(which < slots.size(), "{}: array {}, expected less than {}", name, which, slots.size());
    slot& place = slots[which];
    TENDRIL_EXPECTS(floats == (place.spec.type == element_type::float32), "{}: array '{}': {}, expected {}", name,
                    place.spec.name, floats ? "floats" : "integers", to_string(place.spec.type));
    TENDRIL_EXPECTS(count <= place.num_elements - place.appended, "{}: array '{}': more than {} elements", name,
                    place.spec.name, place.num_elements);
    place.appended += count;
    return place;
  }

  void fill(slot& place, void const* elements, std::int64_t count)
  {
    auto const bytes = static_cast<std::size_t>(count * place.bytes_each);
    if (zip) {
      zip->fill(place.member, elements, bytes);
    } else {
      file.write_at(place.offset, elements, bytes);
      place.offset += count * place.bytes_each;
    }
  }

  /// Appends elements of another width, converted by `convert`, piece by piece. One core converts faster than files take
  /// what it makes, so a second thread, which converts while this file is written, hides all of the conversion.
  template <class Out, class In, class Convert>
  void fill_converted(slot& place, std::span<In const> elements, Convert convert, cpu_exec const& exec)
  {
    auto const size = static_cast<std::int64_t>(elements.size());
    constexpr std::int64_t piece = std::int64_t{1} << 18;
    constexpr std::int64_t depth = 3;  // one converted, one written, one between them
    std::int64_t const num_pieces = (size + piece - 1) / piece;
    buffer<Out> converted(std::min(checked_product("elements of pieces", depth, piece), size));
    auto const count = [&](std::int64_t p) { return std::min(piece, size - p * piece); };
    auto const at = [&](std::int64_t p) { return converted.data() + p % depth * piece; };
    std::array<base::stage, 2> const stages{[&](std::int64_t p) {
                                              In const* const in = elements.data() + p * piece;
                                              std::transform(in, in + count(p), at(p), convert);
                                            },
                                            [&](std::int64_t p) { fill(place, at(p), count(p)); }};
    if (num_pieces > 1 && base::num_threads(exec) > 1) {
      (void)base::run_stages(num_pieces, depth, stages, {});
    } else {
      for (std::int64_t p = 0; p < num_pieces; ++p) {
        for (auto const& do_stage : stages) { do_stage(p); }
      }
    }
  }

  container kind;
  std::string name;
  std::map<std::string, std::string> metadata;
  bool is_shared, has_joined;
  std::size_t header_size = 0;  ///< Of a .safetensors.
  std::unique_ptr<atomic_file> file_memory;
  atomic_file& file;
  std::optional<formats::zip_writer> zip;
  std::vector<slot> slots;
};

array_writer::array_writer(std::string const& path, std::vector<array_spec> arrays,
                           std::map<std::string, std::string> const& metadata)
    : state_(std::make_unique<state>(path, std::move(arrays), metadata, std::nullopt))
{
}

array_writer::array_writer(std::string const& path, std::vector<array_spec> arrays,
                           std::map<std::string, std::string> const& metadata, std::string const& unfinished)
    : state_(std::make_unique<state>(path, std::move(arrays), metadata, unfinished))
{
}

array_writer::~array_writer() = default;
array_writer::array_writer(array_writer&&) noexcept = default;
array_writer& array_writer::operator=(array_writer&&) noexcept = default;

void array_writer::append(std::size_t which, std::span<vertex_id const> elements, cpu_exec const& exec)
{
  auto& place = state_->advance(which, static_cast<std::int64_t>(elements.size()));
  if (place.spec.type == element_type::int32) {
    // The same bits: no_vertex is -1.
    state_->fill(place, elements.data(), static_cast<std::int64_t>(elements.size()));
  } else {
    state_->fill_converted<std::int64_t>(
        place, elements, [](vertex_id v) { return v == no_vertex ? std::int64_t{-1} : std::int64_t{v}; }, exec);
  }
}

void array_writer::append(std::size_t which, std::span<std::int32_t const> elements)
{
  auto& place = state_->advance(which, static_cast<std::int64_t>(elements.size()));
  if (place.spec.type == element_type::int32) {
    state_->fill(place, elements.data(), static_cast<std::int64_t>(elements.size()));
  } else {
    state_->fill_converted<std::int64_t>(place, elements, [](std::int32_t x) { return std::int64_t{x}; }, {});
  }
}

void array_writer::append(std::size_t which, std::span<std::int64_t const> elements)
{
  auto& place = state_->advance(which, static_cast<std::int64_t>(elements.size()));
  TENDRIL_EXPECTS(place.spec.type == element_type::int64, "{}: array '{}': int64 elements, expected int32",
                  state_->name, place.spec.name);
  state_->fill(place, elements.data(), static_cast<std::int64_t>(elements.size()));
}

void array_writer::append(std::size_t which, std::span<float const> elements)
{
  auto const count = static_cast<std::int64_t>(elements.size());
  state_->fill(state_->advance(which, count, true), elements.data(), count);
}

void array_writer::set_size(std::size_t which, std::int64_t elements)
{
  auto& place = state_->slots.at(which);
  TENDRIL_EXPECTS(state_->is_shared && place.is_growing && place.num_elements == most_elements && place.appended == 0,
                  "{}: array '{}': its size is known, or told by what is appended", state_->name, place.spec.name);
  TENDRIL_EXPECTS(elements >= 0 && elements < most_elements, "{}: array '{}': {} elements, expected 0 to 2^59 - 1",
                  state_->name, place.spec.name, elements);
  place.num_elements = elements;
  state_->file.skip(checked_product("bytes of an array", elements, place.bytes_each));  // it is the last one
}

void array_writer::seek(std::size_t which, std::int64_t element)
{
  TENDRIL_EXPECTS(state_->is_shared, "{}: written by one process, expected it to be shared", state_->name);
  auto& place = state_->slots.at(which);
  TENDRIL_EXPECTS(element >= 0 && element <= place.num_elements, "{}: array '{}': element {}, expected one of {}",
                  state_->name, place.spec.name, element, place.num_elements);
  place.appended = element;
  place.offset = place.begin + element * place.bytes_each;
  if (state_->zip) { state_->zip->seek(place.member, static_cast<std::uint64_t>(place.offset)); }
}

std::string array_writer::written() const { return state_->zip ? state_->zip->filled() : std::string(); }

void array_writer::add_written(std::string_view by_another)
{
  if (state_->zip) { state_->zip->add_filled(by_another); }
}

std::string const& array_writer::unfinished_name() const noexcept { return state_->file.unfinished_name(); }

void array_writer::commit()
{
  state_->settle_growing();
  for (auto const& place : state_->slots) {
    if (state_->is_shared) { break; }
    TENDRIL_EXPECTS(place.appended == place.num_elements, "{}: array '{}': {} elements, expected {}", state_->name,
                    place.spec.name, place.appended, place.num_elements);
  }
  if (state_->zip && !state_->has_joined) {
    for (auto const& place : state_->slots) { state_->zip->complete(place.member); }
    state_->zip->finish();
  }
  state_->file.commit();
}

}  // namespace tendril
