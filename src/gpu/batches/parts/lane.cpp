#include "gpu/batches/parts/lane.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event

#include "core/draws.hpp"
#include "gpu/batches/result.hpp"
#include "gpu/device/check.hpp"
#include "gpu/ranks/inbox.hpp"  // most_ranks

namespace tendril::gpu {

batch_lane::batch_lane(batch_setting const& setting)
    : setting_(setting),
      plan_(setting.plan),
      slots_(setting.ranks, setting.messages, setting.whole.bounds, setting.device, stream_),
      space_(exec()),
      first_group_(static_cast<std::size_t>(setting.ranks.size())),
      host_sizes_(most_ranks, pinned_memory()),
      sizes_(most_ranks, memory())
{
}

batch_lane::~batch_lane() { stream_.settle(); }

asking_batches batch_lane::batches_of(int of) const
{
  asking_batches out = call_->of_ranks[static_cast<std::size_t>(of)];
  std::int64_t const first = std::min(round_ * call_->rounds.batch, out.num_batches);
  out.num_batches = std::min(call_->rounds.batch, out.num_batches - first);
  out.numbers = out.numbers.from(first);
  return out;
}

void batch_lane::start(batches_of_call const& call, std::int64_t round)
{
  call_.emplace(call);
  round_ = round;
  hop_ = 0;
  group_.reset();
  asking_batches const mine = batches_of(rank());
  if (mine.num_batches > 0) {
    auto const first = static_cast<std::size_t>(round * call.rounds.batch * mine.batch_size);
    auto const most = static_cast<std::size_t>(mine.num_batches * mine.batch_size);
    batch_input input;
    input.seeds = {call.seeds.subspan(first, std::min(most, call.seeds.size() - first))};
    input.num_batches = mine.num_batches;
    input.batch_size = mine.batch_size;
    input.numbers = mine.numbers;
    group_.emplace(plan_, space_, exec(), std::move(input));
    group_->memory.prepare(false);
    group_->launches.begin(exec());
  }
  make_groups();
  begin_hop();
}

/// Whom this rank makes picks for.
void batch_lane::make_groups()
{
  std::int64_t size = 0;
  auto const groups_in = [&](asking_batches const& of) {
    return plan_.disjoint ? checked_product("trees", of.num_batches, of.batch_size) : of.num_batches;
  };
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    first_group_[static_cast<std::size_t>(r)] = size;
    size += groups_in(batches_of(r));
  }
  batch_group* const groups = room_in(groups_, size, memory());
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    make_asked_groups(plan_.seed, batches_of(r), plan_.disjoint, groups + first_group_[static_cast<std::size_t>(r)],
                      stream());
  }
}

/// Sorts the vertices of the hop, behind hops that sample nothing; or ends.
void batch_lane::begin_hop()
{
  for (; hop_ < plan_.num_hops; ++hop_) {
    if (group_) { group_->launches.list_frontiers(hop_, exec()); }
    if (fanout() > 0) { break; }
    if (!group_) { continue; }
    group_->launches.sample(hop_, 0, exec());
    group_->launches.end_hop();
  }
  if (hop_ == plan_.num_hops) {
    if (group_) { group_->launches.end(exec()); }
    TENDRIL_CUDA_TRY(cudaEventRecord(done_.get(), stream()));
    return;
  }
  if (!group_) {
    slots_.begin(nullptr, 0);
    return;
  }
  vertex_list const from = group_->launches.jobs().numbers(hop_, 0).from;
  std::int64_t const num_batches = group_->memory.input.num_batches;
  std::int64_t* const begins = room_in(begins_, num_batches + 1, pinned_memory());
  if (from.begin != nullptr) {
    stream_.copy(begins, from.begin, num_batches + 1, cudaMemcpyDeviceToHost);
  } else {
    begins[0] = 0;
    stream_.copy(begins + 1, from.num, 1, cudaMemcpyDeviceToHost);
  }
  slots_.begin(from.vertices, group_->memory.sizes.bounds.frontier(0).total, from.num);
}

bool batch_lane::finish()
{
  if (hop_ == plan_.num_hops) { return false; }
  slots_.agree("vertices of mini-batches");
  std::int64_t const mine = slots_.own() + slots_.away();
  vertex_id* const rows = room_in(rows_, mine, memory());
  std::uint32_t* const groups = room_in(groups_of_, mine, memory());
  if (group_) {
    split_slots(slots_.slots(), mine, group_->launches.jobs().numbers(hop_, 0).from.group_of, rows, groups, stream());
  }
  std::vector<parcel> sent, received;
  slots_.add_questions(sent, received, rows, room_in(asked_rows_, slots_.num_asked(), memory()));
  slots_.add_questions(sent, received, groups, room_in(asked_groups_of_, slots_.num_asked(), memory()));
  setting_.messages.exchange(sent, received, stream());
  return true;
}

