#include "gpu/batches/block.hpp"

#include <cstring>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/device/pinned.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t word_bytes = sizeof(unsigned long long);

/// Behind the call's words: the least place of a bad seed; whether the table is full. The host's copy has them twice: as
/// they are before the call, and as they are reported.
constexpr std::int64_t status_words = 2;

constexpr std::int64_t words_of(std::size_t bytes)
{
  static_assert(sizeof(batch_call) % word_bytes == 0);
  static_assert(sizeof(vertex_call) % word_bytes == 0 && sizeof(edge_call) % word_bytes == 0);
  return static_cast<std::int64_t>(bytes) / word_bytes;
}

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

call_block::call_block(batch_plan const& plan, batch_space& space, std::int64_t num_batches, std::size_t slot)
    : plan_(plan), space_(space), num_batches_(num_batches), slot_(slot)
{
  call_words_ =
      words_of(sizeof(batch_call) + plan.num_types() * sizeof(vertex_call) + plan.edges.size() * sizeof(edge_call));
  if (space.queue) { call_words_ += 1 + words_of(plan.num_types() * sizeof(queue_seeds)); }
}

void call_block::lay_out(std::int64_t tiles)
{
  columns_ = count_columns(plan_, num_batches_, tiles);
  trace_columns();
  space_.grow(space_.block, call_words_ + status_words + columns_.num_words());
}

/// Which column tells what is known follows from the edge types alone: a launch writes that of its neighbours' type.
void call_block::trace_columns()
{
  std::vector<std::int64_t> now;
  for (std::size_t type = 0; type < plan_.num_types(); ++type) { now.push_back(columns_.seeds_known(type)); }
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    hop_begin_.push_back(now);
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) {
      known_.push_back(now);
      now[index_of(plan_.edges[t].to)] = columns_.known_after(plan_.launch_of(hop, t));
    }
  }
  hop_begin_.push_back(now);
}

void call_block::write(batch_call const& call, std::vector<vertex_call> const& vertices,
                       std::vector<edge_call> const& edges, std::vector<queue_seeds> const& queue)
{
  if (space_.host_blocks.size() <= slot_) { space_.host_blocks.resize(slot_ + 1); }
  auto& host = space_.host_blocks[slot_];
  std::int64_t const needed = call_words_ + 2 * status_words + columns_.report_words();
  if (host.size() < needed) {
    host = {};
    host = buffer<unsigned long long>(needed, kept_pinned_memory());
    ++space_.generation;  // captured copies name it
  }
  auto* to = reinterpret_cast<std::byte*>(host.data());
  auto const put = [&to](void const* from, std::size_t bytes) {
    if (bytes == 0) { return; }
    std::memcpy(to, from, bytes);
    to += bytes;
  };
  put(&call, sizeof call);
  put(vertices.data(), vertices.size() * sizeof(vertex_call));
  put(edges.data(), edges.size() * sizeof(edge_call));
  if (space_.queue) {
    std::uint32_t const stamp_and_serial[2] = {space_.queue->first_stamp(), space_.queue->serial()};
    put(stamp_and_serial, sizeof stamp_and_serial);
    put(queue.data(), queue.size() * sizeof(queue_seeds));
  }
  host[call_words_] = ~0ULL;  // no bad seed
  host[call_words_ + 1] = 0;  // the table isn't full
}

void call_block::upload(gpu_exec const& on) const
{
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(space_.block.data(), space_.host_blocks[slot_].data(),
                                   static_cast<std::size_t>((call_words_ + status_words) * word_bytes),
                                   cudaMemcpyHostToDevice, on.stream));
}

void call_block::upload_call(gpu_exec const& on) const
{
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(space_.block.data(), space_.host_blocks[slot_].data(),
                                   static_cast<std::size_t>(call_words_ * word_bytes), cudaMemcpyHostToDevice,
                                   on.stream));
}

void call_block::download(gpu_exec const& on) const
{
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(space_.host_blocks[slot_].data() + call_words_ + status_words,
                                   space_.block.data() + call_words_,
                                   static_cast<std::size_t>((status_words + columns_.report_words()) * word_bytes),
                                   cudaMemcpyDeviceToHost, on.stream));
}

std::span<unsigned long long const> call_block::call_words() const
{
  return space_.host_blocks[slot_].span().first(static_cast<std::size_t>(call_words_));
}

unsigned long long* call_block::clear_report() const
{
  unsigned long long* const report = space_.host_blocks[slot_].data() + call_words_ + status_words;
  report[0] = ~0ULL;
  report[1] = 0;
  return report;
}

call_view call_block::view() const
{
  auto const* at = reinterpret_cast<std::byte const*>(space_.block.data());
  call_view out;
  out.call = reinterpret_cast<batch_call const*>(at);
  out.vertices = reinterpret_cast<vertex_call const*>(at + sizeof(batch_call));
  out.edges = reinterpret_cast<edge_call const*>(at + sizeof(batch_call) + plan_.num_types() * sizeof(vertex_call));
  out.num_types = static_cast<std::uint32_t>(plan_.num_types());
  out.disjoint = plan_.disjoint;
  return out;
}

std::int64_t* call_block::column(std::int64_t at) const
{
  return reinterpret_cast<std::int64_t*>(space_.block.data()) + call_words_ + status_words + at;
}

unsigned int* call_block::ticket(std::size_t launch) const
{
  return reinterpret_cast<unsigned int*>(column(columns_.ticket(launch)));
}

unsigned long long* call_block::bad_seed() const { return space_.block.data() + call_words_; }

unsigned long long* call_block::table_is_full() const { return space_.block.data() + call_words_ + 1; }

queue_job call_block::queue() const
{
  queue_job job = space_.queue->job();
  auto const* const at = reinterpret_cast<std::byte const*>(view().edges + plan_.edges.size());
  job.view = view();
  job.groups = space_.groups.data();
  job.first_stamp = reinterpret_cast<std::uint32_t const*>(at);
  job.serial = job.first_stamp + 1;
  job.seeds = reinterpret_cast<queue_seeds const*>(at + word_bytes);
  auto* const counters = reinterpret_cast<unsigned long long*>(column(columns_.queue()));
  job.head = reinterpret_cast<unsigned int*>(counters);
  job.tail = counters + 1;
  job.chunks_taken = reinterpret_cast<unsigned int*>(counters + 2);
  job.chunks_done = reinterpret_cast<unsigned int*>(counters + 3);
  return job;
}

std::int64_t call_block::reported(std::int64_t column, std::int64_t batch) const
{
  return static_cast<std::int64_t>(space_.host_blocks[slot_][call_words_ + 2 * status_words + column + batch]);
}

std::int64_t call_block::reported_known(std::size_t hop, std::size_t type, std::int64_t batch) const
{
  return reported(hop_begin(hop, type), batch);
}

unsigned long long call_block::reported_bad_seed() const
{
  return space_.host_blocks[slot_][call_words_ + status_words];
}

bool call_block::reported_table_is_full() const
{
  return space_.host_blocks[slot_][call_words_ + status_words + 1] != 0;
}

}  // namespace tendril::gpu
