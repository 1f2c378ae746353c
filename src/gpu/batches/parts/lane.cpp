#include "gpu/batches/parts/lane.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event

#include "core/draws.hpp"
#include "core/labor.hpp"
#include "gpu/batches/induced_edges.hpp"
#include "gpu/batches/result.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {

batch_lane::batch_lane(batch_setting const& setting)
    : setting_(setting),
      plan_(setting.plan),
      slots_(setting.ranks, setting.messages, setting.whole.bounds, setting.device, stream_),
      counted_(setting.ranks, slots_, stream_),
      space_(exec()),
      host_sizes_(2, pinned_memory()),
      sizes_(2, memory()),
      host_picks_(2, pinned_memory())
{
  if (plan_.subgraph == subgraph_type::induced) {
    inner_.emplace(setting.ranks, setting.messages, setting.first_edges, slots_, setting.device, stream_);
  }
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
  first_groups_.assign(1, 0);
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    size += groups_in(batches_of(r));
    first_groups_.push_back(size);
  }
  batch_group* const groups = room_in(groups_, size, memory());
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    make_asked_groups(plan_.seed, plan_.dependency, batches_of(r), plan_.disjoint,
                      groups + first_groups_[static_cast<std::size_t>(r)], stream());
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
  if (hop_ == num_turns()) {
    if (group_) { group_->launches.end(exec()); }
    TENDRIL_CUDA_TRY(cudaEventRecord(done_.get(), stream()));
    return;
  }
  if (!group_) {
    from_ = {};
    slots_.begin(nullptr, 0);
    return;
  }
  std::int64_t most = group_->memory.sizes.bounds.frontier(0).total;
  if (seeks_inner()) {
    list_job const all = all_of(group_->memory, 0);
    list_vertices(all, exec());
    from_ = all.list();
    most = all.most;
  } else {
    from_ = group_->launches.jobs().numbers(hop_, 0).from;
  }
  std::int64_t const num_batches = group_->memory.input.num_batches;
  std::int64_t* const begins = room_in(begins_, num_batches + 1, pinned_memory());
  if (from_.begin != nullptr) {
    stream_.copy(begins, from_.begin, num_batches + 1, cudaMemcpyDeviceToHost);
  } else {
    begins[0] = 0;
    stream_.copy(begins + 1, from_.num, 1, cudaMemcpyDeviceToHost);
  }
  slots_.begin(from_.vertices, most, from_.num);
}

std::span<std::int64_t const> batch_lane::batch_begins() const
{
  if (!group_) { return {}; }
  return {begins_.data(), static_cast<std::size_t>(group_->memory.input.num_batches) + 1};
}

bool batch_lane::finish()
{
  if (hop_ == num_turns()) { return false; }
  slots_.agree("vertices of mini-batches");
  std::int64_t const mine = slots_.own() + slots_.away();
  vertex_id* const rows = room_in(rows_, mine, memory());
  std::uint32_t* const groups = room_in(groups_of_, mine, memory());
  if (group_) {
    split_slots(slots_.slots(), mine, from_.group_of,
                static_cast<std::uint32_t>(first_groups_[static_cast<std::size_t>(rank())]), rows, groups, stream());
  }
  std::vector<parcel> sent, received;
  slots_.add_questions(sent, received, rows, room_in(asked_rows_, slots_.num_asked(), memory()));
  slots_.add_questions(sent, received, groups, room_in(asked_groups_of_, slots_.num_asked(), memory()));
  setting_.messages.exchange(sent, received, stream());
  if (seeks_inner()) { inner_->share(from_, mine, first_groups_); }
  return true;
}

expansion batch_lane::expand(vertex_id const* rows, std::uint32_t const* groups, std::int64_t const* size,
                             std::int64_t most) const
{
  auto const hop = static_cast<std::uint32_t>(hop_);
  expansion what;
  what.graph = plan_.edges[0].graph;
  what.num_vertices = size;
  what.most_vertices = most;
  what.vertices = rows;
  what.first_id = setting_.first_vertex;
  what.group_of = groups;
  what.groups = groups_.data();
  what.step = plan_.labor ? core::labor_step(hop, 0, plan_.layer_dependency) : core::minibatch_draws::step(hop, 0);
  what.fanout = static_cast<std::uint32_t>(seeks_inner() ? 1 : std::max<std::int64_t>(fanout(), 1));
  return what;
}

expansion batch_lane::expand_own() const
{
  return expand(rows_.data(), groups_of_.data(), sizes_.data(), slots_.own());
}

