// WebGraph BV graphs: where the lists are, then the lists, in parallel. One list: formats/webgraph_lists.cpp.
//
// A list may refer to an earlier one, which may refer further back, without a limit. So each thread decodes a range
// of vertices into their final place and leaves out those whose chain of references leads out of the range; these
// are decoded afterwards, in order, when all that they can refer to is there. In real graphs they are few.

#include "formats/webgraph.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/parallel.hpp"  // parallel_ranges, num_threads
#include "formats/mapped_file.hpp"
#include "formats/readers.hpp"
#include "formats/webgraph_lists.hpp"

namespace tendril::formats {
namespace {

/// A copied list costs a few bits whatever its length, so that a file of some kilobytes could unfold to terabytes.
/// Real graphs take 0.1 bits an arc and more; 32 arcs a bit is also about what a deflated file can unfold to.
constexpr std::int64_t max_arcs_per_bit = 32;
constexpr std::int64_t always_plausible_arcs = std::int64_t{1} << 26;

[[noreturn]] void fail_at(std::string const& path, std::int64_t vertex, char const* what)
{
  throw format_error(fmt::format("{}: node {}: {}", path, vertex, what));
}

[[noreturn]] void fail_arcs(std::string const& path, std::string const& properties_path, std::int64_t expected,
                            std::int64_t found, char const* more)
{
  throw format_error(
      fmt::format("{}: {}{} arcs, expected {} as {} says", path, found, more, expected, properties_path));
}

/// Where each list begins, in bits, and where the last one ends; with it, the outdegrees.
struct list_index {
  buffer<std::uint64_t> positions;  // [V + 1]
  buffer<edge_id> indptr;           // [V + 1]
};

class decoder {
 public:
  decoder(webgraph_files const& files, cpu_exec const& exec)
      : files_(files),
        exec_(exec),
        properties_path_(webgraph_sibling(files.path, ".properties")),
        properties_(parse_webgraph_properties(properties_path_, files.properties)),
        num_vertices_(properties_.num_vertices)
  {
    expect_plausible_counts(files, properties_path_, properties_);
    index_ = {buffer<std::uint64_t>(num_vertices_ + 1, *exec.memory), buffer<edge_id>(num_vertices_ + 1, *exec.memory)};
  }

  graph decode()
  {
    index_.indptr[0] = 0;
    if (files_.offsets) {
      read_offsets();
      read_outdegrees();
    } else {
      find_lists();
    }
    buffer<vertex_id> indices(properties_.num_arcs, *exec_.memory);
    write_lists(indices.data());
    graph_arrays arrays;
    arrays.indptr = std::move(index_.indptr);
    arrays.indices = std::move(indices);
    return graph(std::move(arrays));
  }

 private:
  [[noreturn]] void fail_arcs(std::int64_t found, char const* more) const
  {
    tendril::formats::fail_arcs(files_.path, properties_path_, properties_.num_arcs, found, more);
  }

  void read_offsets()
  {
    std::string const path = webgraph_sibling(files_.path, ".offsets");
    bit_reader bits(*files_.offsets);
    std::uint64_t const end = std::uint64_t{files_.graph.size()} * 8;
    std::uint64_t position = 0;
    for (std::int64_t x = 0; x <= num_vertices_; ++x) {
      try {
        position += bits.read(properties_.offsets);
      } catch (bitstream_error const& error) {
        fail_at(path, x, error.what());
      }
      if (position > end) {
        throw format_error(fmt::format("{}: node {}: offset {}, expected at most {}, the bits of the .graph file", path,
                                       x, position, end));
      }
      index_.positions[x] = position;
    }
  }

  void read_outdegrees()
  {
    constexpr std::int64_t grain = 1 << 16;
    base::parallel_ranges(exec_, num_vertices_, grain, [&](std::int64_t begin, std::int64_t end) {
      webgraph_lists lists(properties_, files_.graph);
      for (std::int64_t x = begin; x < end; ++x) {
        lists.bits().seek(index_.positions[x]);
        try {
          index_.indptr[x + 1] = lists.read_outdegree();
        } catch (bitstream_error const& error) {
          fail_at(files_.path, x, error.what());
        }
      }
    });
    for (std::int64_t x = 0; x < num_vertices_; ++x) { add_outdegree(x, index_.indptr[x + 1]); }
    if (index_.indptr[num_vertices_] != properties_.num_arcs) { fail_arcs(index_.indptr[num_vertices_], ""); }
  }

