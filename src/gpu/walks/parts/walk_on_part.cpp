#include "gpu/walks/parts/walk_on_part.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event, expect_vertices

#include "base/expects.hpp"       // TENDRIL_EXPECTS
#include "base/thread_limit.hpp"  // aside
#include "gpu/device/check.hpp"
#include "gpu/ranks/inbox.hpp"  // most_ranks
#include "gpu/ranks/lanes.hpp"
#include "gpu/ranks/part_rows.hpp"
#include "gpu/walks/parts/alone_lane.hpp"
#include "gpu/walks/parts/part_lane.hpp"
#include "graph/places.hpp"  // expect_vertices of the host

namespace tendril::gpu {
namespace {

constexpr std::int64_t most_walks_each = std::int64_t{1}
                                         << 21U;       // of a batch: a column, or its walkers, stay in the cache
constexpr std::int64_t usual_row_bytes = 256L << 20U;  // of a batch that goes to the host, page-locked

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

/// Starts of the rounds of a job, made on a thread of their own while walkers of earlier ones walk.
class starts_ahead {
 public:
  /// All outlive the object.
  starts_ahead(walk_stream_job const& job, samplers::rank_rounds const& rounds, std::int64_t num_vertices)
      : job_(job), rounds_(rounds), num_vertices_(num_vertices)
  {
    for (auto& room : rooms_) { room = buffer<vertex_id>(rounds.batch, pinned_memory()); }
    begin(0);
  }

  /// Rounds in turn; those before the last one have gone up to the GPU. What `job.starts` throws comes out, and which start is none.
  [[nodiscard]] std::span<vertex_id const> of(std::int64_t round)
  {
    made_.get();
    begin(round + 1);
    return room_of(round);
  }

 private:
  [[nodiscard]] std::span<vertex_id> room_of(std::int64_t round)
  {
    return rooms_[static_cast<std::size_t>(round) % rooms_.size()].span().first(
        static_cast<std::size_t>(rounds_.size_of(round)));
  }

  void begin(std::int64_t round)
  {
    made_ = std::async(base::aside, [this, round] {
      auto const starts = room_of(round);
      if (!starts.empty()) { job_.starts(round * rounds_.batch, starts); }
      validation::expect_vertices("start", starts, num_vertices_, round * rounds_.batch);
    });
  }

  walk_stream_job const& job_;
  samplers::rank_rounds const& rounds_;
  std::int64_t num_vertices_;
  // Two rounds are under way, and one is made.
  std::array<buffer<vertex_id>, 3> rooms_;
  std::future<void> made_;  // the last member: its thread works on the others
};

}  // namespace

walk_on_part::walk_on_part(graph_part const& part, graph const& rows, transport& ranks, gpu_exec const& exec)
    : ranks_(ranks), device_(exec.device), whole_(part.info)
{
  device_guard const guard(device_);
  TENDRIL_EXPECTS(ranks.size() <= most_ranks, "{} ranks with GPUs, expected up to {}", ranks.size(), most_ranks);
  rows_ = part_to_gpu(rows, whole_, exec);
}

void walk_on_part::take_up(part_terms terms, sampling_plan plan, bool may_die_here)
{
  terms_ = std::move(terms);
  terms_.device = device_;
  terms_.may_die = ranks_.all_reduce("parts with dead ends", may_die_here ? 1 : 0, reduction::max) != 0;
  messages_ = connect_gpus(ranks_, device_);
  plan_ = std::move(plan);
  plan_.reasons.push_back(fmt::format("walkers go to the GPU that has their vertex, {} bytes each, by {}",
                                      walker_bytes(), messages_->name()));
}

walks walk_on_part::run(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec)
{
  device_guard const guard(device_);
  auto const n = std::ssize(starts);
  std::int64_t const row = terms_.length + std::int64_t{1};
  walks out = ranks_.or_refuse([&] {
    TENDRIL_EXPECTS(exec.device == device_, "sharded_walker: it was made for GPU {}, not for GPU {}", device_,
                    exec.device);
    expect_vertices(starts, "start", whole_.num_vertices, exec);
    memory_resource& memory = memory_of(exec);
    return walks{buffer<vertex_id>(checked_product("walks", n, row), memory), buffer<std::int32_t>(n, memory), n,
                 terms_.length};
  });
  gpu_event const ready(exec);
  samplers::rank_rounds const rounds = samplers::agree_on_rounds(ranks_, n, first_walk, room_for_walks(true));
  part_counts did;
  walk_all(
      rounds, nullptr, did,
      [&](walk_lane& lane, std::int64_t round) {
        ready.wait_on(lane.stream());
        auto const size = static_cast<std::size_t>(rounds.size_of(round));
        lane.start(round,
                   size == 0 ? starts.first(0) : starts.subspan(static_cast<std::size_t>(round * rounds.batch), size));
      },
      [&](walk_lane& lane) {
        std::int64_t const first = std::min(lane.round() * rounds.batch, n);
        lane.write_rows(out.vertices.data() + first * row, out.lengths.data() + first);
      },
      [&](double) { ranks_.beat(); });
  return out;
}

sharded_walk_report walk_on_part::stream(walk_stream_job const& job)
{
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  transport_report const before = ranks_.report();
  device_guard const guard(device_);
  sharded_walk_report out;
  if (job.counts) {
    count(job, out);
  } else {
    stream_rows(job, out);
  }
  out.num_walks = job.num_walks;
  out.sent_bytes = ranks_.report().sent_bytes - before.sent_bytes;
  out.waited_seconds = ranks_.report().waited_seconds - before.waited_seconds;
  out.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return out;
}

void walk_on_part::stream_rows(walk_stream_job const& job, sharded_walk_report& out)
{
  std::int64_t const row = terms_.length + std::int64_t{1};
  std::int64_t const bytes = job.batch_bytes > 0 ? job.batch_bytes / 2 : usual_row_bytes;
  std::int64_t const room = std::clamp<std::int64_t>(bytes / (4 * row + 4), 1, room_for_walks(true));
  samplers::rank_rounds const rounds = samplers::agree_on_rounds(ranks_, job.num_walks, job.first_walk, room);
  std::array<leaving_rows, 2> leaving{leaving_rows(rounds.batch, row, device_),
                                      leaving_rows(rounds.batch, row, device_)};
  starts_ahead starts(job, rounds, whole_.num_vertices);
  part_counts did;
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
      rounds, nullptr, did, [&](walk_lane& lane, std::int64_t round) { lane.start(round, starts.of(round)); },
      [&](walk_lane& lane) {
        // While these leave, those of the batch before are delivered.
        leaving_rows& next = leaving[static_cast<std::size_t>(lane.round() % 2)];
        next.take(lane, lane.round() * rounds.batch);
        deliver();
        pending = &next;
      },
      samplers::tell_progress(ranks_, rounds, job.on_progress));
  deliver();
  add_to(out, did);
}

