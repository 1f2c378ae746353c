// Walks made on the GPU, copied and consumed at once: a line of four stages (base/stages.hpp), each with a batch of its
// own. Starts go up on one stream, walks come down on another, kernels run on the caller's. A batch of walks by regions is
// so large that it leaves the GPU in pieces, while the next one is made. Walks that are counted stay there, and the last two
// stages have nothing to do. CPU twin: src/cpu/walks/stream.cpp.

#include <tendril/walk_stream.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "base/stages.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/walks/copies.hpp"
#include "gpu/walks/counts.hpp"
#include "gpu/walks/moving/moving_walk.hpp"
#include "gpu/walks/regions.hpp"
#include "gpu/walks/stream.hpp"
#include "samplers/walks/deal_stream.hpp"
#include "samplers/walks/stream_checks.hpp"
#include "samplers/walks/stream_share.hpp"

namespace tendril {
namespace {

constexpr std::int64_t num_slots = 4;       // one for each stage
constexpr std::int64_t num_bulk_slots = 2;  // of batches in pieces: one is made, one leaves
constexpr std::int64_t some_batches = 4;    // of walkers that move, at least

/// Walks in GPU memory.
struct gpu_rows {
  buffer<vertex_id> vertices;
  buffer<std::int32_t> lengths;
};

/// GPU memory of a batch.
struct slot {
  buffer<vertex_id> starts;
  gpu_rows made;
};

/// Host memory of a piece.
struct landing {
  buffer<vertex_id> vertices;
  buffer<std::int32_t> lengths;
};

/// Makes walks from starts in GPU memory, into `out` or in its place, and synchronises.
using batch_maker = std::function<void(std::int64_t first, std::span<vertex_id const> starts, gpu_rows& out)>;

/// GPU memory of a slot, for each of its walks.
std::int64_t gpu_bytes_of(samplers::stream_footprint const& walk)
{
  return 4 * (walk.starts + walk.row + 1) + walk.more_bytes;
}

/// Walks that are made together, and those that leave the GPU together.
struct batch_cut {
  std::int64_t batch, piece;
  std::int64_t slots;  ///< Batches in GPU memory.