  void add_outdegree(std::int64_t x, std::int64_t degree)
  {
    index_.indptr[x + 1] = index_.indptr[x] + degree;
    if (index_.indptr[x + 1] > properties_.num_arcs) { fail_arcs(index_.indptr[x + 1], " or more"); }
  }

  void find_lists()
  {
    webgraph_lists lists(properties_, files_.graph);
    for (std::int64_t x = 0; x < num_vertices_; ++x) {
      index_.positions[x] = lists.bits().position();
      try {
        lists.read_head(x, index_.indptr.data() + x);
        lists.skip_residuals(x);
      } catch (bitstream_error const& error) {
        fail_at(files_.path, x, error.what());
      }
      add_outdegree(x, lists.outdegree());
    }
    index_.positions[num_vertices_] = lists.bits().position();
    if (index_.indptr[num_vertices_] != properties_.num_arcs) { fail_arcs(index_.indptr[num_vertices_], ""); }
  }

  /// Reads the head of list x; its residuals come next.
  void start_list(webgraph_lists& lists, std::int64_t x) const
  {
    lists.bits().seek(index_.positions[x]);
    lists.read_head(x, index_.indptr.data() + x);
  }

  void finish_list(webgraph_lists& lists, std::int64_t x, vertex_id* indices) const
  {
    lists.write_list(x, index_.indptr.data() + x, indices);
    if (lists.bits().position() != index_.positions[x + 1]) {
      throw bitstream_error(fmt::format("the list ends at bit {}, expected {} as .offsets says",
                                        lists.bits().position(), index_.positions[x + 1]));
    }
  }

  /// Decodes the lists of [begin, end) that depend on no list before `begin`; returns the others.
  std::vector<std::int64_t> write_range(std::int64_t begin, std::int64_t end, vertex_id* indices) const
  {
    std::vector<std::int64_t> left_out;
    std::vector<bool> is_left_out(static_cast<std::size_t>(end - begin));
    webgraph_lists lists(properties_, files_.graph);
    for (std::int64_t x = begin; x < end; ++x) {
      try {
        start_list(lists, x);
        std::int64_t const from = x - lists.reference();
        if (from < begin || is_left_out[static_cast<std::size_t>(from - begin)]) {
          is_left_out[static_cast<std::size_t>(x - begin)] = true;
          left_out.push_back(x);
          continue;
        }
        finish_list(lists, x, indices);
      } catch (bitstream_error const& error) {
        fail_at(files_.path, x, error.what());
      }
    }
    return left_out;
  }

  void write_lists(vertex_id* indices) const
  {
    constexpr std::int64_t ranges_per_thread = 4;
    constexpr std::int64_t smallest_range = 1024;
    std::int64_t const num_ranges = base::num_threads(exec_) == 1 ? 1 : base::num_threads(exec_) * ranges_per_thread;
    std::int64_t const grain = std::max(smallest_range, (num_vertices_ + num_ranges - 1) / num_ranges);
    std::vector<std::vector<std::int64_t>> left_out(static_cast<std::size_t>(num_vertices_ / grain + 1));
    base::parallel_ranges(exec_, num_vertices_, grain, [&](std::int64_t begin, std::int64_t end) {
      left_out[static_cast<std::size_t>(begin / grain)] = write_range(begin, end, indices);
    });

    webgraph_lists lists(properties_, files_.graph);
    for (auto const& range : left_out) {
      for (std::int64_t const x : range) {
        try {
          start_list(lists, x);
          finish_list(lists, x, indices);
        } catch (bitstream_error const& error) {
          fail_at(files_.path, x, error.what());
        }
      }
    }
  }

