// Steps on a part that others decide (tendril/engine/walks/part_kernels.cuh): walkers are described to them, and taken where they
// go. 24 bytes a walker written and read for that, and 8 of the decision.

#include "gpu/walks/parts/part_step.cuh"

namespace tendril::gpu {
namespace {

template <class Walker>
__global__ __launch_bounds__(part_step_threads) void describe_kernel(__grid_constant__ part_step<Walker> const at,
                                                                     engine::part_walker* out)
{
  for (std::int64_t i = global_thread(); i < at.num_arrived; i += grid_stride()) {
    Walker const walker = load_walker(at.arrived + i);
    vertex_id const start = at.starts != nullptr ? at.starts[walker.walk] : at.step == 0 ? walker.vertex : no_vertex;
    vertex_id previous = no_vertex;
    if constexpr (requires { walker.previous; }) { previous = walker.previous; }
    out[i] = {at.id_of(walker.walk, at.home_of(walker.walk)), at.step, start, walker.vertex, previous};
  }
}

template <class Walker>
__global__ __launch_bounds__(part_step_threads) void decided_kernel(__grid_constant__ part_step<Walker> const at,
                                                                    vertex_id const* starts, std::int64_t num_starts)
{
  take_steps<engine::decided_step>(
      at, starts, num_starts, [&](engine::decided_step& made, std::int64_t i, Walker const&) { made = at.decided[i]; },
      [&](engine::decided_step const& made, Walker const& walker) {
        if (made.turn == engine::part_turn::moved) { return walker_at<Walker>(walker.walk, made.next, walker.vertex); }
        if (made.turn == engine::part_turn::restarts) {
          return walker_at<Walker>(walker.walk, at.starts[walker.walk], no_vertex);
        }
        bool const is_dead = made.turn == engine::part_turn::dead;
        if (is_dead && at.dead != nullptr && at.home_of(walker.walk) == at.rank) {
          at.dead[walker.walk - at.first_here()] = 1;
        }
        return part_step<Walker>::ended(walker.walk, is_dead);
      });
}

}  // namespace

template <class Walker>
void describe_walkers(part_step<Walker> const& at, engine::part_walker* out, cuda_stream stream)
{
  if (at.num_arrived == 0) { return; }
  describe_kernel<<<grid_blocks(at.num_arrived, part_step_threads), part_step_threads, 0, stream>>>(at, out);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

template <class Walker>
void take_decided_steps(part_step<Walker> const& at, vertex_id const* starts, std::int64_t num_starts, int device,
                        cuda_stream stream)
{
  static std::int64_t const resident = resident_blocks(decided_kernel<Walker>, part_step_threads, 0, device);
  decided_kernel<<<part_step_blocks(at, num_starts, resident), part_step_threads, 0, stream>>>(at, starts, num_starts);
  TENDRIL_CUDA_TRY(cudaGetLastError());
}

template void describe_walkers(part_step<moved_vertex> const&, engine::part_walker*, cuda_stream);
template void describe_walkers(part_step<trailing_walker> const&, engine::part_walker*, cuda_stream);
template void take_decided_steps(part_step<moved_vertex> const&, vertex_id const*, std::int64_t, int, cuda_stream);
template void take_decided_steps(part_step<trailing_walker> const&, vertex_id const*, std::int64_t, int, cuda_stream);

}  // namespace tendril::gpu