expansion batch_lane::expand_asked() const
{
  return expand(asked_rows_.data(), asked_groups_of_.data(), sizes_.data() + 1, slots_.num_asked());
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
  host_sizes_[0] = slots_.own();
  host_sizes_[1] = slots_.num_asked();
  stream_.copy(sizes_.data(), static_cast<std::int64_t const*>(host_sizes_.data()), 2, cudaMemcpyHostToDevice);
}

void batch_lane::step()
{
  send_sizes();
  if (seeks_inner()) {
    inner_->find(expand_own(), expand_asked(), batch_begins());
    if (group_) { induced_ = inner_->take(batch_begins()); }
  } else if (plan_.labor || fanout() < 0) {
    exchange_counted();
  } else {
    exchange_picks();
  }
  call_->report.asked += slots_.own() + slots_.away();
  call_->report.asked_away += slots_.away();
  ++hop_;
  begin_hop();
}

void batch_lane::exchange_picks()
{
  std::int64_t const k = fanout();
  std::int64_t const mine = checked_product("picks of a hop", slots_.own() + slots_.away(), k);
  std::int64_t const asked = checked_product("picks of a hop", slots_.num_asked(), k);
  expansion for_others = expand_asked();
  for_others.picked = room_in(asked_edges_, asked, memory());
  for_others.sink.neighbors = room_in(asked_neighbors_, asked, memory());
  expansion here = expand_own();
  here.picked = room_in(edges_, mine, memory());
  here.sink.neighbors = room_in(neighbors_, mine, memory());
  pick(for_others);
  std::vector<parcel> sent, received;
  slots_.add_answers(sent, received, for_others.picked, here.picked + slots_.own() * k, k);
  slots_.add_answers(sent, received, for_others.sink.neighbors, here.sink.neighbors + slots_.own() * k, k);
  setting_.messages.exchange(sent, received, stream());
  pick(here);
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
  slots_.for_each_holder([&](int r, slot_exchange::range theirs) {
    put_picks({slots_.slots() + theirs.first, edges_.data() + theirs.first * k, neighbors_.data() + theirs.first * k,
               theirs.size, setting_.first_edges[static_cast<std::size_t>(r)]},
              to, exec());
  });
  launches.number(job, to.most_vertices, exec());
  launches.end_hop();
}

/// Enqueues how many picks the vertices of an expansion have, and where those of each begin.
batch_lane::counted_hop batch_lane::count(expansion const& what, batch_space::labor_space& space, std::int64_t* counts,
                                          std::int64_t* offsets, float* weights)
{
  counted_hop out{what, {}};
  if (plan_.labor) {
    out.how = plan_.labor_of(hop_, 0);
    std::int64_t const most = what.most_vertices;
    (void)room_in(space.staged, checked_product("picks of a hop", most, std::int64_t{out.how.stage}), memory());
    (void)room_in(space.spilled, most, memory());
    (void)room_in(space.long_rows, most, memory());
    (void)room_in(space.lists, 1, memory());
  }
  out.how.memory = space.view(counts, offsets, weights);
  if (what.most_vertices == 0) { return out; }
  if (plan_.labor) {
    stage_labor(what, out.how, exec());
  } else {
    count_all(what, counts, exec());
  }
  return out;
}

/// All ranks learn of the picks of their vertices.
size_bound batch_lane::exchange_counts(counted_hop const& for_others, counted_hop const& here)
{
  std::int64_t const own = slots_.own(), mine = own + slots_.away(), asked = slots_.num_asked();
  labor_memory const& theirs = for_others.how.memory;
  labor_memory const& ours = here.how.memory;
  std::vector<parcel> sent, received;
  slots_.add_answers(sent, received, theirs.counts, ours.counts + own, 1);
  if (plan_.labor) { slots_.add_answers(sent, received, theirs.weights, ours.weights + own, 1); }
  setting_.messages.exchange(sent, received, stream());
  make_offsets(theirs.counts, asked, theirs.offsets, exec());
  make_offsets(ours.counts, mine, ours.offsets, exec());
  counted_.bring(theirs.offsets, ours.offsets);
  std::fill(host_picks_.begin(), host_picks_.end(), 0);
  if (group_) {  // in the order of the list, too
    number_job const job = group_->launches.jobs().numbers(hop_, 0);
    space_.grow(space_.counts, mine);
    space_.grow(space_.offsets, mine + 1);
    place_answers<std::int64_t>(slots_.slots(), mine, ours.counts, space_.counts.data(), stream());
    make_offsets(space_.counts.data(), mine, space_.offsets.data(), exec());
    if (plan_.labor) {
      space_.grow(space_.labor.weights, mine);
      place_answers<float>(slots_.slots(), mine, ours.weights, space_.labor.weights.data(), stream());
    }
    call_block const& block = group_->memory.block;
    std::int64_t* const sizes = block.column(block.columns().sizes());
    measure_picks(space_.offsets.data(), job.from.num, job.from.begin, group_->memory.input.num_batches, sizes, exec());
    stream_.copy(host_picks_.data(), static_cast<std::int64_t const*>(sizes), 2, cudaMemcpyDeviceToHost);
  }
  counted_.agree("numbers of neighbours");
  return {host_picks_[1], host_picks_[0]};
}

