#include "gpu/walks/parts/lane.hpp"

#include <array>
#include <cstring>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/walks/moving/columns.hpp"

namespace tendril::gpu {
namespace {

constexpr std::size_t most_kinds = 3;

/// What a rank tells each other one after a step.
struct step_head {
  std::array<std::int64_t, most_kinds> records;  ///< That it sends there, of each kind.
  std::int64_t alive;                            ///< Walkers that it sends to all, or keeps.
};

}  // namespace

walk_lane::walk_lane(part_setting const& setting, part_counts& counts, int num_kinds)
    : setting_(setting), counts_(counts), num_kinds_(num_kinds), num_here_(static_cast<std::size_t>(num_kinds))
{
  std::int64_t const each = setting.rounds.batch;
  starts_ = buffer<vertex_id>(each, memory());
  if (setting.may_restart || setting.knows_starts) { all_starts_ = buffer<vertex_id>(all_walks(), memory()); }
  bool const rows = setting.keeps_rows();
  if (rows && setting.decider && setting.repeat_dead_ends) { dead_ = buffer<std::uint8_t>(each, memory()); }
  if (rows) {
    columns_ = buffer<vertex_id>(checked_product("walks of a batch", each, setting.length + std::int64_t{1}), memory());
  }
  std::int64_t const tally = checked_product("records of a step", num_kinds_, std::int64_t{most_ranks});
  constexpr std::int64_t more = sizeof(step_count<unsigned>) / sizeof(unsigned) - 1;  // steps, and questions
  tallies_ = buffer<unsigned>(tally + more, memory());
  count_ = buffer<unsigned>(tally + more, pinned_memory());
}

walk_lane::~walk_lane() { settle(); }

std::int64_t walk_lane::all_walks() const
{
  return checked_product("walks of a batch", setting_.rounds.batch, std::int64_t{num_ranks()});
}

part_ranks walk_lane::describe(bool begins)
{
  part_ranks at{};
  at.rank = rank();
  at.num_ranks = num_ranks();
  at.begins = begins;
  at.may_end = setting_.may_stop || setting_.may_restart;
  at.length = setting_.length;
  at.walks_each = static_cast<std::uint32_t>(setting_.rounds.batch);
  std::transform(setting_.whole.bounds.begin(), setting_.whole.bounds.end(), at.bounds,
                 [](std::int64_t bound) { return static_cast<vertex_id>(bound); });
  std::transform(setting_.rounds.first_ids.begin(), setting_.rounds.first_ids.end(), at.first_walks,
                 [&](std::int64_t first) { return static_cast<std::uint64_t>(first + round_ * at.walks_each); });
  at.starts = all_starts_.data();
  at.columns = columns_.data();
  return at;
}

vertex_counters walk_lane::counters() const
{
  return setting_.counts == nullptr ? vertex_counters{} : setting_.counts->view();
}

void walk_lane::clear_counts()
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(tallies_.data(), 0, tallies_.span().size_bytes(), stream()));
}

void walk_lane::tell_counts()
{
  auto const bytes = static_cast<std::size_t>(count_.size()) * sizeof(unsigned);
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(count_.data(), tallies_.data(), bytes, cudaMemcpyDeviceToHost, stream()));
  TENDRIL_CUDA_TRY(cudaEventRecord(counted_.get(), stream()));
}

walk_batch walk_lane::starts_batch() const
{
  walk_batch batch{};
  batch.starts = starts_.data();
  batch.size = num_walks_;
  batch.num_vertices = setting_.whole.num_vertices;
  batch.length = setting_.length;
  return batch;
}

walk_shape walk_lane::shape() const
{
  return {false, setting_.may_stop, setting_.may_restart, setting_.may_die, setting_.device, stream()};
}

void walk_lane::share_starts()
{
  std::vector<parcel> sent, received;
  std::int64_t const each = setting_.rounds.batch;
  auto const bytes = static_cast<std::int64_t>(sizeof(vertex_id)) * each;
  vertex_id* const own = all_starts_.data() + rank() * each;
  stream_.copy(own, static_cast<vertex_id const*>(starts_.data()), num_walks_, cudaMemcpyDeviceToDevice);
  for (int r = 0; r < num_ranks(); ++r) {
    if (r == rank()) { continue; }
    sent.push_back({r, own, bytes});
    received.push_back({r, all_starts_.data() + r * each, bytes});
  }
  setting_.messages.exchange(sent, received, stream());
}