  [[nodiscard]] std::int64_t pieces() const { return (batch + piece - 1) / piece; }
};

/// Batches of walks by regions: few, so that regions pass seldom, but more than one, so that one is made while another
/// leaves. @return 0 where memory has no room for batches that are large enough.
std::int64_t choose_bulk_batch(std::int64_t num_walks, std::int64_t limit, samplers::stream_footprint const& walk,
                               gpu::walk_regions const& regions)
{
  constexpr std::int64_t few = 4;
  constexpr double least = 8, most = 64;  // of what pays at all: there regions and steps take about the same time
  if (!regions.pay(num_walks)) { return 0; }
  std::int64_t const room = limit - regions.buffer_bytes(regions.cut_for(num_walks / few), limit);
  std::int64_t const one_each = num_bulk_slots * gpu_bytes_of(walk) + gpu::walk_regions::state_bytes;
  auto const pays = static_cast<double>(regions.least_walks);
  auto const part = static_cast<double>(num_walks) / few;
  double const wanted = std::clamp(part, least * pays, most * pays);
  std::int64_t const batch = std::min({static_cast<std::int64_t>(std::min(wanted, 1e18)), room / one_each, num_walks});
  if (batch <= 0) { return 0; }
  std::int64_t const num_batches = (num_walks + batch - 1) / batch;
  std::int64_t const even = (num_walks + num_batches - 1) / num_batches;
  return regions.pay(even) ? even : 0;
}

/// Batches of walkers that move: large, for each step of all of them costs a round of messages, but some, so that one leaves
/// while the next is made.
std::int64_t choose_moving_batch(std::int64_t num_walks, std::int64_t limit, samplers::stream_footprint const& walk,
                                 gpu::moving_walk const& moving)
{
  std::int64_t const room = limit / (num_bulk_slots * gpu_bytes_of(walk));
  return std::min({moving.large_call(), room, (num_walks + some_batches - 1) / some_batches});
}

/// How one GPU makes the walks of a stream.
struct walk_source {
  batch_maker make;
  gpu::walk_regions const* regions;  ///< By which large batches are made; or null.
  gpu::moving_walk const* moving;    ///< As well.
  gpu_exec exec;
};

/// @param num_gpus  That share the job.
/// @throws argument_error if the caller's limit is too small for one walk.
batch_cut choose_batch(walk_stream_job const& job, samplers::stream_footprint const& walk, int num_gpus,
                       walk_source const& source)
{
  std::int64_t const num_walks = (job.num_walks + num_gpus - 1) / num_gpus;
  std::int64_t const one_each = num_slots * gpu_bytes_of(walk);
  samplers::check_batch_bytes(job, num_slots, one_each);
  std::int64_t const limit = job.batch_bytes > 0 ? job.batch_bytes : free_gpu_bytes(source.exec.device) / 2;
  std::int64_t const piece = std::clamp<std::int64_t>(
      std::min(gpu::wanted_batch(job.num_walks, walk.row, num_gpus), limit / one_each), 1, num_walks);
  std::int64_t batch = 0;
  if (source.regions != nullptr) { batch = choose_bulk_batch(num_walks, limit, walk, *source.regions); }
  if (source.moving != nullptr) { batch = choose_moving_batch(num_walks, limit, walk, *source.moving); }
  return batch > piece ? batch_cut{batch, piece, num_bulk_slots} : batch_cut{piece, piece, num_slots};
}

/// Everything but what a walk is: one GPU's batches.
class walk_line {
 public:
  walk_line(walk_stream_job const& job, samplers::stream_footprint const& walk, walk_source const& source,
            batch_cut const& cut, samplers::stream_share const& share)
      : job_(job),
        walk_(walk),
        make_(source.make),
        exec_(source.exec),
        cut_(cut),
        share_(share),
        starts_turn_(share.starts),
        sink_turn_(share.sink),
        slots_(static_cast<std::size_t>(cut.slots)),
        host_starts_(checked_product("starts of a batch", cut.piece, walk.starts), pinned_memory())
  {
    for (auto& s : slots_) {
      s.starts = buffer<vertex_id>(checked_product("starts of a batch", cut.batch, walk.starts), memory_of(exec_));
    }
    for (auto& l : landings_) {
      if (!job.sink) { continue; }
      l.vertices = buffer<vertex_id>(checked_product("walks of a batch", cut.piece, walk.row), pinned_memory());
      l.lengths = buffer<std::int32_t>(cut.piece, pinned_memory());
    }
    synchronize(exec_);  // the other streams may use the memory from here on
  }

  walk_stream_report run()
  {
    auto const start = std::chrono::steady_clock::now();
    std::int64_t const num_batches = share_.num_batches(job_.num_walks, cut_.batch);
    std::int64_t const num_pieces = pieces_before_end(num_batches);
    std::array<base::stage, num_slots> const stages{
        [this](std::int64_t p) { fill(p); }, [this](std::int64_t p) { walk(p); }, [this](std::int64_t p) { fetch(p); },
        [this](std::int64_t p) { hand_over(p); }};
    // A batch is begun once the one before in its slot has left, of which this is the last piece.
    std::int64_t const behind = (cut_.slots - 1) * cut_.pieces() + 1;
    std::array<std::int64_t, num_slots> const depths{behind, behind, num_slots, num_slots};
    walk_stream_report report;
    report.num_walks = share_.num_walks(job_.num_walks, cut_.batch);
    auto const seconds = base::run_stages(num_pieces, depths, stages, [&](std::int64_t done) {
      std::int64_t const walks = done / cut_.pieces() * cut_.batch + before(done);
      if (job_.on_progress) { job_.on_progress({"walking", std::min(walks, report.num_walks), report.num_walks}); }
    });
    report.steps = steps_;
    report.num_batches = num_batches;
    report.batch_walks = cut_.batch;
    report.batch_bytes = cut_.slots * cut_.batch * gpu_bytes_of(walk_);
    report.copied_bytes = job_.sink ? report.num_walks * 4 * (walk_.row + 1) : 0;
    report.starts_seconds = seconds[0] - starts_turn_.waited_seconds();
    report.walk_seconds = seconds[1];
    report.copy_seconds = seconds[2];
    report.sink_seconds = seconds[3] - sink_turn_.waited_seconds();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  }