void batch_lane::pick_counted(counted_hop const& hop, std::int64_t num_picks)
{
  if (hop.what.most_vertices == 0) { return; }
  if (plan_.labor) {
    pick_labor(hop.what, hop.how, num_picks + 1, exec());
  } else {
    pick_all(hop.what, hop.how.memory.offsets, exec());
  }
}

void batch_lane::exchange_counted()
{
  std::int64_t const mine = slots_.own() + slots_.away(), asked = slots_.num_asked();
  counted_hop for_others = count(expand_asked(), asked_labor_, room_in(asked_counts_, asked, memory()),
                                 room_in(asked_offsets_, asked + 1, memory()),
                                 plan_.labor ? room_in(asked_weights_, asked, memory()) : nullptr);
  counted_hop here =
      count(expand_own(), space_.labor, room_in(counts_, mine, memory()), room_in(offsets_, mine + 1, memory()),
            plan_.labor ? room_in(weights_, mine, memory()) : nullptr);
  size_bound const picks = exchange_counts(for_others, here);
  for_others.what.picked = room_in(asked_edges_, counted_.num_asked(), memory());
  for_others.what.sink.neighbors = room_in(asked_neighbors_, counted_.num_asked(), memory());
  here.what.picked = room_in(edges_, counted_.num_mine(), memory());
  here.what.sink.neighbors = room_in(neighbors_, counted_.num_mine(), memory());
  pick_counted(for_others, counted_.num_asked());
  std::vector<parcel> sent, received;
  counted_.add(sent, received, for_others.what.picked, here.what.picked, 0);
  counted_.add(sent, received, for_others.what.sink.neighbors, here.what.sink.neighbors, 0);
  setting_.messages.exchange(sent, received, stream());
  pick_counted(here, counted_.num_own());
  if (group_) { take_counted(picks); }
}

void batch_lane::take_counted(size_bound const& picks)
{
  run_launches& launches = group_->launches;
  launches.make_room(hop_, 0, picks, exec());
  number_job job = launches.jobs().numbers(hop_, 0);
  expansion const to = launches.jobs().picks(hop_, 0, job);
  if (picks.total > 0) {
    job.offsets = space_.offsets.data();
    if (plan_.labor) { job.row_weights = space_.labor.weights.data(); }
    job.most_slots = picks.total;
    slots_.for_each_holder([&](int r, slot_exchange::range slots) {
      slot_exchange::range const theirs = counted_.held_by(r);
      put_counted({slots_.slots() + slots.first, edges_.data() + theirs.first, neighbors_.data() + theirs.first,
                   slots.size, setting_.first_edges[static_cast<std::size_t>(r)]},
                  {offsets_.data() + slots.first, theirs.first, theirs.first + theirs.size, space_.offsets.data()}, to,
                  exec());
    });
  }
  launches.number(job, to.most_vertices, exec());
  launches.end_hop();
}

void batch_lane::end_call()
{
  stream_.wait();
  group_.reset();
  induced_.clear();
  call_.reset();
}

void batch_lane::take(std::vector<minibatch>& out, gpu_exec const& exec)
{
  wait_among_ranks(setting_.ranks, "mini-batches", [&] { return done_.is_done(); });
  if (!group_) { return; }
  std::vector<minibatch> made = run_result(group_->memory, induced_).made();
  auto const home = std::make_shared<buffer<std::byte>>(bytes_together(made), memory_of(exec));
  gpu_event const ready(exec);  // whatever the memory held before
  ready.wait_on(stream());
  move_together(made, home, this->exec());
  for (minibatch& batch : made) {
    auto const& sampled = batch.edges[0].num_sampled;
    call_->report.edges += std::accumulate(sampled.begin(), sampled.end(), std::int64_t{0});
    if (inner_) { call_->report.edges += batch.edges[0].row.size(); }
    out.push_back(std::move(batch));
  }
}

}  // namespace tendril::gpu
