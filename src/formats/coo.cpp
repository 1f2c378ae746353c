// Pairs of binary numbers, as tools write the edges of large graphs: source and target of each edge, or all sources and
// then all targets.

#include "formats/coo.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <tendril/edge_list.hpp>
#include <tendril/error.hpp>

#include "base/mapped_ranges.hpp"  // give_back_file_pages
#include "base/parallel.hpp"       // parallel_ranges
#include "formats/elements.hpp"
#include "formats/npy.hpp"
#include "formats/readers.hpp"
#include "formats/text_edges.hpp"  // vertex_limit

namespace tendril::formats {
namespace {

bool is_integer_of(dtype type, int bytes)
{
  return bytes == 4 ? type == dtype::uint32 || type == dtype::int32 : type == dtype::uint64 || type == dtype::int64;
}

}  // namespace

coo_edges::coo_edges(std::string path, std::span<std::byte const> bytes, graph_format format,
                     build_options const& build)
    : path_(std::move(path)), data_(bytes.data())
{
  auto const size = static_cast<std::int64_t>(bytes.size());
  if (size == 0) { throw format_error(fmt::format("{}: empty file, expected a graph", path_)); }
  if (format == graph_format::npy) {
    array_view const array = parse_npy(path_, "edges", bytes, nullptr);
    auto const& shape = array.shape;
    bool const is_wide = is_integer_of(array.type, 8);
    bool const has_rows = shape.size() == 2 && shape[0] == 2;
    if ((!is_wide && !is_integer_of(array.type, 4)) || shape.size() != 2 || (!has_rows && shape[1] != 2)) {
      throw format_error(fmt::format("{}: {} in shape {}, expected integers of 4 or 8 bytes in shape (2, E) or (E, 2)",
                                     path_, to_string(array.type), array.shape_text()));
    }
    data_ = array.bytes.data();
    bytes_a_number_ = is_wide ? 8 : 4;
    is_signed_ = array.type == dtype::int32 || array.type == dtype::int64;
    num_edges_ = shape[has_rows ? 1 : 0];
    if (has_rows) {
      stride_ = 1;
      apart_ = num_edges_;
    }
  } else {
    bytes_a_number_ = format == graph_format::coo32 ? 4 : 8;
    std::int64_t const edge_bytes = 2 * bytes_a_number_;
    if (size % edge_bytes != 0) {
      throw format_error(fmt::format("{}: {} bytes, expected a multiple of {}: two numbers of {} bytes an edge", path_,
                                     size, edge_bytes, bytes_a_number_));
    }
    num_edges_ = size / edge_bytes;
  }
  limit_ = vertex_limit(size, false, build);
  if (build.num_vertices >= 0) {
    hint_ = " (num_vertices is set)";
  } else if (limit_ < max_num_vertices) {
    hint_ = " (a file this small has larger ids only with compact or num_vertices set)";
  }
}

template <class T>
void coo_edges::read_ends_of(std::int64_t first, int end, std::span<vertex_id> to, cpu_exec const& exec) const
{
  std::byte const* const from = data_ + (first * stride_ + end * apart_) * std::int64_t{sizeof(T)};
  std::int64_t const step = stride_ * std::int64_t{sizeof(T)};
  auto const number = [&](std::int64_t i) {
    T value;
    std::memcpy(&value, from + i * step, sizeof(T));
    return value;
  };
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> first_bad{none};
  auto const limit = static_cast<std::uint64_t>(limit_);
  base::parallel_ranges(exec, std::ssize(to), elements_a_range, [&](std::int64_t begin, std::int64_t last) {
    for (std::int64_t i = begin; i < last; ++i) {
      auto const id = static_cast<std::uint64_t>(number(i));  // a negative one is very large
      to[static_cast<std::size_t>(i)] = static_cast<vertex_id>(id);
      if (id < limit) { continue; }
      for (std::int64_t known = first_bad; i < known && !first_bad.compare_exchange_weak(known, i);) {}
      return;
    }
  });
  if (first_bad == none) { return; }
  T const bad = number(first_bad);
  throw format_error(fmt::format("{}: edge {}: {} {}, expected an id in [0, {}]{}", path_, first + first_bad,
                                 end == 0 ? "source" : "target", bad, limit_ - 1, hint_));
}

void coo_edges::read_ends(std::int64_t first, int end, std::span<vertex_id> to, cpu_exec const& exec) const
{
  if (bytes_a_number_ == 4) {
    is_signed_ ? read_ends_of<std::int32_t>(first, end, to, exec) : read_ends_of<std::uint32_t>(first, end, to, exec);
  } else {
    is_signed_ ? read_ends_of<std::int64_t>(first, end, to, exec) : read_ends_of<std::uint64_t>(first, end, to, exec);
  }
}

void coo_edges::read(std::int64_t first, std::span<vertex_id> sources, std::span<vertex_id> targets,
                     cpu_exec const& exec) const
{
  read_ends(first, 0, sources, exec);
  read_ends(first, 1, targets, exec);
}

graph read_coo(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
               read_options const& options, cpu_exec const& exec)
{
  coo_edges const edges(path, bytes, options.format, options.build);
  edge_list read{buffer<vertex_id>(edges.num_edges(), *exec.memory),
                 buffer<vertex_id>(edges.num_edges(), *exec.memory)};
  constexpr std::int64_t most = std::int64_t{1} << 21U;  // that are read before the progress is told
  for (std::int64_t first = 0; first < edges.num_edges(); first += most) {
    if (exec.on_progress) { exec.on_progress({"reading", first, edges.num_edges()}); }
    auto const size = static_cast<std::size_t>(std::min(most, edges.num_edges() - first));
    edges.read(first, read.sources.span().subspan(static_cast<std::size_t>(first), size),
               read.targets.span().subspan(static_cast<std::size_t>(first), size), exec);
    base::give_back_file_pages(bytes.data(), bytes.data() + bytes.size());
  }
  owner.reset();  // the file is not needed while the graph is built
  return build_graph(std::move(read), options.build, exec);
}

}  // namespace tendril::formats