 private:
  /// Pieces of this GPU's first batches, of which only the job's last one is smaller.
  [[nodiscard]] std::int64_t pieces_before_end(std::int64_t num_batches) const
  {
    if (num_batches == 0) { return 0; }
    std::int64_t const last = batch_size(share_.batch_of(num_batches - 1));
    return (num_batches - 1) * cut_.pieces() + (last + cut_.piece - 1) / cut_.piece;
  }
  /// The number in the job of the batch that a piece belongs to.
  [[nodiscard]] std::int64_t batch_of(std::int64_t p) const { return share_.batch_of(p / cut_.pieces()); }
  [[nodiscard]] bool begins_batch(std::int64_t p) const { return p % cut_.pieces() == 0; }
  [[nodiscard]] bool ends_batch(std::int64_t p) const { return before(p) + size(p) == batch_size(batch_of(p)); }
  [[nodiscard]] std::int64_t batch_size(std::int64_t k) const
  {
    return std::min(cut_.batch, job_.num_walks - k * cut_.batch);
  }
  /// Walks of a batch before a piece.
  [[nodiscard]] std::int64_t before(std::int64_t p) const { return p % cut_.pieces() * cut_.piece; }
  [[nodiscard]] std::int64_t first(std::int64_t p) const { return batch_of(p) * cut_.batch + before(p); }
  [[nodiscard]] std::int64_t size(std::int64_t p) const
  {
    return std::min(cut_.piece, batch_size(batch_of(p)) - before(p));
  }
  [[nodiscard]] slot& of(std::int64_t p) { return slots_[static_cast<std::size_t>(p / cut_.pieces() % cut_.slots)]; }
  [[nodiscard]] landing& landing_of(std::int64_t p) { return landings_[static_cast<std::size_t>(p % num_slots)]; }

  /// The starts of a whole batch.
  void fill(std::int64_t p)
  {
    if (!begins_batch(p)) { return; }
    gpu::device_guard const guard(exec_.device);
    std::int64_t const n = batch_size(batch_of(p));
    starts_turn_.wait(batch_of(p));
    for (std::int64_t at = 0; at < n; at += cut_.piece) {
      std::int64_t const count = std::min(cut_.piece, n - at) * walk_.starts;
      auto const starts = host_starts_.span().first(static_cast<std::size_t>(count));
      job_.starts(first(p) + at, starts);
      samplers::check_stream_starts(starts, first(p) + at, walk_);
      up_.copy(of(p).starts.data() + at * walk_.starts, starts.data(), count, cudaMemcpyHostToDevice);
      up_.wait();
    }
    starts_turn_.advance();
  }

  /// A whole batch.
  void walk(std::int64_t p)
  {
    if (!begins_batch(p)) { return; }
    gpu::device_guard const guard(exec_.device);
    auto const n = static_cast<std::size_t>(batch_size(batch_of(p)) * walk_.starts);
    make_(job_.first_walk + first(p), of(p).starts.span().first(n), of(p).made);
  }

