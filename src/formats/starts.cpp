// Vertices to start from, out of a file or drawn, and clusters of vertices out of a file.

#include <tendril/starts.hpp>

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <tendril/cluster.hpp>  // read_clusters
#include <tendril/error.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "core/random.hpp"
#include "formats/mapped_file.hpp"
#include "formats/npy.hpp"
#include "formats/text_numbers.hpp"
#include "formats/text_stream.hpp"

namespace tendril {
namespace {

/// What the numbers of a file are, for messages.
struct number_names {
  char const* one;         // "vertex"
  char const* one_number;  // "vertex id"
  char const* many;        // "vertex ids"
  char const* each;        // "a vertex"
};

constexpr number_names vertex_names{"vertex", "vertex id", "vertex ids", "a vertex"};
constexpr number_names cluster_names{"cluster", "cluster number", "cluster numbers", "a cluster"};

buffer<vertex_id> read_npy_numbers(std::string const& path, std::shared_ptr<formats::mapped_file const> const& file,
                                   std::int64_t num_vertices, number_names const& names, cpu_exec const& exec)
{
  auto const array = formats::parse_npy(path, names.many, file->bytes(), file);
  auto const ids = formats::to_vertex_ids(path, array, exec, names.each);
  buffer<vertex_id> vertices(ids.size(), *exec.memory);
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= num_vertices) {
      throw format_error(fmt::format("{}: element {}: {} {}, expected less than {}, the vertices of the graph", path, i,
                                     names.one, ids[i], num_vertices));
    }
    vertices[i] = ids[i];
  }
  return vertices;
}

/// The id of a line, or nothing for a blank line and a comment.
std::optional<vertex_id> parse_line(std::string const& path, std::int64_t line, std::string_view text,
                                    std::int64_t num_vertices, number_names const& names)
{
  char const* at = text.data();
  char const* const end = at + text.size();
  while (at < end && formats::is_blank(*at)) { ++at; }
  if (at == end || *at == '#') { return std::nullopt; }
  char const* const begin = at;
  std::uint64_t const id = formats::parse_digits(at, end);
  char const* const after = at;
  while (at < end && formats::is_blank(*at)) { ++at; }
  if (after == begin || at != end) {
    throw format_error(fmt::format("{}:{}: {}, expected one {}", path, line,
                                   formats::quoted({begin, static_cast<std::size_t>(end - begin)}), names.one_number));
  }
  if (id >= static_cast<std::uint64_t>(num_vertices)) {
    throw format_error(fmt::format("{}:{}: {} {}, expected less than {}, the vertices of the graph", path, line,
                                   names.one, std::string_view(begin, static_cast<std::size_t>(after - begin)),
                                   num_vertices));
  }
  return static_cast<vertex_id>(id);
}

buffer<vertex_id> read_text_numbers(std::string const& path, formats::mapped_file const& file,
                                    std::int64_t num_vertices, number_names const& names, cpu_exec const& exec)
{
  formats::text_stream stream(path, file.bytes(), exec);
  std::vector<vertex_id> ids;
  while (auto const line = stream.peek_line()) {
    if (auto const id = parse_line(path, stream.line_number() + 1, *line, num_vertices, names)) { ids.push_back(*id); }
    stream.consume_line();
  }
  buffer<vertex_id> vertices(static_cast<std::int64_t>(ids.size()), *exec.memory);
  std::copy(ids.begin(), ids.end(), vertices.begin());
  return vertices;
}

/// Numbers below `num_vertices`, one or more.
buffer<vertex_id> read_numbers(std::string const& path, std::int64_t num_vertices, number_names const& names,
                               cpu_exec const& exec)
{
  auto const file = formats::mapped_file::open(path);
  if (file->bytes().empty()) { throw format_error(fmt::format("{}: empty file, expected {}", path, names.many)); }
  auto numbers = path.ends_with(".npy") ? read_npy_numbers(path, file, num_vertices, names, exec)
                                        : read_text_numbers(path, *file, num_vertices, names, exec);
  if (numbers.empty()) { throw format_error(fmt::format("{}: no {}, expected at least one", path, names.many)); }
  return numbers;
}

