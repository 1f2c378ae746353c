// ShaDow's neighbourhoods, seeds in parallel, and the subgraphs that they induce. The rule: src/core/shadow.hpp. GPU twin:
// src/gpu/subgraphs/shadow.cu.

#include <tendril/shadow.hpp>

#include <algorithm>
#include <vector>

#include "base/parallel.hpp"  // parallel_ranges
#include "core/shadow.hpp"
#include "cpu/arguments.hpp"
#include "cpu/subgraphs/subgraph.hpp"
#include "samplers/subgraphs/shadow_checks.hpp"

namespace tendril {
namespace {

constexpr std::int64_t seeds_a_range = 32;

/// The vertices of one sample after the other. One object a thread: it keeps its memory.
template <class View>
class shadow_sampler {
 public:
  shadow_sampler(View const& graph, shadow_params const& params) : graph_(graph), params_(params), slots_(64) {}

  /// Appends the vertices of the sample of `seed` to `out`.
  void sample(vertex_id seed, std::uint64_t item, std::vector<vertex_id>& out)
  {
    ++stamp_;
    first_ = out.size();
    add(seed, out);
    std::size_t begin = first_;
    for (std::uint32_t hop = 1; hop <= params_.depth && begin < out.size(); ++hop) {
      rng_key const key = core::shadow_key(params_.seed, hop);
      std::size_t const end = out.size();
      for (std::size_t i = begin; i < end; ++i) {
        expand(out[i], key, item, static_cast<std::uint32_t>(i - first_), out);
      }
      begin = end;
    }
  }

 private:
  struct slot {
    std::uint64_t stamp = 0;  // of the sample that the vertex belongs to
    vertex_id vertex = no_vertex;
  };

  void expand(vertex_id v, rng_key key, std::uint64_t item, std::uint32_t position, std::vector<vertex_id>& out)
  {
    auto const row = graph_.row(v);
    core::shadow_picks const rule{row.degree(), static_cast<std::uint32_t>(params_.num_neighbors), params_.replace};
    picks_.resize(rule.count());
    for (std::uint32_t j = 0; j < rule.count(); ++j) { picks_[j] = rule.candidate(key, item, position, j); }
    if (rule.are_drawn_without_replacement()) { rule.resolve(picks_.data()); }
    for (auto const pick : picks_) { add(row.neighbor(pick), out); }
  }

  void add(vertex_id v, std::vector<vertex_id>& out)
  {
    if (2 * (out.size() - first_ + 1) > slots_.size()) {
      slots_.assign(2 * slots_.size(), {});
      for (std::size_t i = first_; i < out.size(); ++i) { (void)insert(out[i]); }
    }
    if (insert(v)) { out.push_back(v); }
  }

  /// Whether it was not there.
  bool insert(vertex_id v)
  {
    std::size_t const mask = slots_.size() - 1;
    std::size_t at = (v * 0x9E3779B97F4A7C15ULL >> 20U) & mask;
    while (slots_[at].stamp == stamp_ && slots_[at].vertex != v) { at = (at + 1) & mask; }
    bool const is_new = slots_[at].stamp != stamp_;
    slots_[at] = {stamp_, v};
    return is_new;
  }

  View graph_;
  shadow_params const& params_;
  std::vector<slot> slots_;  // a power of two of them
  std::vector<std::uint32_t> picks_;
  std::uint64_t stamp_ = 0;
  std::size_t first_ = 0;  // where the sample begins
};

/// The vertices of consecutive samples.
struct sampled_range {
  std::vector<vertex_id> nodes;
  std::vector<std::int64_t> sizes;
};

}  // namespace

subgraphs shadow_sample(graph const& graph, std::span<vertex_id const> seeds, shadow_params const& params,
                        cpu_exec const& exec, std::int64_t first_sample)
{
  cpu::check_in_host_memory(graph);
  auto const num_samples = static_cast<std::int64_t>(seeds.size());
  samplers::check_shadow(params, num_samples, first_sample);
  graph_view const view = graph.view();
  cpu::check_vertices("seed", seeds, view);

  std::vector<sampled_range> ranges(static_cast<std::size_t>((num_samples + seeds_a_range - 1) / seeds_a_range));
  view.visit([&](auto const& g) {
    base::parallel_ranges(exec, num_samples, seeds_a_range, [&](std::int64_t from, std::int64_t to) {
      auto& range = ranges[static_cast<std::size_t>(from / seeds_a_range)];
      shadow_sampler sampler(g, params);
      for (std::int64_t i = from; i < to; ++i) {
        std::size_t const before = range.nodes.size();
        sampler.sample(seeds[static_cast<std::size_t>(i)], static_cast<std::uint64_t>(first_sample + i), range.nodes);
        range.sizes.push_back(static_cast<std::int64_t>(range.nodes.size() - before));
      }
    });
  });

  buffer<std::int64_t> offsets(num_samples + 1, *exec.memory);
  offsets[0] = 0;
  for (std::int64_t i = 0; i < num_samples; ++i) {
    auto const& sizes = ranges[static_cast<std::size_t>(i / seeds_a_range)].sizes;
    offsets[i + 1] = offsets[i] + sizes[static_cast<std::size_t>(i % seeds_a_range)];
  }
  buffer<vertex_id> nodes(offsets[num_samples], *exec.memory);
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    std::copy(ranges[r].nodes.begin(), ranges[r].nodes.end(),
              nodes.data() + offsets[static_cast<std::int64_t>(r) * seeds_a_range]);
    ranges[r].nodes = {};
  }
  return cpu::induce(graph, std::move(nodes), std::move(offsets), exec);
}

}  // namespace tendril
