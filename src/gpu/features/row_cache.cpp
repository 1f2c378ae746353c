// Caches on a GPU: what they own, and checks. Kernels: src/gpu/features/row_cache.cu.

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include <tendril/gpu.hpp>
#include <tendril/gpu_feature_cache.hpp>

#include "base/expects.hpp"
#include "gpu/features/row_cache.hpp"

namespace tendril {

struct gpu_row_cache::state {
  row_cache_params params;
  int device = 0;
  buffer<std::uint32_t> slot_of, states, slot_states;
  buffer<std::uint8_t> scores;
  buffer<vertex_id> content;
  std::deque<gpu::row_ids> known;
  std::uint32_t num_seen = 0;
  std::uint32_t num_served = 0;
  std::int64_t fills = 0;
  gpu::counts_pool counts;

  [[nodiscard]] gpu::cache_view view()
  {
    return {{params.policy}, params.num_rows, params.num_slots, slot_of.data(),
            states.data(),   scores.data(),   content.data(),   slot_states.data()};
  }

  void expect_own(gpu_exec const& exec) const
  {
    TENDRIL_EXPECTS(exec.device == device, "a call on GPU {}, expected GPU {}: the cache was made for it", exec.device,
                    device);
  }
};

gpu_row_cache::gpu_row_cache(row_cache_params const& params, gpu_exec const& exec) : state_(std::make_unique<state>())
{
  validate(params);
  gpu::device_guard const guard(exec.device);
  memory_resource& memory = lasting_gpu_memory(exec.device, exec.stream);
  state& s = *state_;
  s.params = params;
  s.device = exec.device;
  s.slot_of = buffer<std::uint32_t>(params.num_rows, memory);
  s.content = buffer<vertex_id>(params.num_slots, memory);
  if (params.policy != cache_policy::fixed) {
    s.states = buffer<std::uint32_t>(params.num_rows, memory);
    s.slot_states = buffer<std::uint32_t>(params.num_slots, memory);
  }
  fill({}, exec);
}

gpu_row_cache::~gpu_row_cache() = default;
gpu_row_cache::gpu_row_cache(gpu_row_cache&&) noexcept = default;
gpu_row_cache& gpu_row_cache::operator=(gpu_row_cache&&) noexcept = default;

std::span<vertex_id const> gpu_row_cache::content() const noexcept { return state_->content.span(); }

row_cache_params const& gpu_row_cache::params() const noexcept { return state_->params; }

void gpu_row_cache::fill(std::span<vertex_id const> rows, gpu_exec const& exec)
{
  state& s = *state_;
  s.expect_own(exec);
  TENDRIL_EXPECTS(std::ssize(rows) <= s.params.num_slots, "{} rows for a cache of {} slots", rows.size(),
                  s.params.num_slots);
  gpu::device_guard const guard(exec.device);
  s.known.clear();
  s.num_seen = s.num_served = 0;
  ++s.fills;
  gpu::fill_slots(s.view(), rows, exec);
}

void gpu_row_cache::rank(std::span<std::uint8_t const> scores, gpu_exec const& exec)
{
  state& s = *state_;
  s.expect_own(exec);
  TENDRIL_EXPECTS(std::ssize(scores) == s.params.num_rows, "{} scores, expected one for each of {} rows", scores.size(),
                  s.params.num_rows);
  if (s.scores.empty()) {
    s.scores = buffer<std::uint8_t>(s.params.num_rows, lasting_gpu_memory(exec.device, exec.stream));
  }
  copy_on_gpu(scores.data(), s.scores.data(), scores.size(), exec);
}

void gpu_row_cache::see(id_matrix const& ids, gpu_exec const& exec)
{
  state& s = *state_;
  s.expect_own(exec);
  TENDRIL_EXPECTS(std::ssize(s.known) < s.params.window, "{} batches are known and not served, expected fewer",
                  s.params.window);
  TENDRIL_EXPECTS(ids.num_columns == 1, "ids of {} columns, expected 1", ids.num_columns);
  TENDRIL_EXPECTS(ids.num_rows <= std::numeric_limits<int>::max(), "{} ids, expected less than 2^31", ids.num_rows);
  gpu::device_guard const guard(exec.device);
  gpu::row_ids rows(ids, s.params.num_rows, exec);
  if (s.params.policy == cache_policy::lookahead) { gpu::mark_known(s.view(), rows, s.num_seen, exec); }
  s.known.push_back(std::move(rows));
  ++s.num_seen;
}

gpu_cache_step gpu_row_cache::serve(gpu_exec const& exec)
{
  state& s = *state_;
  s.expect_own(exec);
  TENDRIL_EXPECTS(!s.known.empty(), "no batch is known that was not served, expected one: see it first");
  gpu::device_guard const guard(exec.device);
  gpu::row_ids const ids = std::move(s.known.front());
  s.known.pop_front();
  gpu_cache_step made;
  made.state_ = std::make_shared<gpu_cache_step::state>(ids.size(), s.num_served, s.fills, exec);
  made.state_->in_order = s.params.policy != cache_policy::fixed;
  buffer<gpu::made_counts> counts(1, memory_of(exec));
  gpu::clear(counts.data(), exec);
  gpu::serve_batch(s.view(), ids, s.num_served, *made.state_, counts.data(), exec);
  made.state_->give(counts.data(), s.counts, exec);
  ++s.num_served;
  return made;
}

}  // namespace tendril
