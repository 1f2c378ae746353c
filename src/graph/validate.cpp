// Checks everything that a graph promises. Ranges of vertices are checked in parallel; the violation at the smallest
// position is the one reported.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/graph.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "graph/check.hpp"
#include "graph/list_check.hpp"
#include "graph/narrow_check.hpp"
#include "graph/places.hpp"  // expect_in_host_memory
#include "graph/soundness.hpp"
#include "graph/symmetry.hpp"

namespace tendril {
namespace validation {
namespace {

constexpr std::int64_t checked_a_range = std::int64_t{1} << 14U;

/// The violation at the smallest position of those that threads report.
class first_violation {
 public:
  void report(std::int64_t position, std::string what)
  {
    std::lock_guard const lock(mutex_);
    if (position >= position_) { return; }
    position_ = position;
    what_ = std::move(what);
  }
  [[nodiscard]] bool before(std::int64_t position)
  {
    std::lock_guard const lock(mutex_);
    return position_ < position;
  }
  void throw_if_any() const
  {
    if (!what_.empty()) { throw format_error(what_); }
  }
  [[nodiscard]] std::optional<std::string> take() &&
  {
    return what_.empty() ? std::nullopt : std::optional(std::move(what_));
  }

 private:
  std::mutex mutex_;
  std::int64_t position_ = std::numeric_limits<std::int64_t>::max();
  std::string what_;
};

/// Calls check(v) for each position below `size`, which describes what is wrong there or returns an empty string.
template <class F>
void find_first(first_violation& first, std::int64_t size, cpu_exec const& exec, F&& check)
{
  auto const check_range = [&](std::int64_t begin, std::int64_t end) {
    if (first.before(begin)) { return; }
    for (std::int64_t v = begin; v < end; ++v) {
      if (std::string what = check(v); !what.empty()) {
        first.report(v, std::move(what));
        return;
      }
    }
  };
  base::parallel_ranges(exec, size, checked_a_range, check_range, "checking");
}

/// The edges from number `first` on, which lead to the targets of row `i`.
template <class Row>
std::string check_neighbors(graph_arrays const& a, std::int64_t i, Row const& row, edge_id first,
                            row_places const& places)
{
  std::int64_t const v = places.first_vertex + i, num_vertices = places.num_targets;
  vertex_id previous = 0;
  edge_id e = first;
  for (vertex_id const target : row) {
    if (target >= num_vertices) {
      return fmt::format("vertex {}: neighbour {} at edge {}, expected an id below {}", v, target, e, num_vertices);
    }
    if (target < previous) {
      return fmt::format("vertex {}: neighbours not ascending at edge {} ({} after {})", v, e, target, previous);
    }
    previous = target;
    if (!a.weights.empty() && !(std::isfinite(a.weights[e]) && a.weights[e] >= 0)) {
      return fmt::format("vertex {}: weight {} at edge {}, expected a finite number >= 0", v, a.weights[e], e);
    }
    if (!a.edge_ids.empty() && a.edge_ids[e] < 0) {
      return fmt::format("vertex {}: edge id {} at edge {}, expected a number >= 0", v, a.edge_ids[e], e);
    }
    ++e;
  }
  return {};
}

/// Whether two of `ids`, the largest of which is known, are equal; threads mark them in a bitmap.
bool marks_repeat(shared_array<vertex_id> const& ids, vertex_id largest, cpu_exec const& exec)
{
  buffer<std::uint64_t> marks(largest / 64 + std::int64_t{1}, *exec.memory);
  std::fill(marks.begin(), marks.end(), 0);
  std::atomic<bool> repeat{false};
  auto const mark_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      std::uint64_t const mark = std::uint64_t{1} << (ids[v] & 63U);
      auto const before = std::atomic_ref(marks[ids[v] >> 6U]).fetch_or(mark, std::memory_order_relaxed);
      if ((before & mark) != 0) { repeat = true; }
    }
  };
  base::parallel_ranges(exec, ids.size(), checked_a_range, mark_range, "checking");
  return repeat;
}

/// The first vertex with the original id of an earlier one, described; empty if there is none.
std::string find_repeated_id(shared_array<vertex_id> const& ids, cpu_exec const& exec)
{
  auto const in_order = [](vertex_id a, vertex_id b) { return a < b; };
  if (std::adjacent_find(ids.begin(), ids.end(), std::not_fn(in_order)) == ids.end()) { return {}; }
  // A bitmap takes at most 8 bytes a vertex; where ids are spread wider they are sorted.
  vertex_id const largest = *std::max_element(ids.begin(), ids.end());
  if (largest / 64 < ids.size() && !marks_repeat(ids, largest, exec)) { return {}; }
  buffer<std::uint64_t> sorted(ids.size(), *exec.memory);
  for (std::int64_t v = 0; v < ids.size(); ++v) {
    sorted[v] = std::uint64_t{ids[v]} << 32U | static_cast<std::uint64_t>(v);
  }
  std::sort(sorted.begin(), sorted.end());
  std::uint64_t first = std::uint64_t{no_vertex}, earlier = 0;
  for (std::int64_t i = 1; i < ids.size(); ++i) {
    std::uint64_t const v = sorted[i] & 0xffffffffU;
    if (sorted[i] >> 32U == sorted[i - 1] >> 32U && v < first) {
      first = v;
      earlier = sorted[i - 1] & 0xffffffffU;
    }
  }
  if (first == no_vertex) { return {}; }
  return fmt::format("vertex {}: original id {}, expected another than that of vertex {}", first,
                     ids[static_cast<std::int64_t>(first)], earlier);
}

void expect_distinct_ids(graph_arrays const& a, cpu_exec const& exec)
{
  first_violation first;
  find_first(first, a.original_ids.size(), exec, [&](std::int64_t v) {
    return a.original_ids[v] != no_vertex
               ? std::string()
               : fmt::format("vertex {}: original id {}, expected an id below {}", v, no_vertex, max_num_vertices);
  });
  first.throw_if_any();
  if (std::string const what = find_repeated_id(a.original_ids, exec); !what.empty()) { throw format_error(what); }
}

using attributes = std::pair<float, label_id>;

/// Edges [first, last) of a vertex: parallel ones, all to one neighbour.
template <class Row>
struct edge_run {
  Row row;
  std::uint32_t first, last;

