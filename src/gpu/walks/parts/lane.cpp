#include "gpu/walks/parts/lane.hpp"

#include <algorithm>
#include <cstring>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/walks/moving/columns.hpp"

namespace tendril::gpu {
namespace {

/// What a rank tells each other one after a step.
struct step_head {
  std::int64_t walkers;   ///< That it sends there.
  std::int64_t vertices;  ///< As well.
  std::int64_t alive;     ///< Walkers that it sends to all, or keeps.
};

}  // namespace

part_lane::part_lane(part_setting const& setting, part_counts& counts) : setting_(setting), counts_(counts)
{
  memory_resource& own = gpu_memory(setting.device, stream_.get());
  std::int64_t const each = setting.rounds.batch;
  std::int64_t const all = checked_product("walks of a batch", each, num_ranks());
  starts_ = buffer<vertex_id>(each, own);
  if (setting.may_restart) { all_starts_ = buffer<vertex_id>(all, own); }
  columns_ = buffer<vertex_id>(checked_product("walks of a batch", each, setting.length + std::int64_t{1}), own);
  for (auto* box : {&arrived_, &stepped_, &walkers_, &vertices_}) { *box = buffer<moved_vertex>(all, own); }
  told_ = buffer<moved_vertex>(each, own);
  tallies_ = buffer<std::byte>(sizeof(part_step::count) + sizeof(part_step::tally), own);
  count_ = buffer<part_step::count>(1, pinned_memory());
}

part_lane::~part_lane() { stream_.settle(); }

part_step part_lane::step_here()
{
  part_step at{};
  at.rank = rank();
  at.num_ranks = num_ranks();
  at.may_end = setting_.may_stop || setting_.may_restart;
  at.step = static_cast<std::int32_t>(supersteps_);
  at.length = setting_.length;
  at.walks_each = static_cast<std::uint32_t>(setting_.rounds.batch);
  std::transform(setting_.whole.bounds.begin(), setting_.whole.bounds.end(), at.bounds,
                 [](std::int64_t bound) { return static_cast<vertex_id>(bound); });
  std::transform(setting_.rounds.first_ids.begin(), setting_.rounds.first_ids.end(), at.first_walks,
                 [&](std::int64_t first) { return static_cast<std::uint64_t>(first + round_ * at.walks_each); });
  at.starts = all_starts_.data();
  at.arrived = arrived_.data();
  at.num_arrived = num_arrived_;
  at.told = told_.data();
  at.num_told = num_told_;
  at.columns = columns_.data();
  at.stepped = stepped_.data();
  at.counts = reinterpret_cast<part_step::count*>(tallies_.data());
  at.cursors = reinterpret_cast<part_step::tally*>(at.counts + 1);
  at.staying = arrived_.data();
  at.walkers = walkers_.data();
  at.vertices = vertices_.data();
  return at;
}

void part_lane::launch(part_step const& at, std::int64_t size)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(tallies_.data(), 0, static_cast<std::size_t>(tallies_.size()), stream()));
  walk_batch batch{};
  batch.starts = starts_.data();
  batch.size = num_walks_;
  batch.num_vertices = setting_.job.graph.num_vertices;
  batch.length = setting_.length;
  walk_shape shape{false, setting_.may_stop, setting_.may_restart, setting_.may_die, setting_.device, stream(), nullptr,
                   &at};
  setting_.launch(setting_.job, batch, shape);
  stream_.copy(count_.data(), at.counts, 1, cudaMemcpyDeviceToHost);
  TENDRIL_CUDA_TRY(cudaEventRecord(counted_.get(), stream()));
  sort_by_rank(at, size, setting_.device, stream());  // while the host learns how much there is
}

void part_lane::share_starts()
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

void part_lane::start(std::int64_t round, std::span<vertex_id const> starts)
{
  round_ = round;
  supersteps_ = 0;
  num_walks_ = std::ssize(starts);
  num_arrived_ = num_told_ = 0;
  stream_.copy(starts_.data(), starts.data(), num_walks_, cudaMemcpyDefault);
  if (setting_.may_restart) { share_starts(); }
  if (setting_.may_stop || setting_.may_die) {
    auto const bytes = static_cast<std::size_t>(columns_.size()) * sizeof(vertex_id);
    TENDRIL_CUDA_TRY(cudaMemsetAsync(columns_.data(), 0xff, bytes, stream()));  // no_vertex
  }
  part_step at = step_here();
  at.begins = true;
  launch(at, num_walks_);
}

void part_lane::step()
{
  launch(step_here(), num_arrived_);
  ++supersteps_;
}

bool part_lane::finish()
{
  wait_among_ranks(setting_.ranks, "a step of walkers", [&] { return counted_.is_done(); });
  part_step::tally const& sent = count_[0].sent;
  auto const here = static_cast<std::size_t>(rank());
  step_head head{};
  for (std::size_t r = 0; r < static_cast<std::size_t>(num_ranks()); ++r) {
    head.alive += sent.walkers[r];
    counts_.moved += r == here ? 0 : sent.walkers[r];
  }
  counts_.steps += count_[0].taken;

  std::vector<message> messages;
  for (std::size_t r = 0; r < static_cast<std::size_t>(num_ranks()); ++r) {
    message& m = messages.emplace_back(setting_.ranks.pool().take(sizeof head));
    head.walkers = sent.walkers[r];
    head.vertices = sent.vertices[r];
    m.append(&head, sizeof head);
  }
  std::vector<message> heads = setting_.ranks.all_to_all("a step of walkers", messages);

  std::vector<parcel> out, in;
  moved_vertex* walkers = walkers_.data();
  moved_vertex* vertices = vertices_.data();
  moved_vertex* arrived = arrived_.data() + sent.walkers[here];
  moved_vertex* told = told_.data();
  std::int64_t alive = 0;
  auto const take = [](std::vector<parcel>& list, int other, moved_vertex*& from, std::int64_t count) {
    list.push_back({other, from, count * static_cast<std::int64_t>(sizeof(moved_vertex))});
    from += count;
  };
  for (int r = 0; r < num_ranks(); ++r) {
    auto const at = static_cast<std::size_t>(r);
    step_head theirs{};
    std::memcpy(&theirs, heads[at].data(), sizeof theirs);
    alive += theirs.alive;
    if (r == rank()) { continue; }
    take(out, r, walkers, sent.walkers[at]);
    take(out, r, vertices, sent.vertices[at]);
    take(in, r, arrived, theirs.walkers);
    take(in, r, told, theirs.vertices);
  }
  for (message& used : heads) { setting_.ranks.pool().give_back(std::move(used)); }
  num_arrived_ = arrived - arrived_.data();
  num_told_ = told - told_.data();
  setting_.messages.exchange(out, in, stream());
  return alive > 0;
}

void part_lane::write_rows(vertex_id* rows, std::int32_t* lengths)
{
  gpu_exec const exec(setting_.device, stream());
  std::int64_t const each = setting_.rounds.batch;
  deliver_vertices(told_.data(), num_told_, columns_.data() + supersteps_ * each,
                   static_cast<std::uint32_t>(rank() * each), exec);
  gpu::write_rows({columns_.data(), num_walks_, each, setting_.length, setting_.repeat_dead_ends}, rows, lengths, exec);
}

}  // namespace tendril::gpu