/// Vertex i of the sequence that a seed draws.
class vertex_sequence {
 public:
  vertex_sequence(std::int64_t num_vertices, std::uint64_t seed)
      : key_(core::make_key(seed, core::domain::start_vertices)), size_(static_cast<std::uint32_t>(num_vertices))
  {
  }

  vertex_id operator[](std::int64_t i) const
  {
    return core::bounded(core::draw_block(key_, static_cast<std::uint64_t>(i), 0, 0).low(), size_);
  }

 private:
  rng_key key_;
  std::uint32_t size_;
};

/// A source whose walk i has the `set_size` starts that put(i / walks_each, out) writes.
template <class Put>
start_source repeated(std::int64_t walks_each, std::int64_t set_size, Put put)
{
  TENDRIL_EXPECTS(walks_each >= 1, "walks_each: {}, expected 1 or more", walks_each);
  return [walks_each, set_size, put](std::int64_t first, std::span<vertex_id> out) {
    // A division a walk would take longer than a GPU takes for the walk.
    std::int64_t set = first / walks_each;
    std::int64_t left = walks_each - first % walks_each;
    auto const count = static_cast<std::int64_t>(out.size());
    for (std::int64_t i = 0; i < count; i += set_size) {
      put(set, out.data() + i);
      if (--left == 0) {
        ++set;
        left = walks_each;
      }
    }
  };
}

}  // namespace

buffer<vertex_id> read_vertices(std::string const& path, std::int64_t num_vertices, cpu_exec const& exec)
{
  return read_numbers(path, num_vertices, vertex_names, exec);
}

buffer<vertex_id> read_clusters(std::string const& path, std::int64_t num_vertices, cpu_exec const& exec)
{
  return read_numbers(path, num_vertices, cluster_names, exec);
}

buffer<vertex_id> random_vertices(std::int64_t num_vertices, std::int64_t count, std::uint64_t seed,
                                  cpu_exec const& exec)
{
  TENDRIL_EXPECTS(count >= 0, "random_vertices: count is {}, expected 0 or more", count);
  TENDRIL_EXPECTS(count == 0 || num_vertices > 0, "random_vertices: the graph has no vertices to draw {} from", count);
  vertex_sequence const sequence(num_vertices, seed);
  buffer<vertex_id> vertices(count, *exec.memory);
  base::parallel_ranges(exec, count, std::int64_t{1} << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) { vertices[i] = sequence[i]; }
  });
  return vertices;
}

buffer<vertex_id> random_distinct_vertices(std::int64_t num_vertices, std::int64_t count, std::uint64_t seed,
                                           cpu_exec const& exec)
{
  TENDRIL_EXPECTS(count >= 0 && count <= num_vertices,
                  "random_distinct_vertices: {} different vertices of {}, expected 0 to {}", count, num_vertices,
                  num_vertices);
  vertex_sequence const sequence(num_vertices, seed);
  buffer<vertex_id> vertices(count, *exec.memory);
  std::vector<bool> taken(static_cast<std::size_t>(num_vertices));
  for (std::int64_t i = 0, filled = 0; filled < count; ++i) {
    vertex_id const v = sequence[i];
    if (!taken[v]) {
      taken[v] = true;
      vertices[filled++] = v;
    }
  }
  return vertices;
}

start_source starts_from(std::span<vertex_id const> starts, std::int64_t walks_each, std::int64_t set_size)
{
  TENDRIL_EXPECTS(set_size >= 1, "set_size: {}, expected 1 or more", set_size);
  auto const num_sets = static_cast<std::int64_t>(starts.size()) / set_size;
  return repeated(walks_each, set_size, [starts, num_sets, set_size](std::int64_t set, vertex_id* out) {
    TENDRIL_EXPECTS(set < num_sets, "starts: {} of them, expected more than {}", num_sets, set);
    std::copy_n(starts.data() + set * set_size, set_size, out);
  });
}

start_source every_vertex(std::int64_t walks_each)
{
  return repeated(walks_each, 1, [](std::int64_t v, vertex_id* out) { *out = static_cast<vertex_id>(v); });
}

}  // namespace tendril
