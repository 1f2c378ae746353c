// Measures a graph in every form without writing it: blocks are measured and laid out as src/place/list_encoder.hpp does
// before it writes them.

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <span>
#include <vector>

#include <tendril/profile.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "graph/places.hpp"
#include "place/degree_classes.hpp"
#include "place/list_encoder.hpp"

namespace tendril {
namespace {

using place::block_layout;
using place::degree_classes;
using place::listed_rows;
using place::measured_block;
using place::measured_half;
using place::row_scratch;

constexpr std::int64_t profiled_a_range = std::int64_t{1}
                                          << 8U;  // more: too few ranges for the threads; fewer: mostly sums
constexpr std::size_t csr_at = 0;
static_assert(enum_names<graph_form>[csr_at].value == graph_form::csr);

std::size_t at(graph_form form)
{
  std::size_t i = 0;
  while (enum_names<graph_form>[i].value != form) { ++i; }
  return i;
}

/// Bytes and reads of blocks by reads a byte, whose logarithm has 8 steps in each power of two.
class ranked_reads {
 public:
  void add(std::uint64_t bytes, std::uint64_t reads)
  {
    if (bytes == 0) { return; }
    double const rank = reads == 0 ? least : std::log2(static_cast<double>(reads) / static_cast<double>(bytes));
    auto const bin = static_cast<std::size_t>(8 * (std::clamp(rank, least, -least) - least));
    bins_[bin].bytes += static_cast<std::int64_t>(bytes);
    bins_[bin].reads += reads;
  }
  void add(ranked_reads const& other)
  {
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      bins_[i].bytes += other.bins_[i].bytes;
      bins_[i].reads += other.bins_[i].reads;
    }
  }
  [[nodiscard]] placement_curve curve() const
  {
    std::vector<placement_curve::point> points{{}};
    for (auto bin = bins_.rbegin(); bin != bins_.rend(); ++bin) {
      if (bin->bytes > 0) { points.push_back({points.back().bytes + bin->bytes, points.back().reads + bin->reads}); }
    }
    return placement_curve(std::move(points));
  }

 private:
  static constexpr double least = -40;
  std::array<placement_curve::point, 8 * 80 + 1> bins_{};
};

/// What one range of blocks adds.
struct range_sums {
  std::array<std::int64_t, num_graph_forms> words{}, wide{};
  std::vector<degree_class> degrees = std::vector<degree_class>(degree_classes::count);
  std::array<std::int64_t, 33> gaps{};
  ranked_reads walks, batches;

  void add(range_sums const& other)
  {
    for (std::size_t f = 0; f < num_graph_forms; ++f) {
      words[f] += other.words[f];
      wide[f] += other.wide[f];
    }
    for (std::size_t c = 0; c < degrees.size(); ++c) {
      degrees[c].num_vertices += other.degrees[c].num_vertices;
      degrees[c].num_edges += other.degrees[c].num_edges;
      for (std::size_t f = 0; f < num_graph_forms; ++f) { degrees[c].list_bits[f] += other.degrees[c].list_bits[f]; }
    }
    for (std::size_t i = 0; i < gaps.size(); ++i) { gaps[i] += other.gaps[i]; }
    walks.add(other.walks);
    batches.add(other.batches);
  }
};

/// Measures blocks of one view.
template <class View>
class profiler {
 public:
  /// @param arrivals  How many edges lead to each vertex; empty: as many as leave it.
  profiler(View const& g, graph_form placed_form, int fanout, std::span<std::uint32_t const> arrivals)
      : g_(g), placed_form_(placed_form), fanout_(static_cast<std::uint32_t>(fanout)), arrivals_(arrivals)
  {
  }

  void measure(std::int64_t begin, std::int64_t end, range_sums& sums) const
  {
    row_scratch scratch;
    std::int64_t const end_vertex = std::min(end * list_block::vertices, g_.num_vertices);
    listed_rows const rows = load(begin * list_block::vertices, end_vertex, scratch);
    for (std::int64_t v = begin * list_block::vertices; v < end_vertex; ++v) { count(rows.list(v), sums); }
    for (std::int64_t b = begin; b < end; ++b) {
      for (auto const& [form, name] : enum_names<graph_form>) {
        if (form != graph_form::csr) { measure(rows, b * list_block::vertices, form, sums); }
      }
    }
  }

 private:
  listed_rows load(std::int64_t begin, std::int64_t end, row_scratch& scratch) const
  {
    scratch.clear();
    for (std::int64_t v = begin; v < end; ++v) {
      for (vertex_id const x : g_.row(v)) { scratch.ids.push_back(x); }
      scratch.end_row();
    }
    return scratch.rows(begin);
  }

  static void count(std::span<vertex_id const> list, range_sums& sums)
  {
    degree_class& to = sums.degrees[degree_classes::of(static_cast<std::uint32_t>(list.size()))];
    ++to.num_vertices;
    to.num_edges += std::ssize(list);
    to.list_bits[csr_at] += 32 * std::ssize(list);
    for (std::size_t k = 1; k < list.size(); ++k) { ++sums.gaps[std::bit_width(list[k] - list[k - 1])]; }
  }

