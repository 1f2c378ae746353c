#include "gpu/trees/parts/lane.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "core/draws.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

constexpr char const* what = "slots of trees";

/// Fills memory with what stands for no vertex, or no edge.
template <class T>
void fill_none(T* to, std::int64_t size, cuda_stream stream)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(to, 0xff, static_cast<std::size_t>(size) * sizeof(T), stream));
}

/// Parcels of a record a slot, or of `each`, between this rank and the others.
template <class T, class Ranges>
void add_parcels(std::vector<parcel>& list, T* data, std::int64_t each, Ranges const& ranges, int rank)
{
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    if (static_cast<int>(r) == rank) { continue; }
    list.push_back({static_cast<int>(r), data + ranges[r].first * each,
                    ranges[r].size * each * static_cast<std::int64_t>(sizeof(T))});
  }
}

}  // namespace

tree_lane::tree_lane(tree_setting const& setting)
    : setting_(setting),
      sent_(static_cast<std::size_t>(setting.ranks.size())),
      asked_(sent_.size()),
      tallies_(2 * most_ranks, gpu_memory(setting.device, stream_.get())),
      counts_(most_ranks, pinned_memory())
{
}

tree_lane::~tree_lane() { stream_.settle(); }

template <class T>
T* tree_lane::room(buffer<T>& box, std::int64_t size)
{
  if (box.size() < size) { box = buffer<T>(size, gpu_memory(setting_.device, stream())); }
  return box.data();
}

void tree_lane::start(std::int64_t round, std::span<vertex_id const> seeds)
{
  round_ = round;
  hop_ = 0;
  num_roots_ = std::ssize(seeds);
  a_root_ = 1;
  parents_ = seeds.data();
  sort_parents();
}

void tree_lane::sort_parents()
{
  slot_sort at{};
  at.vertices = parents_;
  at.size = checked_product("slots of a hop", num_roots_, a_root_);
  at.rank = rank();
  at.num_ranks = num_ranks();
  std::transform(setting_.whole.bounds.begin(), setting_.whole.bounds.end(), at.bounds,
                 [](std::int64_t bound) { return static_cast<vertex_id>(bound); });
  at.slots = room(sent_slots_, at.size);
  at.counts = tallies_.data();
  at.cursors = tallies_.data() + most_ranks;
  TENDRIL_CUDA_TRY(cudaMemsetAsync(tallies_.data(), 0, tallies_.span().size_bytes(), stream()));
  count_slots(at, setting_.device, stream());
  stream_.copy(counts_.data(), static_cast<unsigned const*>(at.counts), most_ranks, cudaMemcpyDeviceToHost);
  TENDRIL_CUDA_TRY(cudaEventRecord(counted_.get(), stream()));
  sort_slots(at, setting_.device, stream());  // while the host learns how many there are
}

bool tree_lane::finish()
{
  if (hop_ == setting_.params.fanouts.size()) { return false; }
  wait_among_ranks(setting_.ranks, what, [&] { return counted_.is_done(); });
  auto const here = static_cast<std::size_t>(rank());
  std::vector<message> messages;
  for (std::size_t r = 0; r < sent_.size(); ++r) {
    std::int64_t const size = counts_[static_cast<std::int64_t>(r)];
    message& m = messages.emplace_back(setting_.ranks.pool().take(sizeof size));
    m.append(&size, sizeof size);
    sent_[r].size = size;
  }
  std::vector<message> answers = setting_.ranks.all_to_all(what, messages);
  std::int64_t sent = sent_[here].size;  // which lie in front
  std::int64_t asked = 0;
  for (std::size_t r = 0; r < sent_.size(); ++r) {
    std::memcpy(&asked_[r].size, answers[r].data(), sizeof asked_[r].size);
    setting_.ranks.pool().give_back(std::move(answers[r]));
    sent_[r].first = r == here ? 0 : sent;
    asked_[r].first = asked;
    if (r == here) { continue; }
    sent += sent_[r].size;
    asked += asked_[r].size;
  }
  std::vector<parcel> out, in;
  add_parcels(out, sent_slots_.data(), 1, sent_, rank());
  add_parcels(in, room(asked_slots_, asked), 1, asked_, rank());
  setting_.messages.exchange(out, in, stream());
  return true;
}

