// Checks everything that a graph promises. Ranges of vertices are checked in parallel; the violation at the smallest
// position is the one reported.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/graph.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "graph/check.hpp"
#include "graph/soundness.hpp"

namespace tendril {
namespace validation {
namespace {

constexpr std::int64_t grain = std::int64_t{1} << 14U;

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
  base::parallel_ranges(exec, size, grain, [&](std::int64_t begin, std::int64_t end) {
    if (first.before(begin)) { return; }
    for (std::int64_t v = begin; v < end; ++v) {
      if (std::string what = check(v); !what.empty()) {
        first.report(v, std::move(what));
        return;
      }
    }
  });
}

std::string check_neighbors(graph_arrays const& a, std::int64_t v, std::int64_t num_vertices)
{
  vertex_id previous = 0;
  for (edge_id e = a.indptr[v]; e < a.indptr[v + 1]; ++e) {
    vertex_id const target = a.indices[e];
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
  }
  return {};
}

std::string check_original_id(graph_arrays const& a, std::int64_t v)
{
  if (a.original_ids[v] == no_vertex) {
    return fmt::format("vertex {}: original id {}, expected an id below {}", v, a.original_ids[v], max_num_vertices);
  }
  if (v > 0 && a.original_ids[v] <= a.original_ids[v - 1]) {
    return fmt::format("vertex {}: original ids not ascending ({} after {})", v, a.original_ids[v],
                       a.original_ids[v - 1]);
  }
  return {};
}

using attributes = std::pair<float, label_id>;

attributes attributes_of(csr_arrays const& g, edge_id e)
{
  return {g.weights ? g.weights[e] : 0.0F, g.edge_labels.empty() ? label_id{0} : g.edge_labels[e]};
}

/// Whether two runs of parallel edges, of one length, carry the same weights and labels.
bool same_attributes(csr_arrays const& g, edge_id a, edge_id b, edge_id size)
{
  bool same = true;
  for (edge_id i = 0; i < size; ++i) { same = same && attributes_of(g, a + i) == attributes_of(g, b + i); }
  if (same || size == 1) { return same; }
  std::vector<attributes> left, right;
  for (edge_id i = 0; i < size; ++i) {
    left.push_back(attributes_of(g, a + i));
    right.push_back(attributes_of(g, b + i));
  }
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right;
}

/// Calls f(run, end) for each run of equal neighbours of v, other than v itself, until it returns false.
template <class F>
void for_each_run(csr_arrays const& g, std::int64_t v, F&& f)
{
  auto const* const end = g.indices + g.indptr[v + 1];
  for (auto const* run = g.indices + g.indptr[v]; run < end;) {
    auto const* run_end = run + 1;
    while (run_end < end && *run_end == *run) { ++run_end; }
    if (*run != v && !f(run, run_end)) { return; }
    run = run_end;
  }
}

/// The edges from u to v.
std::pair<vertex_id const*, vertex_id const*> edges_between(csr_arrays const& g, vertex_id u, std::int64_t v)
{
  auto const target = static_cast<vertex_id>(v);
  auto const* const end = g.indices + g.indptr[u + std::int64_t{1}];
  auto const* const first = std::lower_bound(g.indices + g.indptr[u], end, target);
  auto const* last = first;
  while (last < end && *last == target) { ++last; }
  return {first, last};
}

std::string check_reverses(csr_arrays const& g, std::int64_t v)
{
  std::string what;
  for_each_run(g, v, [&](vertex_id const* run, vertex_id const* run_end) {
    auto const [back, back_end] = edges_between(g, *run, v);
    if (back_end - back != run_end - run) {
      what = fmt::format("vertex {}: {} edges to {} at edge {} but {} back, expected as many in a symmetric graph", v,
                         run_end - run, *run, run - g.indices, back_end - back);
    } else if (!same_attributes(g, run - g.indices, back - g.indices, run_end - run)) {
      what = fmt::format(
          "vertex {}: the edge to {} at edge {} and its reverse at edge {} differ in weight or label, "
          "expected equal ones in a symmetric graph",
          v, *run, run - g.indices, back - g.indices);
    }
    return what.empty();
  });
  return what;
}

/// Whether each edge has its reverse. Of the two lists that an edge and its reverse are in, only the shorter is
/// searched; if all edges in longer lists have a reverse, and there are as many edges in shorter ones, those do too.
bool is_symmetric(csr_arrays const& g, cpu_exec const& exec)
{
  std::atomic<edge_id> surplus{0};
  std::atomic<bool> symmetric{true};
  base::parallel_ranges(exec, g.num_vertices, grain, [&](std::int64_t begin, std::int64_t end) {
    edge_id more = 0;
    bool good = symmetric;
    for (std::int64_t v = begin; v < end && good; ++v) {
      edge_id const degree = g.indptr[v + 1] - g.indptr[v];
      for_each_run(g, v, [&](vertex_id const* run, vertex_id const* run_end) {
        edge_id const other = g.indptr[*run + std::int64_t{1}] - g.indptr[*run];
        if (std::pair(degree, v) < std::pair(other, std::int64_t{*run})) {
          more -= run_end - run;
          return true;
        }
        more += run_end - run;
        auto const [back, back_end] = edges_between(g, *run, v);
        good = back_end - back == run_end - run && same_attributes(g, run - g.indices, back - g.indices, run_end - run);
        return good;
      });
    }
    surplus += more;
    if (!good) { symmetric = false; }
  });
  return symmetric && surplus == 0;
}

}  // namespace

namespace {

/// A graph made by graph() has no offsets at all.
std::int64_t num_vertices_of(graph_arrays const& a) { return a.indptr.empty() ? 0 : a.indptr.size() - 1; }

void expect_ascending_offsets(graph_arrays const& a, cpu_exec const& exec)
{
  auto const& indptr = a.indptr;
  first_violation first;
  find_first(first, num_vertices_of(a), exec, [&](std::int64_t v) -> std::string {
    edge_id const begin = indptr[v], end = indptr[v + 1];
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

std::optional<std::string> find_asymmetry(csr_arrays const& view, cpu_exec const& exec)
{
  if (is_symmetric(view, exec)) { return std::nullopt; }
  first_violation first;
  find_first(first, view.num_vertices, exec, [&](std::int64_t v) { return check_reverses(view, v); });
  return std::move(first).take();
}

void expect_valid_neighbors(graph_arrays const& a, cpu_exec const& exec)
{
  std::int64_t const vertices = num_vertices_of(a);
  first_violation first;
  find_first(first, vertices, exec, [&](std::int64_t v) { return check_neighbors(a, v, vertices); });
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

void expect_ascending_offsets(graph const& g, cpu_exec const& exec) { expect_ascending_offsets(g.arrays(), exec); }

std::optional<std::string> find_asymmetry(graph const& g, cpu_exec const& exec)
{
  return find_asymmetry(g.csr(), exec);
}

void expect_sound(graph_arrays const& arrays, cpu_exec const& exec)
{
  if (is_sound(arrays, exec)) { return; }
  with_source(arrays, [&] {
    expect_ascending_offsets(arrays, exec);
    expect_valid_neighbors(arrays, exec);
    throw format_error("the arrays changed while they were checked, expected them to stay as they are");
  });
}

void expect_valid(graph_arrays const& arrays, cpu_exec const& exec)
{
  with_source(arrays, [&] {
    expect_ascending_offsets(arrays, exec);
    expect_valid_neighbors(arrays, exec);
    first_violation first;
    find_first(first, arrays.original_ids.size(), exec, [&](std::int64_t v) { return check_original_id(arrays, v); });
    first.throw_if_any();
    if (!arrays.symmetric) { return; }
    if (auto const what = find_asymmetry(csr_of(arrays), exec)) { throw format_error(*what); }
  });
}

}  // namespace validation
}  // namespace tendril