  [[nodiscard]] std::uint32_t size() const { return last - first; }
  [[nodiscard]] vertex_id target() const { return row.neighbor(first); }
};

/// Weights and labels of a run, sorted if there are more than one; zeros where the graph has none.
template <class View, class Row>
std::vector<attributes> attributes_of(View const& g, edge_run<Row> const& run)
{
  std::vector<attributes> all;
  for (std::uint32_t i = run.first; i < run.last; ++i) {
    all.emplace_back(g.has_weights() ? run.row.weight(i) : 0.0F, g.has_edge_labels() ? run.row.label(i) : label_id{0});
  }
  return all;
}

/// Whether two runs, of one size, carry the same weights and labels.
template <class View, class Row>
bool same_attributes(View const& g, edge_run<Row> const& a, edge_run<Row> const& b)
{
  if (!g.has_weights() && !g.has_edge_labels()) { return true; }
  if (a.size() == 1) {
    return (!g.has_weights() || a.row.weight(a.first) == b.row.weight(b.first)) &&
           (!g.has_edge_labels() || a.row.label(a.first) == b.row.label(b.first));
  }
  std::vector<attributes> left = attributes_of(g, a), right = attributes_of(g, b);
  if (left == right) { return true; }
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right;
}

/// Calls f(run) for each run of equal neighbours of v, other than v itself, until it returns false.
template <class View, class F>
void for_each_run(View const& g, std::int64_t v, F&& f)
{
  auto const row = g.row(v);
  for (std::uint32_t i = 0; i < row.degree();) {
    vertex_id const target = row.neighbor(i);
    std::uint32_t const first = i++;
    while (i < row.degree() && row.neighbor(i) == target) { ++i; }
    if (target != v && !f(edge_run<typename View::row_type>{row, first, i})) { return; }
  }
}

/// The edges from u to v.
template <class View>
auto edges_between(View const& g, vertex_id u, std::int64_t v)
{
  auto const row = g.row(u);
  auto const target = static_cast<vertex_id>(v);
  std::uint32_t const first = row.find(target);
  std::uint32_t last = first;
  while (last < row.degree() && row.neighbor(last) == target) { ++last; }
  return edge_run<typename View::row_type>{row, first, last};
}

template <class View>
std::string check_reverses(View const& g, std::int64_t v)
{
  std::string what;
  for_each_run(g, v, [&](auto const& run) {
    auto const back = edges_between(g, run.target(), v);
    if (back.size() != run.size()) {
      what = fmt::format("vertex {}: {} edges to {} at edge {} but {} back, expected as many in a symmetric graph", v,
                         run.size(), run.target(), run.row.edge(run.first), back.size());
    } else if (!same_attributes(g, run, back)) {
      what = fmt::format(
          "vertex {}: the edge to {} at edge {} and its reverse at edge {} differ in weight or label, "
          "expected equal ones in a symmetric graph",
          v, run.target(), run.row.edge(run.first), back.row.edge(back.first));
    }
    return what.empty();
  });
  return what;
}

/// Of the offsets of a CSR, which a graph made by graph() has not, or of a compressed graph's directory.
void expect_ascending_offsets(graph_arrays const& a, row_places const& places, cpu_exec const& exec)
{
  first_violation first;
  if (!a.compressed.words.empty()) {
    find_first(first, a.compressed.blocks.size(), exec, [&](std::int64_t b) { return block_problem(a.compressed, b); });
    first.throw_if_any();
    return;
  }
  auto const& indptr = a.indptr;
  find_first(first, indptr.empty() ? 0 : indptr.size() - 1, exec, [&](std::int64_t i) -> std::string {
    edge_id const begin = indptr[i], end = indptr[i + 1];
    std::int64_t const v = places.first_vertex + i;
    if (end < begin) {
      return fmt::format("vertex {}: its edges end at {} but begin at {}, expected an indptr that never decreases", v,
                         end, begin);
    }
    auto const degree = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
    if (degree > 0xffffffffU) { return fmt::format("vertex {}: {} edges, expected at most 4294967295", v, degree); }
    return {};
  });
  first.throw_if_any();
}

std::optional<std::string> find_asymmetry(graph_view const& view, cpu_exec const& exec)
{
  if (has_all_reverses(view, exec)) { return std::nullopt; }
  first_violation first;
  view.visit([&](auto const& g) {
    find_first(first, g.num_vertices, exec, [&](std::int64_t v) { return check_reverses(g, v); });
  });
  return std::move(first).take();
}

void expect_valid_neighbors(graph_arrays const& a, row_places const& places, cpu_exec const& exec)
{
  first_violation first;
  if (!a.compressed.words.empty()) {
    find_first(first, a.compressed.num_vertices, exec, [&](std::int64_t v) { return list_problem(a.compressed, v); });
    first.throw_if_any();
    if (std::string what = weight_value_problem(a.narrow); !what.empty()) { throw format_error(what); }
    find_first(first, has_spare_codes(a.narrow) ? a.compressed.num_edges : 0, exec,
               [&](edge_id e) { return code_problem(a.narrow, e); });
    first.throw_if_any();
  }
  view_of(a).visit([&](auto const& g) {
    find_first(first, g.num_vertices, exec,
               [&](std::int64_t v) { return check_neighbors(a, v, g.row(v), g.first_edge(v), places); });
  });
  first.throw_if_any();
}

/// Calls f; what it finds wrong gets the name of the file that the arrays are mapped from.
template <class F>
void with_source(graph_arrays const& a, F&& f)
{
  try {
    f();
  } catch (format_error const& problem) {
    if (a.source.empty()) { throw; }
    throw format_error(fmt::format("{}: {}", a.source, problem.what()));
  }
}

}  // namespace

