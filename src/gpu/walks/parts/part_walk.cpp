// Planned walks of ranks whose parts lie on GPUs. CPU twin: src/dist/sharded_walk.cpp.

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event, expect_vertices

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/ranks/inbox.hpp"  // most_ranks
#include "gpu/ranks/lanes.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/part_rows.hpp"
#include "gpu/tables/plan_context.hpp"  // labels_of
#include "gpu/walks/parts/alone_lane.hpp"
#include "gpu/walks/parts/part_lane.hpp"
#include "gpu/walks/plan.hpp"
#include "gpu/walks/planned_job.hpp"
#include "samplers/two_batches.hpp"
#include "samplers/walks/gpu_ranks.hpp"
#include "samplers/walks/walk_checks.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t most_walks_each = std::int64_t{1} << 21U;  // of a batch: a column stays in the cache
constexpr std::int64_t usual_row_bytes = 256L << 20U;             // of a batch that goes to the host, page-locked

/// A batch's rows on their way to the host.
struct leaving_rows {
  side_stream stream;
  buffer<vertex_id> vertices;    // in the GPU's memory
  buffer<std::int32_t> lengths;  // as well
  buffer<vertex_id> host_vertices;
  buffer<std::int32_t> host_lengths;
  step_event made, left;
  std::int64_t first = 0, num_walks = 0;

  leaving_rows(std::int64_t num, std::int64_t row, int device)
      : vertices(checked_product("walks of a batch", num, row), gpu_memory(device, stream.get())),
        lengths(num, gpu_memory(device, stream.get())),
        host_vertices(vertices.size(), pinned_memory()),
        host_lengths(num, pinned_memory())
  {
    stream.wait();  // another stream writes these
  }
  ~leaving_rows() { stream.settle(); }
  leaving_rows(leaving_rows const&) = delete;
  leaving_rows& operator=(leaving_rows const&) = delete;

  /// Enqueues the rows of a batch that has ended, and their copy.
  void take(walk_lane& lane, std::int64_t first_walk)
  {
    first = first_walk;
    num_walks = lane.num_walks();
    TENDRIL_CUDA_TRY(cudaStreamWaitEvent(lane.stream(), left.get()));
    lane.write_rows(vertices.data(), lengths.data());
    TENDRIL_CUDA_TRY(cudaEventRecord(made.get(), lane.stream()));
    TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream.get(), made.get()));
    std::int64_t const row = vertices.size() / std::max<std::int64_t>(lengths.size(), 1);
    stream.copy(host_vertices.data(), static_cast<vertex_id const*>(vertices.data()), num_walks * row,
                cudaMemcpyDeviceToHost);
    stream.copy(host_lengths.data(), static_cast<std::int32_t const*>(lengths.data()), num_walks,
                cudaMemcpyDeviceToHost);
    TENDRIL_CUDA_TRY(cudaEventRecord(left.get(), stream.get()));
  }
};

class part_walk final : public samplers::walk_on_gpu_ranks {
 public:
  part_walk(graph_part const& part, graph const& rows, walk_params const& params, std::int64_t expected_walks,
            transport& ranks, gpu_exec const& exec)
      : ranks_(ranks), device_(exec.device), whole_(part.info)
  {
    device_guard const guard(device_);
    TENDRIL_EXPECTS(ranks.size() <= most_ranks, "{} ranks with GPUs, expected up to {}", ranks.size(), most_ranks);
    rows_ = part_to_gpu(rows, whole_, exec);
    samplers::check_walk_params(rows_, params, [&] { return labels_of(rows_, plan::metapath_grouping(params), exec); });
    params_ = plan::without_idle_weights(rows_, params);
    layout_ = make_walk_plan(rows_, params_, expected_walks / ranks.size(), exec, graph_scope::part);
    sampling_plan& made = layout_.shared;
    TENDRIL_EXPECTS(made.rule != sampling_rule::scan && !reads_labels(made, params_),
                    "walks that read whole rows on GPUs that each have a part of the graph, expected room for tables, "
                    "another rule, or CPUs");
    tables_ = make_walk_tables(rows_, params_, layout_, exec);
    schema_ = schema_on_gpu(params_, exec);
    bool const may_die = gpu::may_die(rows_, params_, exec);
    may_die_ = ranks.all_reduce("parts with dead ends", may_die ? 1 : 0, reduction::max) != 0;
    job_ = job_of(rows_, tables_, made, params_, schema_, exec);
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
    messages_ = connect_gpus(ranks, device_);
    made.reasons.push_back(fmt::format("walkers go to the GPU that has their vertex, {} bytes each, by {}",
                                       walker_bytes(), messages_->name()));
  }

  [[nodiscard]] sampling_plan const& plan() const noexcept override { return layout_.shared; }

  [[nodiscard]] walks run(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec) override
  {
    TENDRIL_EXPECTS(exec.device == device_, "sharded_walker: it was made for GPU {}, not for GPU {}", device_,
                    exec.device);
    device_guard const guard(device_);
    expect_vertices(starts, "start", whole_.num_vertices, exec);
    auto const n = std::ssize(starts);
    std::int64_t const row = params_.length + 1;
    memory_resource& memory = memory_of(exec);
    walks out{buffer<vertex_id>(checked_product("walks", n, row), memory), buffer<std::int32_t>(n, memory), n,
              params_.length};
    gpu_event const ready(exec);
    samplers::rank_rounds const rounds = samplers::agree_on_rounds(ranks_, n, first_walk, room_for_walks());
    part_counts counts;
    walk_all(
        rounds, counts,
        [&](walk_lane& lane, std::int64_t round) {
          ready.wait_on(lane.stream());
          auto const size = static_cast<std::size_t>(rounds.size_of(round));
          lane.start(round, size == 0 ? starts.first(0)
                                      : starts.subspan(static_cast<std::size_t>(round * rounds.batch), size));
        },
        [&](walk_lane& lane) {
          std::int64_t const first = std::min(lane.round() * rounds.batch, n);
          lane.write_rows(out.vertices.data() + first * row, out.lengths.data() + first);
        },
        [&](double) { ranks_.beat(); });
    return out;
  }