  webgraph_files const& files_;
  cpu_exec const& exec_;
  std::string properties_path_;
  webgraph_properties properties_;
  std::int64_t num_vertices_;
  list_index index_;
};

}  // namespace

std::string webgraph_sibling(std::string const& path, char const* extension)
{
  return std::filesystem::path(path).replace_extension(extension).string();
}

// Every list takes a bit at least, so the file's size bounds what its counts can ask for.
void expect_plausible_counts(webgraph_files const& files, std::string const& properties_path,
                             webgraph_properties const& properties)
{
  auto const bits = static_cast<std::int64_t>(files.graph.size()) * 8;
  if (properties.num_vertices > bits) {
    throw format_error(fmt::format("{}: nodes={}, expected at most {}, the bits of the .graph file", properties_path,
                                   properties.num_vertices, bits));
  }
  std::int64_t const most = std::max(always_plausible_arcs, bits * max_arcs_per_bit);
  if (properties.num_arcs > most) {
    throw format_error(fmt::format("{}: arcs={}, expected at most {} from a .graph file of {} bytes", properties_path,
                                   properties.num_arcs, most, files.graph.size()));
  }
}

webgraph_scanner::webgraph_scanner(webgraph_files const& files)
    : files_(files),
      properties_path_(webgraph_sibling(files.path, ".properties")),
      properties_(parse_webgraph_properties(properties_path_, files.properties)),
      lists_(properties_, files.graph),
      begins_{0}
{
  expect_plausible_counts(files, properties_path_, properties_);
}

std::span<vertex_id const> webgraph_scanner::next()
{
  constexpr std::size_t room = std::size_t{1} << 16U;
  if (neighbors_.size() > room) { forget_old_lists(); }
  std::int64_t const x = vertex_;
  auto const size = static_cast<std::int64_t>(neighbors_.size());
  try {
    lists_.read_head(x, &begins_.back());
    num_edges_ += lists_.outdegree();
    if (num_edges_ > properties_.num_arcs) {
      fail_arcs(files_.path, properties_path_, properties_.num_arcs, num_edges_, " or more");
    }
    neighbors_.resize(static_cast<std::size_t>(size + lists_.outdegree()));
    lists_.write_list(x, &begins_.back(), neighbors_.data());
  } catch (bitstream_error const& error) {
    fail_at(files_.path, x, error.what());
  }
  begins_.push_back(static_cast<edge_id>(neighbors_.size()));
  ++vertex_;
  if (vertex_ == properties_.num_vertices && num_edges_ != properties_.num_arcs) {
    fail_arcs(files_.path, properties_path_, properties_.num_arcs, num_edges_, "");
  }
  return {neighbors_.data() + size, neighbors_.size() - static_cast<std::size_t>(size)};
}

void webgraph_scanner::forget_old_lists()
{
  auto const kept = static_cast<std::size_t>(properties_.window) + 1;
  if (begins_.size() > kept) { begins_.erase(begins_.begin(), begins_.end() - static_cast<std::ptrdiff_t>(kept)); }
  edge_id const first = begins_.front();
  neighbors_.erase(neighbors_.begin(), neighbors_.begin() + first);
  for (edge_id& begin : begins_) { begin -= first; }
}

graph decode_webgraph(webgraph_files const& files, cpu_exec const& exec) { return decoder(files, exec).decode(); }

graph read_webgraph(
    std::string const& path, std::span<std::byte const> bytes,
    std::shared_ptr<void const> /*owner*/,  // NOLINT(performance-unnecessary-value-param): as all readers
    read_options const& /*options*/, cpu_exec const& exec)
{
  auto const properties = mapped_file::open(webgraph_sibling(path, ".properties"));
  std::string const offsets_path = webgraph_sibling(path, ".offsets");
  std::error_code ignored;
  auto const offsets = std::filesystem::exists(offsets_path, ignored) ? mapped_file::open(offsets_path) : nullptr;

  std::span<std::byte const> const text = properties->bytes();
  webgraph_files files{path, bytes, {reinterpret_cast<char const*>(text.data()), text.size()}, {}};
  if (offsets) { files.offsets = offsets->bytes(); }
  return decode_webgraph(files, exec);
}

}  // namespace tendril::formats
