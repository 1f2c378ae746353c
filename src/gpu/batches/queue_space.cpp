#include "gpu/batches/queue_space.hpp"

#include <algorithm>
#include <cstring>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/batches/plan.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

void check(batch_plan const& plan)
{
  TENDRIL_EXPECTS(plan.all, "executor: persistent, but the frontier is the fresh vertices; expected frontier all");
  TENDRIL_EXPECTS(!plan.takes_all(), "executor: persistent, but a fan-out is -1; expected fan-outs of 0 or more");
  TENDRIL_EXPECTS(!plan.labor, "executor: persistent, but the choice is labor; expected hops, graph or auto");
  TENDRIL_EXPECTS(plan.has_one_form(),
                  "executor: persistent, but the graphs of edge types have different forms; expected one form");
  for (edge_plan const& type : plan.edges) {
    bool const races = type.choice == samplers::edge_choice::race;
    std::int64_t const most = races ? most_queue_race_fanout : most_queue_fanout;
    for (std::int64_t const k : type.fanouts) {
      TENDRIL_EXPECTS(k <= most, "executor: persistent, but a fan-out is {}; expected at most {}{}", k, most,
                      races ? " of weighted picks without replacement" : "");
    }
  }
}

}  // namespace

queue_space::queue_space(batch_plan const& plan, gpu_exec const& exec) : exec_(exec)
{
  check(plan);
  std::vector<queue_edges> edges;
  std::vector<queue_fanout> fanouts(plan.num_launches());
  std::uint32_t most_results = 0;
  fixed_.replace = plan.replace;
  fixed_.form = plan.form();
  fixed_.num_edge_types = static_cast<std::uint32_t>(plan.edges.size());
  fixed_.num_hops = static_cast<std::uint32_t>(plan.num_hops);
  for (edge_plan const& type : plan.edges) {
    edges.push_back({type.graph, type.times, type.ordinal, type.buckets ? type.buckets->data() : nullptr,
                     summed_tables::of(type.sums.get()), type.from, type.to, static_cast<std::uint32_t>(type.choice)});
    fixed_.by_sums = fixed_.by_sums || type.sums != nullptr;
    fixed_.races = fixed_.races || type.choice == samplers::edge_choice::race;
  }
  for (std::size_t hop = 0; hop < plan.num_hops; ++hop) {
    std::vector<std::uint32_t> used(plan.num_types());  // results of a task of each vertex type
    for (std::size_t t = 0; t < plan.edges.size(); ++t) {
      auto const k = static_cast<std::uint32_t>(plan.edges[t].fanouts[hop]);
      std::uint32_t& of_type = used[static_cast<std::size_t>(plan.edges[t].from)];
      fanouts[hop * plan.edges.size() + t] = {k, of_type};
      of_type += k;
      most_results = std::max(most_results, of_type);
      fixed_.most_fanout = std::max(fixed_.most_fanout, k);
    }
  }
  fixed_.results_a_task = most_results;
  stamps_a_group_ = static_cast<std::int64_t>(plan.num_hops * plan.num_types());

  std::size_t const edge_bytes = edges.size() * sizeof(queue_edges);
  std::size_t const fanout_bytes = fanouts.size() * sizeof(queue_fanout);
  std::vector<std::byte> host(edge_bytes + fanout_bytes);
  if (host.empty()) { return; }
  std::memcpy(host.data(), edges.data(), edge_bytes);
  if (fanout_bytes > 0) { std::memcpy(host.data() + edge_bytes, fanouts.data(), fanout_bytes); }
  descriptions_ = buffer<std::byte>(static_cast<std::int64_t>(host.size()), memory_of(exec));
  TENDRIL_CUDA_TRY(
      cudaMemcpyAsync(descriptions_.data(), host.data(), host.size(), cudaMemcpyHostToDevice, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  fixed_.edges = reinterpret_cast<queue_edges const*>(descriptions_.data());
  fixed_.fanouts = reinterpret_cast<queue_fanout const*>(descriptions_.data() + edge_bytes);
}

bool queue_space::grow(std::int64_t tasks)
{
  bool moved = table_.grow(std::max<std::int64_t>(tasks, 1), 0, {}, 1, exec_);
  if (tasks_.size() < tasks) {
    tasks_ = buffer<queue_task>(tasks, memory_of(exec_));
    // No launch has the serial number 0.
    TENDRIL_CUDA_TRY(
        cudaMemsetAsync(tasks_.data(), 0, static_cast<std::size_t>(tasks) * sizeof(queue_task), exec_.stream));
    moved = true;
  }
  std::int64_t const results = checked_product("results of tasks", tasks, fixed_.results_a_task);
  if (results_.size() < results) {
    results_ = buffer<edge_id>(results, memory_of(exec_));
    moved = true;
  }
  return moved;
}

void queue_space::begin_call(std::int64_t num_groups)
{
  first_stamp_ = table_.take(num_groups * stamps_a_group_, exec_);
  if (++serial_ == 0) {
    TENDRIL_CUDA_TRY(
        cudaMemsetAsync(tasks_.data(), 0, static_cast<std::size_t>(tasks_.size()) * sizeof(queue_task), exec_.stream));
    serial_ = 1;
  }
}

queue_job queue_space::job()
{
  queue_job out = fixed_;
  out.table = table_.view();
  out.tasks = tasks_.data();
  out.capacity = static_cast<std::uint32_t>(tasks_.size());
  out.results = results_.data();
  return out;
}

}  // namespace tendril::gpu