  void fetch(std::int64_t p)
  {
    if (!job_.sink) { return; }
    gpu::device_guard const guard(exec_.device);
    auto const& from = of(p).made;
    auto& to = landing_of(p);
    down_.copy(to.vertices.data(), from.vertices.data() + before(p) * walk_.row, size(p) * walk_.row,
               cudaMemcpyDeviceToHost);
    down_.copy(to.lengths.data(), from.lengths.data() + before(p), size(p), cudaMemcpyDeviceToHost);
    down_.wait();
  }

  void hand_over(std::int64_t p)
  {
    if (!job_.sink) { return; }
    auto const& from = landing_of(p);
    auto const n = static_cast<std::size_t>(size(p));
    auto const lengths = from.lengths.span().first(n);
    steps_ = std::accumulate(lengths.begin(), lengths.end(), steps_);
    if (begins_batch(p)) { sink_turn_.wait(batch_of(p)); }
    job_.sink({first(p), from.vertices.span().first(n * static_cast<std::size_t>(walk_.row)), lengths});
    if (ends_batch(p)) { sink_turn_.advance(); }
  }

  walk_stream_job const& job_;
  samplers::stream_footprint walk_;
  batch_maker make_;
  gpu_exec exec_;
  batch_cut cut_;
  samplers::stream_share share_;
  samplers::stream_turn starts_turn_, sink_turn_;
  std::vector<slot> slots_;
  buffer<vertex_id> host_starts_;
  std::array<landing, num_slots> landings_;
  gpu::side_stream up_, down_;
  std::int64_t steps_ = 0;
};

/// @param sources  One for each GPU that shares the job.
walk_stream_report run(walk_stream_job const& job, samplers::stream_footprint const& walk,
                       std::vector<walk_source> const& sources)
{
  samplers::check_stream(job);
  TENDRIL_EXPECTS(job.graph_bytes == 0, "graph_bytes: {}, expected 0: a GPU holds the graph", job.graph_bytes);
  if (job.num_walks == 0) { return {}; }
  std::vector<batch_cut> cuts;
  cuts.reserve(sources.size());
  for (auto const& source : sources) {
    gpu::device_guard const guard(source.exec.device);
    cuts.push_back(choose_batch(job, walk, static_cast<int>(sources.size()), source));
  }
  batch_cut const cut =
      *std::min_element(cuts.begin(), cuts.end(), [](auto const& a, auto const& b) { return a.batch < b.batch; });
  return samplers::deal_stream(job, static_cast<int>(sources.size()), cut.batch,
                               [&](walk_stream_job const& its, samplers::stream_share const& share) {
                                 auto const& source = sources[static_cast<std::size_t>(share.index)];
                                 gpu::device_guard const guard(source.exec.device);
                                 return walk_line(its, walk, source, cut, share).run();
                               });
}

/// @param walks  The same walk on each GPU of `execs`.
walk_stream_report stream_rows(std::vector<walker const*> const& walks, walk_stream_job const& job,
                               std::vector<gpu_exec> const& execs)
{
  std::int64_t const row = walks[0]->params().length + 1;
  std::int64_t const num_vertices = walks[0]->input().num_vertices();
  std::vector<gpu::region_use> uses(walks.size());
  std::vector<gpu::vertex_counts> counted;
  if (job.counts) {
    samplers::check_counts(*job.counts, num_vertices);
    for (gpu_exec const& exec : execs) {
      gpu::device_guard const guard(exec.device);
      counted.emplace_back(*job.counts, 0, num_vertices, exec);
    }
  }
  std::vector<walk_source> sources;
  for (std::size_t i = 0; i < walks.size(); ++i) {
    walker const& walk = *walks[i];
    gpu::vertex_counts* const counts = job.counts ? &counted[i] : nullptr;
    auto const make = [&walk, &use = uses[i], counts, exec = execs[i], row](
                          std::int64_t first, std::span<vertex_id const> starts, gpu_rows& out) {
      if (out.lengths.empty()) {  // the first batch of a slot is as large as any that follows
        out.vertices = buffer<vertex_id>(checked_product("walks of a batch", starts.size(), row), memory_of(exec));
        out.lengths = buffer<std::int32_t>(static_cast<std::int64_t>(starts.size()), memory_of(exec));
      }
      gpu::run_counted(walk, starts, first, out.vertices.data(), out.lengths.data(), exec, use);
      if (counts != nullptr) { counts->add_rows(out.vertices.data(), out.lengths.data(), std::ssize(starts), row); }
    };
    // regions_of refuses a walker that was made elsewhere
    sources.push_back({make, gpu::regions_of(walk, execs[i]), gpu::moving_of(walk, execs[i]), execs[i]});
  }
  auto report = run(job, {"start", num_vertices, 1, row}, sources);
  for (auto const& use : uses) {
    report.region_walks += use.walks;
    report.region_bytes += use.bytes;
  }
  for (auto& counts : counted) { report.steps += counts.add_to(*job.counts); }
  return report;
}

/// @param graphs  The same graph on each GPU of `execs`.
walk_stream_report stream_multidim(std::vector<graph const*> const& graphs, std::int64_t num_roots,
                                   multidim_params const& params, walk_stream_job const& job,
                                   std::vector<gpu_exec> const& execs)
{
  samplers::check_rows_only(job);
  std::vector<walk_source> sources;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    graph const& where = *graphs[i];
    gpu_exec const exec = execs[i];
    (void)multidim_walk(where, {}, num_roots, params, exec, 0);  // checks parameters before sizes are made of them
    auto const make = [&where, exec, num_roots, &params](std::int64_t first, std::span<vertex_id const> starts,
                                                         gpu_rows& out) {
      auto made = multidim_walk(where, starts, num_roots, params, exec, first);
      out = {std::move(made.vertices), std::move(made.lengths)};
    };
    sources.push_back({make, nullptr, nullptr, exec});
  }
  samplers::stream_footprint const walk{"root", graphs[0]->num_vertices(), num_roots, num_roots + params.length,
                                        4 * params.length};
  return run(job, walk, sources);
}

}  // namespace

