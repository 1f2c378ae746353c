#include "gpu/batches/launches.hpp"

#include <algorithm>

#include <cuda_runtime_api.h>

#include "core/labor.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t word_bytes = sizeof(unsigned long long);

}  // namespace

void run_launches::enqueue(gpu_exec const& on)
{
  begin(on);
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    list_frontiers(hop, on);
    if (hop == 0 && space_.queue) { run_queue(block_.queue(), on); }
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) { sample(hop, t, on); }
    end_hop();
  }
  end(on);
}

void run_launches::begin(gpu_exec const& on)
{
  block_.upload(on);
  begin_batches(jobs_.begin(), on);
  number_all_seeds(on);
}

void run_launches::end(gpu_exec const& on)
{
  if (plan_.subgraph == subgraph_type::bidirectional && plan_.num_hops > 0) {
    std::int64_t const last = columns_.edges_after(plan_.launch_of(plan_.num_hops - 1, 0));
    add_reverses(block_.view(), block_.column(last), input_.num_batches, bounds_.edges(0).each, on);
  }
  block_.download(on);
}

void run_launches::number_all_seeds(gpu_exec const& on)
{
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    if (input_.seeds[type].empty()) { continue; }
    number_seeds(jobs_.seeds(type), on);
  }
}

void run_launches::list_frontiers(std::size_t hop, gpu_exec const& on)
{
  if (memory_.single()) { return; }  // new vertices went to the list at once
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    if (!memory_.is_expanded(type)) { continue; }
    list_job job;
    job.view = block_.view();
    job.type = static_cast<std::int32_t>(type);
    job.num_batches = input_.num_batches;
    job.from = plan_.all || hop == 0 ? nullptr : block_.column(block_.hop_begin(hop - 1, type));
    job.to = block_.column(block_.hop_begin(hop, type));
    job.begin = block_.column(columns_.list_begin(type));
    job.vertices = memory_.list_of(type, 0).vertices.data();
    job.group_of = memory_.list_of(type, 0).groups.data();
    job.most = bounds_.frontier(type).total;
    list_vertices(job, on);
  }
}

/// The memory may move when room is made for a launch.
labor_job run_launches::labor_of(std::size_t hop, std::size_t t) const
{
  labor_job out = plan_.labor_of(hop, t);
  out.memory = space_.labor.view(space_.counts.data(), space_.offsets.data(), space_.labor.weights.data());
  return out;
}

/// Counts picks, and works out where they go; there are places for `most`.
void run_launches::place_labor_picks(labor_job const& labor, expansion const& what, std::int64_t most,
                                     gpu_exec const& on)
{
  stage_labor(what, labor, on);
  auto& scan = space_.labor.scan;
  place_labor(labor, what.most_vertices, most, scan.data(), static_cast<std::size_t>(scan.size()), on);
}

/// Takes pre-zeroed tiles; after a launch whose picks were counted, whose size was not foreseen, it allocates more.
void run_launches::take_tiles(number_job& job, gpu_exec const& on)
{
  if (!late_) {
    jobs_.give_tiles(job);
    return;
  }
  std::int64_t const tiles = run_jobs::tiles_of(job);
  space_.grow(space_.late_tiles, tiles);
  job.tiles = space_.late_tiles.data();
  if (tiles == 0) { return; }
  TENDRIL_CUDA_TRY(cudaMemsetAsync(job.tiles, 0, static_cast<std::size_t>(tiles * word_bytes), on.stream));
}

void enqueue_picks(edge_plan const& type, bool replace, expansion const& what, void* race, gpu_exec const& on)
{
  switch (type.choice) {
    case samplers::edge_choice::uniform: pick_uniform(what, replace, on); break;
    case samplers::edge_choice::last: pick_last(what, on); break;
    case samplers::edge_choice::alias:
      if (type.sums) {
        pick_summed(what, summed_tables::of(type.sums.get()), on);
      } else {
        pick_alias(what, type.buckets->data(), on);
      }
      break;
    case samplers::edge_choice::race: pick_race(what, race, {}, on); break;
    case samplers::edge_choice::labor: break;  // whose number of picks is random
  }
}

void run_launches::sample(std::size_t hop, std::size_t t, gpu_exec const& on)
{
  edge_plan const& type = plan_.edges[t];
  std::int64_t const k = type.fanouts[hop];
  number_job job = jobs_.numbers(hop, t);
  expansion what = jobs_.picks(hop, t, job);
  if (plan_.is_counted(k)) {
    take_counted(hop, t, job, what, on);
  } else {
    job.most_slots = bounds_.take(t, k).total;
    if (plan_.labor && job.most_slots > 0) {
      labor_job const labor = labor_of(hop, t);
      place_labor_picks(labor, what, job.most_slots, on);
      pick_labor(what, labor, job.most_slots, on);
      job.offsets = labor.memory.offsets;
      job.row_weights = labor.memory.weights;
    } else if (job.most_slots > 0) {
      run_jobs::set_fanout(job, what, k);
      if (space_.queue) {
        fetch_picks(block_.queue(), what, static_cast<std::uint32_t>(hop), static_cast<std::uint32_t>(t), on);
      } else {
        enqueue_picks(type, plan_.replace, what, space_.race.data(), on);
      }
    }
  }
  number(job, what.most_vertices, on);
}

void run_launches::number(number_job& job, std::int64_t most_vertices, gpu_exec const& on)
{
  if (job.most_slots == 0) {
    write_indptr(job, most_vertices, on);
    return;
  }
  job.at = space_.at.data();
  if (job.offsets != nullptr) { write_indptr(job, most_vertices, on); }
  job.picked = space_.picked.data();
  take_tiles(job, on);
  number_picks(job, on);
}

void run_launches::make_room(std::size_t hop, std::size_t t, size_bound const& picks, gpu_exec const& on)
{
  if (picks.total >= plan_.limits.picks) { throw too_many_picks{hop, picks.total}; }
  memory_.make_room(hop, t, picks, on);
  late_ = true;
}

/// All neighbours, or LABOR's: counted first, then memory is found for them and what follows.
void run_launches::take_counted(std::size_t hop, std::size_t t, number_job& job, expansion& what, gpu_exec const& on)
{
  std::int64_t host[2] = {};
  if (what.most_vertices > 0) {
    space_.grow(space_.counts, what.most_vertices);
    space_.grow(space_.offsets, what.most_vertices + 1);
    if (plan_.labor) {
      place_labor_picks(labor_of(hop, t), what, unbounded, on);
    } else {
      count_all(what, space_.counts.data(), on);
      make_offsets(space_.counts.data(), what.most_vertices, space_.offsets.data(), on);
    }
    std::int64_t* const sizes = block_.column(columns_.sizes());
    measure_picks(space_.offsets.data(), job.from.num, job.from.begin, input_.num_batches, sizes, on);
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(host, sizes, sizeof host, cudaMemcpyDeviceToHost, on.stream));
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(on.stream));  // the call's block has been read, too, and can be written again
  size_bound const picks{host[1], host[0]};
  make_room(hop, t, picks, on);
  job = jobs_.numbers(hop, t);
  if (picks.total == 0) { return; }
  what = jobs_.picks(hop, t, job);
  job.offsets = space_.offsets.data();
  job.most_slots = picks.total;
  if (plan_.labor) {
    labor_job const labor = labor_of(hop, t);
    job.row_weights = labor.memory.weights;
    pick_labor(what, labor, picks.total + 1, on);
  } else {
    pick_all(what, space_.offsets.data(), on);
  }
}

}  // namespace tendril::gpu