  [[nodiscard]] sharded_walk_report stream(walk_stream_job const& job) override
  {
    using clock = std::chrono::steady_clock;
    auto const begin = clock::now();
    transport_report const before = ranks_.report();
    device_guard const guard(device_);
    std::int64_t const row = params_.length + 1;
    std::int64_t const bytes = job.batch_bytes > 0 ? job.batch_bytes / 2 : usual_row_bytes;
    std::int64_t const room = std::clamp<std::int64_t>(bytes / (4 * row + 4), 1, room_for_walks());
    samplers::rank_rounds const rounds = samplers::agree_on_rounds(ranks_, job.num_walks, job.first_walk, room);
    std::array<leaving_rows, 2> leaving{leaving_rows(rounds.batch, row, device_),
                                        leaving_rows(rounds.batch, row, device_)};
    buffer<vertex_id> starts(rounds.batch);
    sharded_walk_report out;
    part_counts counts;
    leaving_rows* pending = nullptr;
    auto const deliver = [&] {
      if (pending == nullptr) { return; }
      wait_among_ranks(ranks_, "rows of walks", [&] { return pending->left.is_done(); });
      auto const n = static_cast<std::size_t>(pending->num_walks);
      auto const lengths = std::span<std::int32_t const>(pending->host_lengths.span()).first(n);
      for (std::int32_t const steps : lengths) { out.steps += steps; }
      if (job.sink) {
        job.sink({pending->first,
                  std::span<vertex_id const>(pending->host_vertices.span()).first(n * static_cast<std::size_t>(row)),
                  lengths});
      }
      pending = nullptr;
    };
    out.supersteps = walk_all(
        rounds, counts,
        [&](walk_lane& lane, std::int64_t round) {
          auto const of_round = starts.span().first(static_cast<std::size_t>(rounds.size_of(round)));
          if (!of_round.empty()) { job.starts(round * rounds.batch, of_round); }
          samplers::expect_starts(of_round, whole_.num_vertices);
          lane.start(round, of_round);
        },
        [&](walk_lane& lane) {
          // While these leave, those of the batch before are delivered.
          leaving_rows& next = leaving[static_cast<std::size_t>(lane.round() % 2)];
          next.take(lane, lane.round() * rounds.batch);
          deliver();
          pending = &next;
        },
        samplers::tell_progress(ranks_, rounds, job.on_progress));
    deliver();
    out.num_walks = job.num_walks;
    out.steps_here = counts.steps;
    out.moved = counts.moved;
    out.moved_bytes = counts.moved * walker_bytes();
    out.questions = counts.asked;
    out.sent_bytes = ranks_.report().sent_bytes - before.sent_bytes;
    out.waited_seconds = ranks_.report().waited_seconds - before.waited_seconds;
    out.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    return out;
  }

 private:
  using lanes = samplers::two_batches<walk_lane>;

  /// The most walks of each rank in a batch that an eighth of the free memory has room for.
  [[nodiscard]] std::int64_t room_for_walks() const
  {
    std::int64_t const each = 2 * (job_.second_order ? alone_lane::bytes_each(params_.length, ranks_.size())
                                                     : part_lane::bytes_each(params_.length, ranks_.size()));
    std::int64_t const most = std::min(most_walks_each, (std::int64_t{1} << 32U) / ranks_.size() - 1);
    return std::clamp<std::int64_t>(free_gpu_bytes(device_) / 8 / each, 1, most);
  }

  /// @return supersteps of all rounds. Afterwards everything is done.
  std::int64_t walk_all(samplers::rank_rounds const& rounds, part_counts& counts, lanes::begin_round const& begin,
                        lanes::deliver const& give, std::function<void(double)> const& on_step)
  {
    part_setting const setting{ranks_,
                               *messages_,
                               job_,
                               whole_,
                               rounds,
                               &launch_by_rule,
                               device_,
                               static_cast<std::int32_t>(params_.length),
                               params_.stop_prob > 0,
                               params_.restart_prob > 0,
                               may_die_,
                               params_.dead_ends == dead_end::repeat};
    auto const run = [&]<class Lane>(std::array<Lane, 2> two) {
      return run_lanes(two, rounds.num_rounds, *messages_, begin, give, on_step);
    };
    if (job_.second_order) { return run(std::array{alone_lane(setting, counts), alone_lane(setting, counts)}); }
    return run(std::array{part_lane(setting, counts), part_lane(setting, counts)});
  }

  /// That a walker takes that moves.
  [[nodiscard]] std::int64_t walker_bytes() const
  {
    return job_.second_order ? alone_lane::walker_bytes : part_lane::walker_bytes;
  }

  transport& ranks_;
  int device_;
  partition_info whole_;
  graph rows_;
  walk_params params_;
  walk_plan layout_;
  walk_tables tables_;
  buffer<label_id> schema_;
  walk_job job_;
  bool may_die_ = true;
  std::shared_ptr<gpu_messages> messages_;
};

}  // namespace
}  // namespace tendril::gpu

std::unique_ptr<tendril::samplers::walk_on_gpu_ranks> tendril::samplers::make_walk_on_gpu_ranks(
    graph_part const& part, graph const& rows, walk_params const& params, std::int64_t expected_walks, transport& ranks,
    gpu_exec const& exec)
{
  return std::make_unique<gpu::part_walk>(part, rows, params, expected_walks, ranks, exec);
}