  void measure(listed_rows const& rows, std::int64_t first, graph_form form, range_sums& sums) const
  {
    measured_block block;
    place::measure_block(place::serial_team(), rows, form, g_.num_vertices, first, block);
    block_layout const layout(block);
    std::size_t const f = at(form);
    sums.words[f] += static_cast<std::int64_t>(layout.bytes() / 4);
    sums.wide[f] += layout.num_wide(2);
    std::uint64_t walks = 0, batches = 0;
    std::int64_t v = first;
    for (measured_half const& half : block.halves) {
      for (std::uint32_t i = 0; i < half.size; ++i, ++v) {
        std::uint32_t const degree = half.degrees[i];
        if (degree == 0) { continue; }  // nothing of it is read but the directory
        sums.degrees[degree_classes::of(degree)].list_bits[f] += static_cast<std::int64_t>(half.lists[i].bits);
        walks += arrivals_.empty() ? degree : arrivals_[static_cast<std::size_t>(v)];
        batches += std::min(fanout_, degree);
      }
    }
    if (form != placed_form_) { return; }
    sums.walks.add(layout.bytes(), walks);
    sums.batches.add(layout.bytes(), batches);
  }

  View g_;
  graph_form placed_form_;
  std::uint32_t fanout_;
  std::span<std::uint32_t const> arrivals_;
};

/// How many edges lead to each vertex.
template <class View>
buffer<std::uint32_t> count_arrivals(View const& g, cpu_exec const& exec)
{
  buffer<std::uint32_t> counts(g.num_vertices, *exec.memory);
  std::fill(counts.begin(), counts.end(), 0U);
  place::for_each_range(g.num_vertices, profiled_a_range * list_block::vertices, {"counting", 0, g.num_vertices}, exec,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t v = begin; v < end; ++v) {
                            for (vertex_id const x : g.row(v)) { __atomic_fetch_add(&counts[x], 1U, __ATOMIC_RELAXED); }
                          }
                        });
  return counts;
}

template <class View>
range_sums measure_all(View const& g, bool symmetric, graph_form placed_form, int fanout, cpu_exec const& exec)
{
  buffer<std::uint32_t> const arrivals = symmetric ? buffer<std::uint32_t>() : count_arrivals(g, exec);
  profiler<View> const profile(g, placed_form, fanout, {arrivals.data(), static_cast<std::size_t>(arrivals.size())});
  range_sums sums;
  std::mutex guard;  // sums of integers: the order doesn't matter
  std::int64_t const num_blocks = g.num_vertices / list_block::vertices + 1;
  place::for_each_range(num_blocks, profiled_a_range, {"measuring", 0, num_blocks}, exec,
                        [&](std::int64_t begin, std::int64_t end) {
                          range_sums mine;
                          profile.measure(begin, end, mine);
                          std::lock_guard const lock(guard);
                          sums.add(mine);
                        });
  return sums;
}

std::vector<degree_class> classes_that_occur(std::vector<degree_class> const& all)
{
  std::vector<degree_class> out;
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (all[c].num_vertices == 0) { continue; }
    out.push_back(all[c]);
    out.back().first = degree_classes::first(c);
    out.back().last = degree_classes::first(c + 1) - 1;
  }
  return out;
}

}  // namespace

double placement_curve::share_at(std::int64_t bytes) const noexcept
{
  if (points_.empty() || points_.back().reads == 0) { return 1; }
  auto const all = static_cast<double>(points_.back().reads);
  auto const next = std::upper_bound(points_.begin(), points_.end(), bytes,
                                     [](std::int64_t value, point const& p) { return value < p.bytes; });
  if (next == points_.begin()) { return 0; }
  if (next == points_.end()) { return 1; }
  point const& before = *std::prev(next);
  double const part = static_cast<double>(bytes - before.bytes) / static_cast<double>(next->bytes - before.bytes);
  return (static_cast<double>(before.reads) + part * static_cast<double>(next->reads - before.reads)) / all;
}

form_size const& graph_profile::size_of(graph_form form) const noexcept { return sizes[at(form)]; }

form_size const& graph_profile::smallest() const noexcept
{
  return *std::min_element(sizes.begin(), sizes.end(),
                           [](form_size const& a, form_size const& b) { return a.bytes() < b.bytes(); });
}

graph_profile profile_graph(graph const& input, profile_params const& params, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  TENDRIL_EXPECTS(params.fanout >= 1, "fanout: {}, expected at least 1", params.fanout);
  input.check(exec);
  graph_profile out;
  out.placed_form = input.form() == graph_form::csr ? graph_form::packed : input.form();
  range_sums const sums = input.view().visit(
      [&](auto const& g) { return measure_all(g, input.arrays().symmetric, out.placed_form, params.fanout, exec); });
  std::int64_t const num_blocks = input.num_vertices() / list_block::vertices + 1;
  for (std::size_t f = 0; f < num_graph_forms; ++f) {
    out.sizes[f] = {enum_names<graph_form>[f].value,
                    static_cast<std::int64_t>(sizeof(list_block)) * num_blocks +
                        static_cast<std::int64_t>(sizeof(wide_list)) * sums.wide[f],
                    4 * (sums.words[f] + list_codes::words_beyond)};
  }
  out.sizes[csr_at] = {graph_form::csr, 8 * (input.num_vertices() + 1), 4 * input.num_edges()};
  out.degrees = classes_that_occur(sums.degrees);
  out.gaps = sums.gaps;
  out.walks = sums.walks.curve();
  out.batches = sums.batches.curve();
  return out;
}

}  // namespace tendril