void walk_lane::start(std::int64_t round, std::span<vertex_id const> starts)
{
  round_ = round;
  supersteps_ = 0;
  num_walks_ = std::ssize(starts);
  std::fill(num_here_.begin(), num_here_.end(), 0);
  stream_.copy(starts_.data(), starts.data(), num_walks_, cudaMemcpyDefault);
  if (!all_starts_.empty()) { share_starts(); }
  if (!columns_.empty() && (setting_.may_stop || setting_.may_die)) {
    auto const bytes = static_cast<std::size_t>(columns_.size()) * sizeof(vertex_id);
    TENDRIL_CUDA_TRY(cudaMemsetAsync(columns_.data(), 0xff, bytes, stream()));  // no_vertex
  }
  if (!dead_.empty()) { TENDRIL_CUDA_TRY(cudaMemsetAsync(dead_.data(), 0, dead_.span().size_bytes(), stream())); }
  launch(true);
}

void walk_lane::step()
{
  launch(false);
  ++supersteps_;
}

bool walk_lane::finish()
{
  wait_among_ranks(setting_.ranks, "a step of walkers", [&] { return counted_.is_done(); });
  check_step();
  std::vector<record_kind> const what = kinds();
  step_head head{};
  for (int r = 0; r < num_ranks(); ++r) {
    for (std::size_t k = 0; k < what.size(); ++k) { head.alive += what[k].is_walker ? sent(k, r) : 0; }
    counts_.moved += r == rank() ? 0 : sent(0, r);
  }
  counts_.steps += count_[num_kinds_ * most_ranks];
  counts_.asked += count_[num_kinds_ * most_ranks + 1];

  std::vector<message> messages;
  for (int r = 0; r < num_ranks(); ++r) {
    message& m = messages.emplace_back(setting_.ranks.pool().take(sizeof head));
    for (std::size_t k = 0; k < what.size(); ++k) { head.records[k] = sent(k, r); }
    m.append(&head, sizeof head);
  }
  std::vector<message> heads = setting_.ranks.all_to_all("a step of walkers", messages);

  std::vector<parcel> out, in;
  std::int64_t alive = 0;
  std::fill(num_here_.begin(), num_here_.end(), 0);
  num_here_[0] = sent(0, rank());
  for (int r = 0; r < num_ranks(); ++r) {
    step_head theirs{};
    std::memcpy(&theirs, heads[static_cast<std::size_t>(r)].data(), sizeof theirs);
    alive += theirs.alive;
    if (r == rank()) { continue; }
    for (std::size_t k = 0; k < what.size(); ++k) {
      record_kind const& kind = what[k];
      std::int64_t const bytes = kind.record_bytes;
      std::int64_t const count = sent(k, r);
      out.push_back({r, kind.sent + kind.boxes.first(r, count) * bytes, count * bytes});
      in.push_back({r, kind.received + num_here_[k] * bytes, theirs.records[k] * bytes});
      num_here_[k] += theirs.records[k];
    }
  }
  for (message& used : heads) { setting_.ranks.pool().give_back(std::move(used)); }
  setting_.messages.exchange(out, in, stream());
  return alive > 0;
}

void walk_lane::write_rows(vertex_id* rows, std::int32_t* lengths)
{
  deliver_rest();
  std::int64_t const first = setting_.rounds.first_ids[static_cast<std::size_t>(rank())];
  gpu::write_rows({columns_.data(), num_walks_, setting_.rounds.batch, setting_.length, setting_.repeat_dead_ends,
                   setting_.may_stop, setting_.ends, static_cast<std::uint64_t>(first + round_ * setting_.rounds.batch),
                   dead_.data()},
                  rows, lengths, gpu_exec(setting_.device, stream()));
}

}  // namespace tendril::gpu
