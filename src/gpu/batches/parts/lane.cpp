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
      host_sizes_(most_ranks + 1, pinned_memory()),
      sizes_(most_ranks + 1, memory())
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
    if (fanout() != 0) { break; }
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

expansion batch_lane::expansion_for(int of, vertex_id const* rows, std::uint32_t const* groups, std::int64_t size,
                                    edge_id* edges, vertex_id* neighbors) const
{
  expansion what;
  what.graph = plan_.edges[0].graph;
  what.num_vertices = sizes_.data() + of;
  what.most_vertices = size;
  what.vertices = rows;
  what.first_id = setting_.first_vertex;
  what.group_of = groups;
  what.groups = groups_.data() + first_group_[static_cast<std::size_t>(of)];
  what.step = core::minibatch_draws::step(static_cast<std::uint32_t>(hop_), 0);
  what.fanout = static_cast<std::uint32_t>(std::max<std::int64_t>(fanout(), 1));
  what.picked = edges;
  what.sink.neighbors = neighbors;
  return what;
}

void batch_lane::pick(expansion const& what)
{
  if (what.most_vertices == 0) { return; }
  edge_plan const& type = plan_.edges[0];
  bool const races = type.choice == samplers::edge_choice::race;
  std::byte* const race =
      races ? room_in(race_, race_scratch_bytes(what.most_vertices, what.fanout), memory()) : nullptr;
  enqueue_picks(type, plan_.replace, what, race, exec());
}

void batch_lane::send_sizes()
{
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    host_sizes_[r] = r == rank() ? slots_.own() : slots_.asked_by(r).size;
  }
  host_sizes_[setting_.ranks.size()] = slots_.num_asked();
  stream_.copy(sizes_.data(), static_cast<std::int64_t const*>(host_sizes_.data()), setting_.ranks.size() + 1,
               cudaMemcpyHostToDevice);
}

void batch_lane::step()
{
  send_sizes();
  fanout() > 0 ? exchange_picks() : exchange_all();
  call_->report.asked += slots_.own() + slots_.away();
  call_->report.asked_away += slots_.away();
  ++hop_;
  begin_hop();
}

void batch_lane::exchange_picks()
{
  std::int64_t const k = fanout();
  std::int64_t const mine = slots_.own() + slots_.away();
  std::int64_t const asked = checked_product("picks of a hop", slots_.num_asked(), k);
  edge_id* const asked_edges = room_in(asked_edges_, asked, memory());
  vertex_id* const asked_neighbors = room_in(asked_neighbors_, asked, memory());
  edge_id* const edges = room_in(edges_, checked_product("picks of a hop", mine, k), memory());
  vertex_id* const neighbors = room_in(neighbors_, mine * k, memory());
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    auto const theirs = slots_.asked_by(r);
    pick(expansion_for(r, asked_rows_.data() + theirs.first, asked_groups_of_.data() + theirs.first, theirs.size,
                       asked_edges + theirs.first * k, asked_neighbors + theirs.first * k));
  }
  std::vector<parcel> sent, received;
  slots_.add_answers(sent, received, asked_edges, edges + slots_.own() * k, k);
  slots_.add_answers(sent, received, asked_neighbors, neighbors + slots_.own() * k, k);
  setting_.messages.exchange(sent, received, stream());
  pick(expansion_for(rank(), rows_.data(), groups_of_.data(), slots_.own(), edges, neighbors));
  if (group_) { take_picks(); }
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
  for_each_holder([&](int r, std::int64_t first, std::int64_t size) {
    put_picks({slots_.slots() + first, edges_.data() + first * k, neighbors_.data() + first * k, size,
               setting_.first_edges[static_cast<std::size_t>(r)]},
              to, exec());
  });
  launches.number(job, to.most_vertices, exec());
  launches.end_hop();
}