walk_stream_report stream_walks(walker const& walk, walk_stream_job const& job, gpu_exec const& exec)
{
  if (job.ragged_sink) { return gpu::stream_ragged_walks({&walk}, job, {exec}); }
  return stream_rows({&walk}, job, {exec});
}

walk_stream_report stream_walks(std::span<walker const> copies, walk_stream_job const& job)
{
  std::vector<walker const*> walks;
  std::vector<gpu_exec> execs;
  for (walker const& walk : copies) {
    walks.push_back(&walk);
    execs.push_back(gpu::exec_of_copy(walk.input(), static_cast<int>(execs.size())));
  }
  gpu::expect_same_walk(copies);
  if (job.ragged_sink) { return gpu::stream_ragged_walks(walks, job, execs); }
  // On a graph over all of them, one GPU moves walkers on all.
  auto const* const moving = gpu::moving_of(copies[0], execs[0]);
  if (moving != nullptr && job.num_walks / some_batches >= moving->least_call()) {
    return stream_rows({walks[0]}, job, {execs[0]});
  }
  return stream_rows(walks, job, execs);
}

walk_stream_report stream_multidim_walks(graph const& graph, std::int64_t num_roots, multidim_params const& params,
                                         walk_stream_job const& job, gpu_exec const& exec)
{
  return stream_multidim({&graph}, num_roots, params, job, {exec});
}

walk_stream_report stream_multidim_walks(std::span<graph const> copies, std::int64_t num_roots,
                                         multidim_params const& params, walk_stream_job const& job)
{
  std::vector<graph const*> graphs;
  std::vector<gpu_exec> execs;
  for (graph const& copy : copies) {
    graphs.push_back(&copy);
    execs.push_back(gpu::exec_of_copy(copy, static_cast<int>(execs.size())));
  }
  gpu::expect_same_graph(copies);
  return stream_multidim(graphs, num_roots, params, job, execs);
}

}  // namespace tendril
