// Ends of negative links. The rule: src/core/negatives.hpp.

#include <tendril/negatives.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "core/negatives.hpp"
#include "samplers/layers/importance.hpp"    // is_importance
#include "samplers/layers/layer_tables.hpp"  // vertex_table

namespace tendril {
namespace {

/// Owns what core::negative_ends_in_time refers to.
struct time_table {
  buffer<vertex_id> vertices;
  buffer<std::int64_t> times;
  buffer<std::uint64_t> sums;
  std::vector<core::weight_group> groups;
  vertex_id earliest = 0;

  [[nodiscard]] core::negative_ends_in_time view(std::uint32_t end) const
  {
    return {static_cast<std::uint32_t>(vertices.size()), vertices.data(), times.data(), sums.data(), groups.data(),
            static_cast<std::uint32_t>(groups.size()),   earliest,        end};
  }
};

/// @param weights  Empty, or one a vertex and one of them positive.
/// @param times    [at least 1]
time_table make_time_table(shared_array<float> const& weights, shared_array<std::int64_t> const& times,
                           cpu_exec const& exec)
{
  auto const possible = [&](std::int64_t v) { return weights.empty() || weights[v] > 0; };
  std::int64_t size = 0;
  for (std::int64_t v = 0; v < times.size(); ++v) { size += possible(v) ? 1 : 0; }
  time_table out;
  out.vertices = buffer<vertex_id>(size, *exec.memory);
  out.times = buffer<std::int64_t>(size, *exec.memory);
  out.sums = buffer<std::uint64_t>(weights.empty() ? 0 : size, *exec.memory);
  out.earliest = static_cast<vertex_id>(std::min_element(times.begin(), times.end()) - times.begin());
  std::int64_t next = 0;
  for (std::int64_t v = 0; v < times.size(); ++v) {
    if (possible(v)) { out.vertices[next++] = static_cast<vertex_id>(v); }
  }
  auto const earlier = [&](vertex_id a, vertex_id b) { return times[a] != times[b] ? times[a] < times[b] : a < b; };
  if (!std::is_sorted(out.vertices.begin(), out.vertices.end(), earlier)) {
    std::sort(out.vertices.begin(), out.vertices.end(), earlier);
  }
  core::weight_sums sums;
  for (std::int64_t i = 0; i < size; ++i) {
    vertex_id const v = out.vertices[i];
    out.times[i] = times[v];
    if (weights.empty()) { continue; }
    if (sums.add(weights[v])) { out.groups.push_back({static_cast<std::uint32_t>(i), sums.before()}); }
    out.sums[i] = sums.sum();
  }
  return out;
}

}  // namespace

struct negative_sampler::state {
  std::int64_t num_vertices = 0;
  std::uint64_t seed = 0;
  samplers::vertex_table table;
  core::negative_ends<plan::alias_record> ends{};
  bool has_times = false;
  time_table in_time;
  core::negative_ends_in_time ends_in_time{};
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
  std::uint32_t const end_number = end == link_end::source ? 0U : 1U;
  made->ends = {static_cast<std::uint32_t>(num_vertices), weights.empty() ? nullptr : made->table.records.data(),
                end_number};
  if (!times.empty()) {
    made->has_times = true;
    made->in_time = make_time_table(weights, times, exec);
    made->ends_in_time = made->in_time.view(end_number);
  }
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
  TENDRIL_EXPECTS(until.empty() || state_->has_times || count == 0, "until: {} times of links, but vertices have none",
                  until.size());
  buffer<vertex_id> out(count, *exec.memory);
  rng_key const key = core::negative_key(state_->seed, batch);
  auto const links = static_cast<std::int64_t>(until.size());
  base::parallel_ranges(exec, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      auto const number = static_cast<std::uint64_t>(i);
      out[i] = links == 0 ? state_->ends.draw(key, number)
                          : state_->ends_in_time.draw(key, number, until[static_cast<std::size_t>(i % links)]);
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
