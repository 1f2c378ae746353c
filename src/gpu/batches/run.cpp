// The launches of a group of mini-batches, hop by hop.

#include "gpu/batches/run.hpp"

#include <algorithm>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t word_bytes = sizeof(unsigned long long);

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

void batch_run::enqueue(gpu_exec const& on)
{
  auto& host = space_.host_blocks[slot_];
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(space_.block.data(), host.data(),
                                   static_cast<std::size_t>((call_words_ + status_words) * word_bytes),
                                   cudaMemcpyHostToDevice, on.stream));
  begin_job job;
  job.view = view();
  job.table = table();
  job.zeros = reinterpret_cast<unsigned long long*>(column(0));
  job.num_zeros = columns_.num_words();
  job.groups = space_.groups.data();
  job.at = space_.at.data();
  job.bad_seed = space_.block.data() + call_words_;
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    job.most_seeds = std::max(job.most_seeds, bounds_.nodes(type).total);
  }
  job.most_groups = space_.groups.size();
  begin_batches(job, on);
  number_all_seeds(on);
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    if (!single()) { list_frontiers(hop, on); }
    if (hop == 0 && space_.queue) { run_queue(queue_now(), on); }
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) { sample(hop, t, on); }
    bounds_.end_hop();
  }
  if (plan_.subgraph == subgraph_type::bidirectional && plan_.num_hops > 0) {
    std::int64_t const last = columns_.edges_after(launch_of(plan_.num_hops - 1, 0));
    add_reverses(view(), column(last), input_.num_batches, bounds_.edges(0).each, on);
  }
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(host.data() + call_words_ + status_words, space_.block.data() + call_words_,
                                   static_cast<std::size_t>((status_words + columns_.report_words()) * word_bytes),
                                   cudaMemcpyDeviceToHost, on.stream));
}

void batch_run::number_all_seeds(gpu_exec const& on)
{
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    if (input_.seeds[type].empty()) { continue; }
    number_job job;
    job.view = view();
    job.table = table();
    job.to = static_cast<std::int32_t>(type);
    job.single = single();
    job.at = space_.at.data();
    job.most_slots = seed_bounds(input_, true)[type].total;
    job.known_after = column(columns_.seeds_known(type));
    if (single() && plan_.num_hops > 0) {
      job.next_vertices = list_of(type, 0).vertices.data();
      job.next_groups = list_of(type, 0).groups.data();
    }
    job.edges_added = column(columns_.edges_added());
    job.vertices_added = column(columns_.vertices_added());
    job.ticket = ticket(type);
    take_tiles(job, job.most_slots, on);
    number_seeds(job, on);
  }
}

/// Lists whom the hop expands: of many batches what is new lies in as many places.
void batch_run::list_frontiers(std::size_t hop, gpu_exec const& on)
{
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    if (!is_expanded(type)) { continue; }
    list_job job;
    job.view = view();
    job.type = static_cast<std::int32_t>(type);
    job.num_batches = input_.num_batches;
    job.from = plan_.all || hop == 0 ? nullptr : column(hop_begin_[hop - 1][type]);
    job.to = column(hop_begin_[hop][type]);
    job.begin = column(columns_.list_begin(type));
    job.vertices = list_of(type, 0).vertices.data();
    job.group_of = list_of(type, 0).groups.data();
    job.most = bounds_.frontier(type).total;
    list_vertices(job, on);
  }
}

number_job batch_run::job_of(std::size_t hop, std::size_t t) const
{
  edge_plan const& type = plan_.edges[t];
  std::size_t const from = index_of(type.from);
  std::size_t const to = index_of(type.to);
  std::size_t const launch = launch_of(hop, t);
  bool const alternates = single() && !plan_.all;
  number_job job;
  job.view = view();
  job.table = table();
  job.to = type.to;
  job.edge_type = static_cast<std::int32_t>(t);
  job.single = single();
  auto& list = list_of(from, alternates ? hop % 2 : 0);
  job.from = {list.vertices.data(), list.groups.data(), nullptr, nullptr};
  if (!single()) {
    job.from.begin = column(columns_.list_begin(from));
    job.from.num = job.from.begin + input_.num_batches;
  } else {
    job.from.num = column(plan_.all || hop == 0 ? hop_begin_[hop][from] : columns_.next_count(hop, from));
  }
  job.graph = type.graph;
  job.keeps_numbers = launch + 1 < plan_.num_launches() || plan_.subgraph == subgraph_type::induced;
  job.first = plan_.all || hop == 0 ? nullptr : column(hop_begin_[hop - 1][from]);
  job.known = column(known_[launch][to]);
  if (hop > 0) {
    job.edges_before = column(columns_.edges_after(launch_of(hop - 1, t)));
    job.expanded_before = column(columns_.expanded_after(launch_of(hop - 1, t)));
  }
  job.known_after = column(columns_.known_after(launch));
  job.edges_after = column(columns_.edges_after(launch));
  job.expanded_after = column(columns_.expanded_after(launch));
  if (single() && hop + 1 < plan_.num_hops) {
    auto& next = list_of(to, alternates ? (hop + 1) % 2 : 0);
    job.next_vertices = next.vertices.data();
    job.next_groups = next.groups.data();
    if (!plan_.all) {
      job.next_base = column(hop_begin_[hop][to]);
      job.next_count = column(columns_.next_count(hop + 1, to));
    }
  }
  job.edges_added = column(columns_.edges_added());
  job.vertices_added = column(columns_.vertices_added());
  job.ticket = ticket(plan_.num_types() + launch);
  return job;
}