khop_job tree_lane::job_of_hop() const
{
  std::int64_t const fanout = setting_.params.fanouts[hop_];
  khop_job job;
  job.graph = setting_.rows.view();
  job.key = core::khop_key(setting_.params.seed, hop_ + 1);
  job.fanout = static_cast<std::uint32_t>(fanout);
  job.most_picks = most_picks(setting_.rows, fanout, exec());
  job.replace = setting_.params.replace;
  return job;
}

void tree_lane::expand(int of, asked_slot const* slots, std::int64_t size, bool in_place, vertex_id* vertices,
                       edge_id* edges)
{
  if (size == 0) { return; }
  asked_slots const asked{slots, static_cast<std::uint32_t>(a_root_),
                          static_cast<vertex_id>(setting_.whole.bounds[static_cast<std::size_t>(rank())]),
                          setting_.first_edge, in_place};
  khop_job job = job_of_hop();
  job.asked = &asked;
  job.parents.size = size;
  job.first_root = static_cast<std::uint64_t>(setting_.rounds.first_ids[static_cast<std::size_t>(of)] +
                                              round_ * setting_.rounds.batch);
  job.vertices = vertices;
  job.edges = edges;
  launch_hop(job, setting_.params, setting_.rule, setting_.tables, race_scratch_, exec());
}

void tree_lane::step()
{
  std::int64_t const fanout = setting_.params.fanouts[hop_];
  bool const with_edges = setting_.with_edges;
  tree_hop& hop = setting_.out.hops[hop_];
  std::int64_t const first_root = std::min(round_ * setting_.rounds.batch, setting_.rounds.num_items);
  std::int64_t const first = first_root * a_root_ * fanout;
  vertex_id* const vertices = hop.vertices.data() + first;
  edge_id* const edges = with_edges ? hop.edges.data() + first : nullptr;

  // Of others.
  auto const size_of = [&](std::vector<range> const& ranges) {
    return std::accumulate(ranges.begin(), ranges.end(), std::int64_t{0},
                           [](std::int64_t sum, range const& one) { return sum + one.size; }) -
           ranges[static_cast<std::size_t>(rank())].size;
  };
  std::int64_t const here = sent_[static_cast<std::size_t>(rank())].size;
  std::int64_t const asked = checked_product("children of a hop", size_of(asked_), fanout);
  std::int64_t const awaited = checked_product("children of a hop", size_of(sent_), fanout);
  vertex_id* const made_vertices = room(made_vertices_, asked);
  edge_id* const made_edges = with_edges ? room(made_edges_, asked) : nullptr;
  for (int r = 0; r < num_ranks(); ++r) {
    range const& theirs = asked_[static_cast<std::size_t>(r)];
    if (r == rank()) { continue; }
    expand(r, asked_slots_.data() + theirs.first, theirs.size, false, made_vertices + theirs.first * fanout,
           with_edges ? made_edges + theirs.first * fanout : nullptr);
  }
  std::vector<range> came = sent_;  // without those of this rank, which lie in front
  for (range& one : came) { one.first -= here; }
  std::vector<parcel> out, in;
  add_parcels(out, made_vertices, fanout, asked_, rank());
  add_parcels(in, room(came_vertices_, awaited), fanout, came, rank());
  if (with_edges) {
    add_parcels(out, made_edges, fanout, asked_, rank());
    add_parcels(in, room(came_edges_, awaited), fanout, came, rank());
  }
  setting_.messages.exchange(out, in, stream());

  // Of this rank.
  std::int64_t const num_parents = num_roots_ * a_root_;
  if (here + size_of(sent_) < num_parents) {  // slots without a vertex
    fill_none(vertices, num_parents * fanout, stream());
    if (with_edges) { fill_none(edges, num_parents * fanout, stream()); }
  }
  expand(rank(), sent_slots_.data(), here, true, vertices, edges);
  place_children(sent_slots_.data() + here, size_of(sent_), static_cast<std::uint32_t>(fanout), came_vertices_.data(),
                 with_edges ? came_edges_.data() : nullptr, vertices, edges, stream());

  parents_ = vertices;
  a_root_ *= fanout;
  ++hop_;
  if (hop_ < setting_.params.fanouts.size()) { sort_parents(); }
}

}  // namespace tendril::gpu