void walk_on_part::count(walk_stream_job const& job, sharded_walk_report& out)
{
  auto const at = static_cast<std::size_t>(ranks_.rank());
  auto const first = static_cast<vertex_id>(whole_.bounds[at]);
  vertex_counts counts(*job.counts, first, whole_.bounds[at + 1] - whole_.bounds[at], gpu_exec(device_));
  samplers::rank_rounds const rounds =
      samplers::agree_on_rounds(ranks_, job.num_walks, job.first_walk, room_for_walks(false));
  starts_ahead starts(job, rounds, whole_.num_vertices);
  part_counts did;
  out.supersteps = walk_all(
      rounds, &counts, did, [&](walk_lane& lane, std::int64_t round) { lane.start(round, starts.of(round)); },
      [](walk_lane const&) {}, samplers::tell_progress(ranks_, rounds, job.on_progress));
  counts.add_to(*job.counts);
  add_to(out, did);
  out.steps = did.steps;
}

void walk_on_part::add_to(sharded_walk_report& out, part_counts const& did) const
{
  out.steps_here = did.steps;
  out.moved = did.moved;
  out.moved_bytes = did.moved * walker_bytes();
  out.questions = did.asked;
}

/// The most walks of each rank in a batch that an eighth of the free memory has room for.
std::int64_t walk_on_part::room_for_walks(bool keeps_rows) const
{
  std::int64_t const ranks = ranks_.size();
  bool const decides = static_cast<bool>(terms_.decider);
  std::int64_t const each = terms_.kind == walkers_go::alone ? alone_lane::bytes_each(terms_.length, ranks, keeps_rows)
                            : terms_.kind == walkers_go::trailing
                                ? part_lane<trailing_walker>::bytes_each(terms_.length, ranks, decides, keeps_rows)
                                : part_lane<moved_vertex>::bytes_each(terms_.length, ranks, decides, keeps_rows);
  std::int64_t const most = std::min(most_walks_each, (std::int64_t{1} << 32U) / ranks - 1);
  return std::clamp<std::int64_t>(free_gpu_bytes(device_) / 8 / (2 * each), 1, most);
}

/// @return supersteps of all rounds. Afterwards everything is done.
std::int64_t walk_on_part::walk_all(samplers::rank_rounds const& rounds, vertex_counts* counts, part_counts& did,
                                    lanes::begin_round const& begin, lanes::deliver const& give,
                                    std::function<void(double)> const& on_step)
{
  part_setting const setting{terms_, ranks_, *messages_, whole_, rounds, counts};
  auto const run = [&]<class Lane>(std::array<Lane, 2> two) {
    return run_lanes(two, rounds.num_rounds, *messages_, begin, give, on_step);
  };
  switch (terms_.kind) {
    case walkers_go::alone: return run(std::array{alone_lane(setting, did), alone_lane(setting, did)});
    case walkers_go::trailing:
      return run(std::array{part_lane<trailing_walker>(setting, did), part_lane<trailing_walker>(setting, did)});
    case walkers_go::in_step: break;
  }
  return run(std::array{part_lane<moved_vertex>(setting, did), part_lane<moved_vertex>(setting, did)});
}

/// That a walker takes that moves.
std::int64_t walk_on_part::walker_bytes() const
{
  switch (terms_.kind) {
    case walkers_go::alone: return alone_lane::walker_bytes;
    case walkers_go::trailing: return part_lane<trailing_walker>::walker_bytes;
    case walkers_go::in_step: break;
  }
  return part_lane<moved_vertex>::walker_bytes;
}

}  // namespace tendril::gpu
