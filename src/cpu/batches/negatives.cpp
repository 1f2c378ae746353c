// Ends of negative links. The rule: src/core/negatives.hpp.

#include <tendril/negatives.hpp>

#include <cmath>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "core/negatives.hpp"
#include "samplers/layers/importance.hpp"    // is_importance
#include "samplers/layers/layer_tables.hpp"  // vertex_table

namespace tendril {

struct negative_sampler::state {
  std::int64_t num_vertices = 0;
  std::uint64_t seed = 0;
  samplers::vertex_table table;
  shared_array<std::int64_t> times;
  core::negative_ends<plan::alias_record> ends{};
};

negative_sampler::negative_sampler(std::int64_t num_vertices, link_end end, std::uint64_t seed,
                                   shared_array<float> const& weights, shared_array<std::int64_t> const& times,
                                   cpu_exec const& exec)
{
  TENDRIL_EXPECTS(num_vertices >= 0 && num_vertices <= max_num_vertices, "num_vertices: {}, expected 0 to {}",
                  num_vertices, max_num_vertices);
  TENDRIL_EXPECTS(weights.empty() || weights.size() == num_vertices, "weights: {}, expected one a vertex: {}",
                  weights.size(), num_vertices);
  TENDRIL_EXPECTS(times.empty() || times.size() == num_vertices, "times: {}, expected one a vertex: {}", times.size(),
                  num_vertices);
  float largest = 0;
  for (std::int64_t v = 0; v < weights.size(); ++v) {
    TENDRIL_EXPECTS(samplers::is_importance(weights[v]), "weight {}: {}, expected a finite number of 0 or more", v,
                    weights[v]);
    largest = std::max(largest, weights[v]);
  }
  TENDRIL_EXPECTS(weights.empty() || largest > 0, "weights: all are 0, expected one above");
  auto made = std::make_unique<state>();
  made->num_vertices = num_vertices;
  made->seed = seed;
  if (!weights.empty()) { made->table = samplers::make_vertex_table(num_vertices, weights.data(), exec); }
  made->times = times;
  made->ends = {static_cast<std::uint32_t>(num_vertices), weights.empty() ? nullptr : made->table.records.data(),
                times.empty() ? nullptr : made->times.data(), end == link_end::source ? 0U : 1U};
  state_ = std::move(made);
}

negative_sampler::~negative_sampler() = default;
negative_sampler::negative_sampler(negative_sampler&&) noexcept = default;
negative_sampler& negative_sampler::operator=(negative_sampler&&) noexcept = default;

buffer<vertex_id> negative_sampler::draw(std::int64_t count, std::uint64_t batch, std::span<std::int64_t const> until,
                                         cpu_exec const& exec) const
{
  constexpr std::int64_t grain = 4096;
  constexpr std::int64_t most = std::int64_t{1} << 59U;  // their bytes can be counted
  TENDRIL_EXPECTS(count >= 0, "count: {}, expected 0 or more", count);
  TENDRIL_EXPECTS(count <= most, "count: {}, expected at most {}", count, most);
  TENDRIL_EXPECTS(count == 0 || state_->num_vertices > 0, "count: {}, but there are no vertices, expected 0", count);
  TENDRIL_EXPECTS(until.empty() || !state_->times.empty() || count == 0,
                  "until: {} times of links, but vertices have none", until.size());
  buffer<vertex_id> out(count, *exec.memory);
  rng_key const key = core::negative_key(state_->seed, batch);
  auto ends = state_->ends;
  if (until.empty()) { ends.times = nullptr; }
  auto const links = static_cast<std::int64_t>(until.size());
  base::parallel_ranges(exec, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t const time = links == 0 ? 0 : until[static_cast<std::size_t>(i % links)];
      out[i] = ends.draw(key, static_cast<std::uint64_t>(i), time);
    }
  });
  return out;
}

std::int64_t num_negatives(std::int64_t num_links, double amount)
{
  TENDRIL_EXPECTS(num_links >= 0, "num_links: {}, expected 0 or more", num_links);
  TENDRIL_EXPECTS(amount > 0 && std::isfinite(amount), "amount: {}, expected a number above 0", amount);
  double const count = std::ceil(static_cast<double>(num_links) * amount);
  TENDRIL_EXPECTS(count <= 0x1p62, "amount: {} of {} links, expected at most 2^62 negatives", amount, num_links);
  return static_cast<std::int64_t>(count);
}

}  // namespace tendril
