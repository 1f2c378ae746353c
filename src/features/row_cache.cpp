// The bookkeeping of a cache of rows, in host memory, one list after the other. The rule: src/core/cache_rule.hpp. GPU
// twin: src/gpu/features/row_cache.cu.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/feature_cache.hpp>

#include "base/expects.hpp"
#include "base/memory_room.hpp"  // expect_memory
#include "core/cache_rule.hpp"

namespace tendril {
namespace {

/// The first `count` of a list, in ascending order.
std::vector<std::uint32_t> first_of(std::vector<std::uint32_t> all, std::size_t count)
{
  all.resize(count);
  std::ranges::sort(all);
  return all;
}

std::string name_of(row_cache_params const& params)
{
  return fmt::format("a cache of {} slots for {} rows", params.num_slots, params.num_rows);
}

/// Bytes of the lists that `fill` makes.
std::int64_t list_bytes(row_cache_params const& params)
{
  std::int64_t const lists_of_rows = params.policy == cache_policy::fixed ? 1 : 2;
  return static_cast<std::int64_t>(sizeof(std::uint32_t)) * (lists_of_rows * params.num_rows + params.num_slots);
}

/// make(). @throws memory_error where it finds too little memory.
template <class F>
auto with_memory(row_cache_params const& params, F make)
{
  try {
    return make();
  } catch (std::bad_alloc const&) {
    throw memory_error(fmt::format("{}: out of memory", name_of(params)));
  }
}

}  // namespace

void validate(row_cache_params const& params)
{
  TENDRIL_EXPECTS(params.num_rows >= 0, "a cache of {} rows, expected 0 or more", params.num_rows);
  TENDRIL_EXPECTS(params.num_slots >= 0 && params.num_slots <= params.num_rows,
                  "a cache of {} slots, expected 0 to {}, the number of rows", params.num_slots, params.num_rows);
  TENDRIL_EXPECTS(params.num_rows + params.num_slots < std::int64_t{no_vertex},
                  "a cache of {} slots for {} rows, expected less than 2^32 - 1 together", params.num_slots,
                  params.num_rows);
  TENDRIL_EXPECTS(params.window >= 1 && params.window <= static_cast<int>(core::cache_rule::most_known),
                  "a window of {} batches, expected 1 to {}", params.window, core::cache_rule::most_known);
}

row_cache::row_cache(row_cache_params const& params) : params_(params)
{
  validate(params);
  fill({});
}

void row_cache::fill(std::span<vertex_id const> rows)
{
  TENDRIL_EXPECTS(std::ssize(rows) <= params_.num_slots, "{} rows for a cache of {} slots", rows.size(),
                  params_.num_slots);
  base::expect_memory(list_bytes(params_), name_of(params_));
  auto const list_of = [&](std::int64_t size, std::uint32_t value) {
    return with_memory(params_, [&] { return std::vector<std::uint32_t>(static_cast<std::size_t>(size), value); });
  };
  auto slot_of = list_of(params_.num_rows, no_vertex);
  auto content = list_of(params_.num_slots, no_vertex);
  auto states = list_of(params_.policy == cache_policy::fixed ? 0 : params_.num_rows, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TENDRIL_EXPECTS(rows[i] < slot_of.size(), "rows[{}] is {}, expected less than {}", i, rows[i], slot_of.size());
    TENDRIL_EXPECTS(slot_of[rows[i]] == no_vertex, "rows[{}] is {}, which is there already", i, rows[i]);
    slot_of[rows[i]] = static_cast<std::uint32_t>(i);
  }
  std::ranges::copy(rows, content.begin());
  slot_of_ = std::move(slot_of);
  content_ = std::move(content);
  states_ = std::move(states);
  known_.clear();
  num_seen_ = num_served_ = 0;
}

void row_cache::rank(std::span<std::uint8_t const> scores)
{
  TENDRIL_EXPECTS(std::ssize(scores) == params_.num_rows, "{} scores, expected one for each of {} rows", scores.size(),
                  params_.num_rows);
  with_memory(params_, [&] { scores_.assign(scores.begin(), scores.end()); });
}

void row_cache::see(std::span<vertex_id const> rows)
{
  TENDRIL_EXPECTS(std::ssize(known_) < params_.window, "{} batches are known and not served, expected fewer",
                  params_.window);
  TENDRIL_EXPECTS(std::ssize(rows) <= std::numeric_limits<int>::max(), "{} ids, expected less than 2^31", rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TENDRIL_EXPECTS(rows[i] < slot_of_.size(), "ids[{}] is {}, expected 0 to {}", i, rows[i], params_.num_rows - 1);
  }
  if (params_.policy == cache_policy::lookahead) {
    for (vertex_id const row : rows) { states_[row] |= core::cache_rule::bit_of(num_seen_); }
  }
  known_.emplace_back(rows.begin(), rows.end());
  ++num_seen_;
}

cache_step row_cache::serve()
{
  TENDRIL_EXPECTS(!known_.empty(), "no batch is known that was not served, expected one: see it first");
  std::vector<vertex_id> const rows = std::move(known_.front());
  known_.pop_front();
  cache_step step;
  classify(rows, step);
  if (params_.policy != cache_policy::fixed) { change(step); }
  ++num_served_;
  return step;
}

void row_cache::classify(std::vector<vertex_id> const& rows, cache_step& step)
{
  auto const num_slots = static_cast<std::uint32_t>(params_.num_slots);
  step.sources.reserve(rows.size());
  for (vertex_id const row : rows) {
    if (params_.policy == cache_policy::lookahead) { states_[row] &= ~core::cache_rule::bit_of(num_served_); }
    if (params_.policy == cache_policy::lru) { states_[row] = num_served_; }
    std::uint32_t const slot = slot_of_[row];
    step.sources.push_back(slot != no_vertex ? slot : num_slots + static_cast<std::uint32_t>(step.missed.size()));
    if (slot == no_vertex) { step.missed.push_back(row); }
  }
}

void row_cache::change(cache_step& step)
{
  core::cache_rule const rule{params_.policy};
  auto const bin_of = [&](vertex_id row) {
    if (row == no_vertex) { return core::cache_rule::empty_bin; }
    return rule.bin_of(states_[row], scores_.empty() ? std::uint8_t{0} : scores_[row], num_served_);
  };
  std::vector<std::uint32_t> best;  // positions of missed rows, each row once, soonest first
  std::unordered_set<vertex_id> listed;
  for (std::uint32_t i = 0; i < step.missed.size(); ++i) {
    if (listed.insert(step.missed[i]).second) { best.push_back(i); }
  }
  std::vector<std::uint32_t> worst(content_.size());  // slots, latest first
  std::iota(worst.begin(), worst.end(), 0U);
  auto const bin_in = [&](std::uint32_t position) { return bin_of(step.missed[position]); };
  auto const bin_out = [&](std::uint32_t slot) { return bin_of(content_[slot]); };
  std::ranges::stable_sort(best, std::ranges::less{}, bin_in);
  std::ranges::stable_sort(worst, std::ranges::greater{}, bin_out);
  std::size_t size = 0;
  while (size < std::min(best.size(), worst.size()) && bin_in(best[size]) < bin_out(worst[size])) { ++size; }
  step.kept = first_of(std::move(best), size);
  step.kept_slots = first_of(std::move(worst), size);
  for (std::size_t i = 0; i < step.kept.size(); ++i) {
    vertex_id const row = step.missed[step.kept[i]];
    std::uint32_t const slot = step.kept_slots[i];
    if (content_[slot] != no_vertex) { slot_of_[content_[slot]] = no_vertex; }
    content_[slot] = row;
    slot_of_[row] = slot;
  }
}

std::vector<vertex_id> best_rows(std::span<double const> scores, std::int64_t count)
{
  TENDRIL_EXPECTS(count >= 0 && count <= std::ssize(scores), "the best {} of {} rows, expected 0 to {}", count,
                  scores.size(), scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    TENDRIL_EXPECTS(!std::isnan(scores[i]), "scores[{}] is NaN, expected a number", i);
  }
  std::vector<vertex_id> rows(scores.size());
  std::iota(rows.begin(), rows.end(), vertex_id{0});
  auto const better = [&](vertex_id a, vertex_id b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; };
  std::ranges::partial_sort(rows, rows.begin() + count, better);
  rows.resize(static_cast<std::size_t>(count));
  return rows;
}

}  // namespace tendril
