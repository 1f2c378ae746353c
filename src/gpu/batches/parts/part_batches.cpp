// The front of mini-batches of ranks that each have a part of a graph on a GPU. CPU twin: src/dist/batches/.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event, expect_vertices

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/batches/parts/lane.hpp"
#include "gpu/device/check.hpp"
#include "gpu/ranks/lanes.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/part_rows.hpp"
#include "gpu/tables/derived_table.hpp"  // known_largest_degree
#include "samplers/batches/gpu_ranks.hpp"
#include "samplers/two_batches.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t picks_together = std::int64_t{1} << 25U;  // of a hop of all batches of a lane

class part_batches final : public samplers::batches_on_gpu_ranks {
 public:
  part_batches(graph_part const& part, graph const& rows, minibatch_params const& params, transport& ranks,
               gpu_exec const& exec)
      : ranks_(ranks), device_(exec.device), whole_(part.info)
  {
    device_guard const guard(device_);
    TENDRIL_EXPECTS(ranks.size() <= most_ranks, "{} ranks with GPUs, expected up to {}", ranks.size(), most_ranks);
    rows_ = part_to_gpu(rows, whole_, exec);
    std::int64_t const here = rows_.num_edges() == 0 ? 0 : known_largest_degree(rows_, exec);
    std::int64_t const largest = ranks.all_reduce("largest degrees", here, reduction::max);
    plan_ = batch_plan::of_part(rows_, whole_, largest, params, exec);
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
    messages_ = connect_gpus(ranks, device_);
    std::vector<edge_id> first_edges(whole_.part_edges.size());
    std::exclusive_scan(whole_.part_edges.begin(), whole_.part_edges.end(), first_edges.begin(), edge_id{0});
    setting_ = std::make_unique<batch_setting>(batch_setting{ranks, *messages_, plan_, whole_,
                                                             static_cast<vertex_id>(part.first_vertex()),
                                                             std::move(first_edges), device_});
    lanes_.reset(new lanes{batch_lane(*setting_), batch_lane(*setting_)});
  }

  ~part_batches() override
  {
    device_guard const guard(device_);
    lanes_.reset();
  }

  [[nodiscard]] std::vector<minibatch> sample_batches(std::span<vertex_id const> seeds, std::int64_t batch_size,
                                                      batch_numbers numbers, sharded_minibatch_report& report,
                                                      gpu_exec const& exec) override
  {
    device_guard const guard(device_);
    ranks_.or_refuse([&] {
      TENDRIL_EXPECTS(exec.device == device_, "sharded_minibatch_sampler: it was made for GPU {}, not for GPU {}",
                      device_, exec.device);
      expect_vertices(seeds, "seed", whole_.num_vertices, exec);
    });
    std::int64_t const size = std::clamp<std::int64_t>(std::ssize(seeds), 1, batch_size);
    asking_batches const mine{(std::ssize(seeds) + size - 1) / size, size, numbers};
    std::vector<asking_batches> const of_ranks = told(mine);
    samplers::rank_rounds const rounds = samplers::agree_on_rounds(ranks_, mine.num_batches, 0, batches_together(size));
    batches_of_call const call{rounds, of_ranks, seeds, report};
    gpu_event const ready(exec);
    for (batch_lane const& lane : *lanes_) { ready.wait_on(lane.stream()); }
    std::vector<minibatch> out;
    out.reserve(static_cast<std::size_t>(mine.num_batches));
    try {
      (void)run_lanes(
          *lanes_, rounds.num_rounds, *messages_,
          [&](batch_lane& lane, std::int64_t round) { lane.start(call, round); },
          [&](batch_lane& lane) { lane.take(out, exec); }, [&](double) { ranks_.beat(); });
    } catch (too_many_picks const& what) {
      refuse(what, plan_);
    }
    for (batch_lane& lane : *lanes_) { lane.end_call(); }
    return out;
  }

 private:
  using lanes = std::array<batch_lane, 2>;

  /// What all ranks ask for in this call.
  [[nodiscard]] std::vector<asking_batches> told(asking_batches const& mine)
  {
    std::vector<asking_batches> out;
    std::string const words(reinterpret_cast<char const*>(&mine), sizeof mine);
    for (std::string const& theirs : ranks_.all_gather("batches of ranks", words)) {
      std::memcpy(&out.emplace_back(), theirs.data(), sizeof mine);
    }
    return out;
  }

  /// The most batches of a lane: full launches, whose memory is a small share of what is free.
  [[nodiscard]] std::int64_t batches_together(std::int64_t batch_size) const
  {
    if (plan_.takes_all()) { return 1; }  // as large as a batch may get
    batch_bounds bounds(plan_.sizes, 1, {{batch_size, batch_size}});
    std::int64_t most_picks = batch_size;
    for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
      most_picks = std::max(most_picks, bounds.take(0, plan_.edges[0].fanouts[hop]).total);
      bounds.end_hop();
    }
    // Picks here and on their way; a vertex in the table and in lists; edges, which are moved at the end.
    std::int64_t bytes = 40 * most_picks + 64 * bounds.all_nodes() + 48 * bounds.edges(0).total;
    if (plan_.subgraph == subgraph_type::induced) {  // the vertices of all ranks, in lists and in a table
      bytes += std::int64_t{72} * ranks_.size() * bounds.all_nodes();
    }
    std::int64_t const room = free_gpu_bytes(device_) / 8 / std::max<std::int64_t>(bytes, 1);
    return std::max<std::int64_t>(std::min(picks_together / most_picks, room), 1);
  }

  transport& ranks_;
  int device_;
  partition_info whole_;
  graph rows_;
  batch_plan plan_;
  std::shared_ptr<gpu_messages> messages_;
  std::unique_ptr<batch_setting> setting_;
  std::unique_ptr<lanes> lanes_;
};

}  // namespace
}  // namespace tendril::gpu

std::unique_ptr<tendril::samplers::batches_on_gpu_ranks> tendril::samplers::make_batches_on_gpu_ranks(
    graph_part const& part, graph const& rows, minibatch_params const& params, transport& ranks, gpu_exec const& exec)
{
  return std::make_unique<gpu::part_batches>(part, rows, params, ranks, exec);
}
