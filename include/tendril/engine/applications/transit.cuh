// Transit-parallel execution of sampling applications, for nvcc and NVRTC: all calls of a step for one transit run
// together (NextDoor: Jangda, Polisetty, Guha, Serafini, EuroSys'21, sections 5.2 and 6). Inputs and random numbers of
// a call: engine/applications/step.hpp. CPU twin: engine/applications/cpu.hpp. Assignment of calls to threads:
// engine/applications/transit_teams.cuh. Host side: src/gpu/applications/transit.cpp; the map from transits to calls:
// src/gpu/applications/make_transit_map.cu.
//
// next() is a pure function of its arguments, so the order of calls is free: grouping calls never changes a sample.
//
// Cost before the first call, for P pairs of a sample and a transit: one pass of P threads that looks up the transits,
// a sort of P pairs of 4 + 4 bytes (17 G/s of 8-byte keys on an H200: P / 17 ns), two more passes over P, and about 14
// launches of 3 us. A step whose calls read O(1) edges takes less time than this in all (one gather per call, 40 G/s).
// Grouping therefore pays only if calls read whole lists, since neighbouring threads then read the same addresses.

#pragma once

#include <cstddef>
#include <cstdint>

#include <tendril/engine/applications/calls.cuh>
#include <tendril/engine/applications/transit_map.hpp>
#include <tendril/engine/applications/transit_teams.cuh>

namespace tendril::engine {

/// Writes no_vertex into the slots of pairs without a transit. `out` is the first slot of the lane's pair; only lanes
/// with `empty` set write. Whole warp.
__device__ __forceinline__ void clear_slots(vertex_id* out, std::uint32_t num_slots, bool empty)
{
  if (num_slots <= 8) {
    for (std::uint32_t k = 0; empty && k < num_slots; ++k) { out[k] = no_vertex; }
    return;
  }
  for (unsigned left = __ballot_sync(0xffffffffU, empty); left != 0; left &= left - 1) {
    auto const first =
        __shfl_sync(0xffffffffU, reinterpret_cast<unsigned long long>(out), __ffs(static_cast<int>(left)) - 1);
    auto* const slots = reinterpret_cast<vertex_id*>(first);
    for (std::uint32_t k = threadIdx.x % 32; k < num_slots; k += 32) { slots[k] = no_vertex; }
  }
}

/// Looks up the transit of every pair of a task and stores it in task.transits; no_vertex if there is none or the
/// sample has ended. Transit-parallel steps call step_transits() only here, once per pair, since it may write the
/// sample's state. The slots of pairs without a transit are cleared here, since no run of the map contains these pairs.
/// Any grid of whole warps, in a loop.
template <class A, class View>
__global__ __launch_bounds__(transit_threads) void transit_kernel(A const __grid_constant__ app,
                                                                  application_setup<View> const __grid_constant__ setup,
                                                                  transit_task const __grid_constant__ task)
{
  std::uint64_t problem = problem_code::none;
  step_shape const& shape = setup.shape(task.step);
  auto const m = static_cast<std::uint32_t>(shape.sample_size);
  step_place const& place = setup.places()[task.step + 1];
  std::uint64_t const stride = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t const thread = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint32_t const lane = threadIdx.x % 32;
  for (std::uint64_t base = thread - lane; base < task.num_pairs; base += stride) {  // uniform within a warp
    bool const is_pair = base + lane < task.num_pairs;
    vertex_id transit = no_vertex;
    vertex_id* out = nullptr;
    if (is_pair) {
      auto const pair = static_cast<std::uint32_t>(base + lane);
      std::uint32_t const row = shape.by_transits.quotient(pair);
      std::uint32_t const i = pair - row * shape.by_transits.divisor();
      std::int64_t const index = task.first_index + row;
      out = place.vertices + index * place.stride + std::int64_t{i} * m;
      if (!has_ended(setup, index, task.step)) {
        auto const sample = view_of<A>(setup, index, task.step);
        vertex_id const v = transit_of(app, setup, sample, i);
        transit = is_transit(sample, index, v, problem) ? v : no_vertex;
      }
      task.transits[pair] = transit;
    }
    if constexpr (!is_collective<A>) { clear_slots(out, m, is_pair && transit == no_vertex); }
  }
  report_problem(task.problem, problem);
}

/// The calls of next() for a transit.
template <class A, class View>
class transit_calls {
 public:
  __device__ transit_calls(A const& app, application_setup<View> const& setup, transit_task const& task)
      : app_(app),
        setup_(setup),
        task_(task),
        shape_(setup.shape(task.step)),
        place_(setup.places()[task.step + 1]),
        key_(setup.key(task.step)),
        sample_size_(static_cast<std::uint32_t>(shape_.sample_size))
  {
  }