void batch_lane::pick(int of, vertex_id const* rows, std::uint32_t const* groups, std::int64_t size, edge_id* edges,
                      vertex_id* neighbors)
{
  if (size == 0) { return; }
  edge_plan const& type = plan_.edges[0];
  expansion what;
  what.graph = type.graph;
  what.num_vertices = sizes_.data() + of;
  what.most_vertices = size;
  what.vertices = rows;
  what.first_id = setting_.first_vertex;
  what.group_of = groups;
  what.groups = groups_.data() + first_group_[static_cast<std::size_t>(of)];
  what.step = core::minibatch_draws::step(static_cast<std::uint32_t>(hop_), 0);
  what.fanout = static_cast<std::uint32_t>(fanout());
  what.picked = edges;
  what.sink.neighbors = neighbors;
  bool const races = type.choice == samplers::edge_choice::race;
  std::byte* const race = races ? room_in(race_, race_scratch_bytes(size, what.fanout), memory()) : nullptr;
  enqueue_picks(type, plan_.replace, what, race, exec());
}

void batch_lane::step()
{
  std::int64_t const k = fanout();
  std::int64_t const mine = slots_.own() + slots_.away();
  std::int64_t const asked = checked_product("picks of a hop", slots_.num_asked(), k);
  edge_id* const asked_edges = room_in(asked_edges_, asked, memory());
  vertex_id* const asked_neighbors = room_in(asked_neighbors_, asked, memory());
  edge_id* const edges = room_in(edges_, checked_product("picks of a hop", mine, k), memory());
  vertex_id* const neighbors = room_in(neighbors_, mine * k, memory());

  for (int r = 0; r < setting_.ranks.size(); ++r) {
    host_sizes_[r] = r == rank() ? slots_.own() : slots_.asked_by(r).size;
  }
  stream_.copy(sizes_.data(), static_cast<std::int64_t const*>(host_sizes_.data()), setting_.ranks.size(),
               cudaMemcpyHostToDevice);
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    auto const theirs = slots_.asked_by(r);
    pick(r, asked_rows_.data() + theirs.first, asked_groups_of_.data() + theirs.first, theirs.size,
         asked_edges + theirs.first * k, asked_neighbors + theirs.first * k);
  }
  std::vector<parcel> sent, received;
  slots_.add_answers(sent, received, asked_edges, edges + slots_.own() * k, k);
  slots_.add_answers(sent, received, asked_neighbors, neighbors + slots_.own() * k, k);
  setting_.messages.exchange(sent, received, stream());
  pick(rank(), rows_.data(), groups_of_.data(), slots_.own(), edges, neighbors);
  if (group_) { take_picks(); }

  call_->report.asked += mine;
  call_->report.asked_away += slots_.away();
  ++hop_;
  begin_hop();
}

/// The picks of all ranks for this rank's batches.
void batch_lane::take_picks()
{
  std::int64_t const k = fanout();
  std::int64_t const num_batches = group_->memory.input.num_batches;
  size_bound picks;
  for (std::int64_t b = 0; b < num_batches; ++b) {
    picks.each = std::max(picks.each, k * (begins_[b + 1] - begins_[b]));
  }
  picks.total = k * begins_[num_batches];
  run_launches& launches = group_->launches;
  launches.make_room(hop_, 0, picks, exec());
  number_job job = launches.jobs().numbers(hop_, 0);
  expansion to = launches.jobs().picks(hop_, 0, job);
  run_jobs::set_fanout(job, to, k);
  job.most_slots = picks.total;
  std::int64_t first = 0;
  for (int i = 0; i < setting_.ranks.size(); ++i) {  // this rank's own come first
    int const r = i == 0 ? rank() : i - (i <= rank() ? 1 : 0);
    std::int64_t const size = slots_.held_by(r);
    put_picks({slots_.slots() + first, edges_.data() + first * k, neighbors_.data() + first * k, size,
               setting_.first_edges[static_cast<std::size_t>(r)]},
              to, exec());
    first += size;
  }
  launches.number(job, to.most_vertices, exec());
  launches.end_hop();
}

void batch_lane::end_call()
{
  stream_.wait();
  group_.reset();
  call_.reset();
}

void batch_lane::take(std::vector<minibatch>& out, gpu_exec const& exec)
{
  wait_among_ranks(setting_.ranks, "mini-batches", [&] { return done_.is_done(); });
  if (!group_) { return; }
  static std::vector<minibatch_edges> const nothing_induced;
  std::vector<minibatch> made = run_result(group_->memory, nothing_induced).made();
  auto const home = std::make_shared<buffer<std::byte>>(bytes_together(made), memory_of(exec));
  gpu_event const ready(exec);  // whatever the memory held before
  ready.wait_on(stream());
  move_together(made, home, this->exec());
  for (minibatch& batch : made) {
    auto const& sampled = batch.edges[0].num_sampled;
    call_->report.edges += std::accumulate(sampled.begin(), sampled.end(), std::int64_t{0});
    out.push_back(std::move(batch));
  }
}

}  // namespace tendril::gpu