void expect_ascending_offsets(graph const& g, cpu_exec const& exec)
{
  expect_ascending_offsets(g.arrays(), {g.num_vertices()}, exec);
}

std::optional<std::string> find_asymmetry(graph const& g, cpu_exec const& exec)
{
  return find_asymmetry(g.view(), exec);
}

void expect_sound(graph_arrays const& arrays, cpu_exec const& exec)
{
  expect_sound_rows(arrays, {view_of(arrays).num_vertices}, exec);
}

void expect_sound_rows(graph_arrays const& arrays, row_places const& places, cpu_exec const& exec)
{
  if (is_sound(arrays, places.num_targets, exec)) { return; }
  with_source(arrays, [&] {
    expect_ascending_offsets(arrays, places, exec);
    expect_valid_neighbors(arrays, places, exec);
    throw format_error("the arrays changed while they were checked, expected them to stay as they are");
  });
}

void expect_valid_original_ids(graph_arrays const& arrays, cpu_exec const& exec)
{
  with_source(arrays, [&] { expect_distinct_ids(arrays, exec); });
}

void expect_valid(graph_arrays const& arrays, cpu_exec const& exec)
{
  expect_sound(arrays, exec);
  with_source(arrays, [&] {
    expect_distinct_ids(arrays, exec);
    if (!arrays.symmetric) { return; }
    if (auto const what = find_asymmetry(view_of(arrays), exec)) { throw format_error(*what); }
  });
}

}  // namespace validation

bool is_symmetric(graph const& input, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  input.check(exec);
  return validation::has_all_reverses(input.view(), exec);
}

}  // namespace tendril