expansion batch_run::expansion_of(std::size_t hop, std::size_t t, number_job const& job) const
{
  edge_plan const& type = plan_.edges[t];
  expansion what;
  what.graph = type.graph;
  what.times = type.times;
  what.ordinal = type.ordinal;
  what.num_vertices = job.from.num;
  what.most_vertices = bounds_.frontier(index_of(type.from)).total;
  what.vertices = job.from.vertices;
  what.group_of = job.from.group_of;
  what.groups = space_.groups.data();
  what.step = static_cast<std::uint32_t>(hop) | static_cast<std::uint32_t>(t) << 16U;
  what.picked = space_.picked.data();
  what.sink.table = job.table;
  what.sink.at = space_.at.data();
  what.sink.first_stamp = &job.view.call->first_stamp;
  what.sink.num_types = job.view.num_types;
  what.sink.to = type.to;
  what.sink.num_vertices = plan_.num_vertices[index_of(type.to)];
  return what;
}

/// The next tiles of the zeroed ones; behind a fan-out of -1, which nobody could foresee, others.
void batch_run::take_tiles(number_job& job, std::int64_t picks, gpu_exec const& on)
{
  std::int64_t const tiles = (picks + number_tile_slots - 1) / number_tile_slots;
  if (!late_) {
    job.tiles = reinterpret_cast<unsigned long long*>(column(columns_.tiles() + next_tile_));
    next_tile_ += tiles;
    return;
  }
  space_.grow(space_.late_tiles, tiles);
  job.tiles = space_.late_tiles.data();
  if (tiles == 0) { return; }
  TENDRIL_CUDA_TRY(cudaMemsetAsync(job.tiles, 0, static_cast<std::size_t>(tiles * word_bytes), on.stream));
}

void batch_run::pick(edge_plan const& type, expansion const& what, gpu_exec const& on) const
{
  switch (type.choice) {
    case samplers::edge_choice::uniform: pick_uniform(what, plan_.replace, on); break;
    case samplers::edge_choice::last: pick_last(what, on); break;
    case samplers::edge_choice::alias: pick_alias(what, type.buckets->data(), on); break;
    case samplers::edge_choice::race: pick_race(what, space_.race.data(), true, on); break;
  }
}

void batch_run::sample(std::size_t hop, std::size_t t, gpu_exec const& on)
{
  edge_plan const& type = plan_.edges[t];
  std::int64_t const k = type.fanouts[hop];
  number_job job = job_of(hop, t);
  expansion what = expansion_of(hop, t, job);
  if (k < 0) {
    take_all(hop, t, job, what, on);
  } else {
    job.most_slots = bounds_.take(t, k).total;
    if (job.most_slots > 0) {
      what.fanout = static_cast<std::uint32_t>(k);
      job.fanout = what.fanout;
      job.by_fanout = core::fast_divisor(what.fanout);
      if (space_.queue) {
        fetch_picks(queue_now(), what, static_cast<std::uint32_t>(hop), static_cast<std::uint32_t>(t), on);
      } else {
        pick(type, what, on);
      }
    }
  }
  if (job.most_slots == 0) {
    write_indptr(job, what.most_vertices, on);
    return;
  }
  job.at = space_.at.data();
  if (k < 0) { write_indptr(job, what.most_vertices, on); }
  job.picked = space_.picked.data();
  take_tiles(job, job.most_slots, on);
  number_picks(job, on);
}

/// All neighbours: counted first, then memory is found for them and what follows.
void batch_run::take_all(std::size_t hop, std::size_t t, number_job& job, expansion& what, gpu_exec const& on)
{
  std::int64_t host[2] = {};
  if (what.most_vertices > 0) {
    space_.grow(space_.counts, what.most_vertices);
    space_.grow(space_.offsets, what.most_vertices + 1);
    count_all(what, space_.counts.data(), on);
    make_offsets(space_.counts.data(), what.most_vertices, space_.offsets.data(), on);
    std::int64_t* const sizes = column(columns_.sizes());
    measure_picks(space_.offsets.data(), job.from.num, job.from.begin, input_.num_batches, sizes, on);
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(host, sizes, sizeof host, cudaMemcpyDeviceToHost, on.stream));
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(on.stream));  // the call's block has been read, too, and can be written again
  size_bound const picks{host[1], host[0]};
  if (picks.total >= plan_.limits.picks) { throw too_many_picks{hop, picks.total}; }
  bounds_.take_all(t, picks);
  batch_forecast next = batch_forecast::of(plan_, bounds_, hop, t + 1);
  next.picks = std::max(next.picks, picks.total);
  // New vertices of this hop go to the next list before the forecast sees them as a hop's.
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    next.lists[type] = std::max(next.lists[type], bounds_.next(type).total);
  }
  grow(next, first_stamp_);
  ahead_ = next;
  late_ = true;
  batch_output larger(room_of(plan_, next.bounds, space_.expected), input_.num_batches, memory_of(exec_));
  larger.take_over(slab_, on);
  slab_ = std::move(larger);
  write_block();
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(space_.block.data(), space_.host_blocks[slot_].data(),
                                   static_cast<std::size_t>(call_words_ * word_bytes), cudaMemcpyHostToDevice,
                                   on.stream));
  job = job_of(hop, t);
  if (picks.total == 0) { return; }
  what = expansion_of(hop, t, job);
  job.offsets = space_.offsets.data();
  job.most_slots = picks.total;
  pick_all(what, space_.offsets.data(), on);
}

}  // namespace tendril::gpu