/// How many neighbours all vertices have, here and where they are asked for. Waits.
batch_lane::all_counts batch_lane::count_neighbors(expansion const& for_others, expansion const& here)
{
  int const num_ranks = setting_.ranks.size();
  std::int64_t const own = slots_.own(), mine = own + slots_.away(), asked = slots_.num_asked();
  std::int64_t* const counts = room_in(counts_, mine, memory());
  std::int64_t* const offsets = room_in(offsets_, mine + 1, memory());
  std::int64_t* const asked_counts = room_in(asked_counts_, asked, memory());
  std::int64_t* const asked_offsets = room_in(asked_offsets_, asked + 1, memory());
  if (asked > 0) { count_all(for_others, asked_counts, exec()); }
  if (own > 0) { count_all(here, counts, exec()); }
  std::vector<parcel> sent, received;
  slots_.add_answers(sent, received, asked_counts, counts + own, 1);
  setting_.messages.exchange(sent, received, stream());
  make_offsets(asked_counts, asked, asked_offsets, exec());
  make_offsets(counts, mine, offsets, exec());

  std::int64_t* const host = room_in(host_counts_, 2 * (num_ranks + 1) + 2, pinned_memory());
  std::int64_t* to = host;
  auto const bring = [&](std::int64_t const* from) { stream_.copy(to++, from, 1, cudaMemcpyDeviceToHost); };
  for_each_holder([&](int, std::int64_t first, std::int64_t) { bring(offsets + first); });
  bring(offsets + mine);
  for (int r = 0; r < num_ranks; ++r) { bring(asked_offsets + slots_.asked_by(r).first); }
  bring(asked_offsets + asked);
  if (group_) {  // in the order of the list, too
    number_job const job = group_->launches.jobs().numbers(hop_, 0);
    space_.grow(space_.counts, mine);
    space_.grow(space_.offsets, mine + 1);
    place_counts(slots_.slots(), mine, counts, space_.counts.data(), stream());
    make_offsets(space_.counts.data(), mine, space_.offsets.data(), exec());
    call_block const& block = group_->memory.block;
    std::int64_t* const sizes = block.column(block.columns().sizes());
    measure_picks(space_.offsets.data(), job.from.num, job.from.begin, group_->memory.input.num_batches, sizes, exec());
    stream_.copy(to, static_cast<std::int64_t const*>(sizes), 2, cudaMemcpyDeviceToHost);
  }
  TENDRIL_CUDA_TRY(cudaEventRecord(counted_.get(), stream()));
  wait_among_ranks(setting_.ranks, "numbers of neighbours", [&] { return counted_.is_done(); });
  all_counts out;
  out.of_slots.assign(host, host + num_ranks + 1);
  out.of_asked.assign(host + num_ranks + 1, host + 2 * (num_ranks + 1));
  if (group_) { out.picks = {to[1], to[0]}; }
  return out;
}

void batch_lane::exchange_all()
{
  int const num_ranks = setting_.ranks.size();
  // No draws are made, so that whom the vertices are expanded for makes no difference.
  expansion for_others =
      expansion_for(rank(), asked_rows_.data(), asked_groups_of_.data(), slots_.num_asked(), nullptr, nullptr);
  for_others.num_vertices = sizes_.data() + num_ranks;
  for_others.groups = groups_.data();
  expansion here = expansion_for(rank(), rows_.data(), groups_of_.data(), slots_.own(), nullptr, nullptr);
  all_counts const counts = count_neighbors(for_others, here);
  for_others.picked = room_in(asked_edges_, counts.of_asked.back(), memory());
  for_others.sink.neighbors = room_in(asked_neighbors_, counts.of_asked.back(), memory());
  here.picked = room_in(edges_, counts.of_slots.back(), memory());
  here.sink.neighbors = room_in(neighbors_, counts.of_slots.back(), memory());
  pick_all(for_others, asked_offsets_.data(), exec());

  std::vector<parcel> sent, received;
  auto const add = [](std::vector<parcel>& list, int other, expansion const& what, std::int64_t first,
                      std::int64_t end) {
    std::int64_t const size = end - first;
    list.push_back({other, what.picked + first, size * static_cast<std::int64_t>(sizeof(edge_id))});
    list.push_back({other, what.sink.neighbors + first, size * static_cast<std::int64_t>(sizeof(vertex_id))});
  };
  for (int r = 0; r < num_ranks; ++r) {
    if (r == rank()) { continue; }
    auto const next = static_cast<std::size_t>(r) + (r + 1 == rank() ? 2 : 1);  // this rank asks itself for nothing
    add(sent, r, for_others, counts.of_asked[static_cast<std::size_t>(r)], counts.of_asked[next]);
  }
  std::size_t holder = 0;
  for_each_holder([&](int r, std::int64_t, std::int64_t) {
    if (r != rank()) { add(received, r, here, counts.of_slots[holder], counts.of_slots[holder + 1]); }
    ++holder;
  });
  setting_.messages.exchange(sent, received, stream());
  if (slots_.own() > 0) { pick_all(here, offsets_.data(), exec()); }
  if (group_) { take_all(counts); }
}

void batch_lane::take_all(all_counts const& counts)
{
  run_launches& launches = group_->launches;
  launches.make_room(hop_, 0, counts.picks, exec());
  number_job job = launches.jobs().numbers(hop_, 0);
  expansion const to = launches.jobs().picks(hop_, 0, job);
  if (counts.picks.total > 0) {
    job.offsets = space_.offsets.data();
    job.most_slots = counts.picks.total;
    std::size_t holder = 0;
    for_each_holder([&](int r, std::int64_t first, std::int64_t size) {
      std::int64_t const begin = counts.of_slots[holder], end = counts.of_slots[holder + 1];
      ++holder;
      put_all({slots_.slots() + first, edges_.data() + begin, neighbors_.data() + begin, size,
               setting_.first_edges[static_cast<std::size_t>(r)]},
              {offsets_.data() + first, begin, end, space_.offsets.data()}, to, exec());
    });
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