  [[nodiscard]] __device__ std::size_t entry_bytes() const
  {
    return sizeof(vertex_id) + (setup_.graph.has_weights() ? sizeof(float) : 0);
  }
  [[nodiscard]] __device__ std::uint32_t items_a_pair() const
  {
    return application_has::scans<A> ? sample_size_ : shape_.by_pairs.divisor();
  }

  /// Opens a list. A list that fits is copied to the cache if all of it is read, or if the copy costs no more 32-byte
  /// sectors than the calls would gather; any other list is read in place. `edges` shows the same values in both cases.
  __device__ void open(transit_run const& run, unsigned char* cache, std::uint32_t cache_entries, std::uint32_t lane,
                       std::uint32_t size)
  {
    transit_ = run.transit;
    row_type const row = setup_.graph.row(run.transit);
    edges_ = list_type(row);
    std::uint32_t const degree = row.degree();
    bool const read_often = application_has::scans<A> || degree <= 8 * std::uint64_t{run.size} * sample_size_;
    if (std::uint64_t{degree} + row_type::beyond_copy > cache_entries || !read_often) { return; }
    auto* const neighbors = reinterpret_cast<vertex_id*>(cache);
    for (std::uint32_t k = lane; k < degree; k += size) { neighbors[k] = row.neighbor(k); }
    float* weights = nullptr;
    if (row.has_weights()) {
      weights = reinterpret_cast<float*>(neighbors + cache_entries);
      for (std::uint32_t k = lane; k < degree; k += size) { weights[k] = row.weight(k); }
    }
    edges_ = list_type(row.copied(neighbors, weights));
  }

  /// Makes calls 2j and 2j + 1 of a pair, which share a block of random bits. If calls are long, makes call j alone,
  /// because more threads are then worth more than the shared block.
  __device__ void item(std::uint32_t pair, std::uint32_t j)
  {
    std::uint32_t const row = shape_.by_transits.quotient(pair);
    std::int64_t const index = task_.first_index + row;
    auto sample = view_of<A>(setup_, index, task_.step);
    sample.transit = pair - row * shape_.by_transits.divisor();
    vertex_id* const out = place_.vertices + index * place_.stride + std::int64_t{sample.transit} * sample_size_;
    if constexpr (application_has::scans<A>) {
      sample.call = j;
      __stcs(out + j, call_next(app_, key_, sample, index, transit_list(transit_), edges_, sample_size_, problem_));
    } else {
      sample.call = 2 * j;
      call_pair const both =
          call_both(app_, key_, sample, index, transit_list(transit_), edges_, sample_size_, problem_);
      store_both(out + 2 * j, both, 2 * j + 1 < sample_size_);
    }
  }

  [[nodiscard]] __device__ std::uint64_t problem() const { return problem_; }

 private:
  using row_type = typename View::row_type;
  using list_type = basic_edge_list<row_type>;

  A const& app_;
  application_setup<View> const& setup_;
  transit_task const& task_;
  step_shape const& shape_;
  step_place const& place_;
  rng_key const key_;
  std::uint32_t const sample_size_;
  list_type edges_;
  vertex_id transit_ = no_vertex;
  std::uint64_t problem_ = problem_code::none;
};

/// Handles transits with fewer than 32 calls. Shared memory: transit_threads / task.width slices of task.cache_entries
/// edges. This kernel and the next two are for individual applications. For a unique step they produce the candidates
/// of its first round.
template <class A, class View>
__global__ __launch_bounds__(transit_threads) void few_calls_kernel(
    A const __grid_constant__ app, application_setup<View> const __grid_constant__ setup,
    transit_task const __grid_constant__ task)
{
  if constexpr (!is_collective<A>) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    transit_calls<A, View> calls(app, setup, task);
    share_few(task.map, calls, task.width, task.cache_entries, shared_memory);
    report_problem(task.problem, calls.problem());
  }
}

/// Handles transits with more calls, one block per transit. Shared memory: task.cache_entries edges.
template <class A, class View>
__global__ __launch_bounds__(transit_threads) void block_calls_kernel(
    A const __grid_constant__ app, application_setup<View> const __grid_constant__ setup,
    transit_task const __grid_constant__ task)
{
  if constexpr (!is_collective<A>) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    transit_calls<A, View> calls(app, setup, task);
    share_blocks(task.map, calls, task.cache_entries, shared_memory);
    report_problem(task.problem, calls.problem());
  }
}

/// Handles transits with more calls than one block's share, several blocks per transit. Shared memory:
/// task.cache_entries edges.
template <class A, class View>
__global__ __launch_bounds__(transit_threads) void grid_calls_kernel(
    A const __grid_constant__ app, application_setup<View> const __grid_constant__ setup,
    transit_task const __grid_constant__ task)
{
  if constexpr (!is_collective<A>) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    transit_calls<A, View> calls(app, setup, task);
    share_grid(task.map, calls, task.cache_entries, shared_memory);
    report_problem(task.problem, calls.problem());
  }
}

}  // namespace tendril::engine
