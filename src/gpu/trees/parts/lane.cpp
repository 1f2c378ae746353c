#include "gpu/trees/parts/lane.hpp"

#include <algorithm>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "core/draws.hpp"
#include "gpu/device/check.hpp"
#include "gpu/trees/parts/children.hpp"

namespace tendril::gpu {
namespace {

/// Fills memory with what stands for no vertex, or no edge.
template <class T>
void fill_none(T* to, std::int64_t size, cuda_stream stream)
{
  TENDRIL_CUDA_TRY(cudaMemsetAsync(to, 0xff, static_cast<std::size_t>(size) * sizeof(T), stream));
}

}  // namespace

tree_lane::tree_lane(tree_setting const& setting)
    : setting_(setting), slots_(setting.ranks, setting.messages, setting.whole.bounds, setting.device, stream_)
{
}

tree_lane::~tree_lane() { stream_.settle(); }

void tree_lane::start(std::int64_t round, std::span<vertex_id const> seeds)
{
  round_ = round;
  hop_ = 0;
  num_roots_ = std::ssize(seeds);
  a_root_ = 1;
  parents_ = seeds.data();
  sort_parents();
}

void tree_lane::sort_parents() { slots_.begin(parents_, checked_product("slots of a hop", num_roots_, a_root_)); }

bool tree_lane::finish()
{
  if (hop_ == setting_.params.fanouts.size()) { return false; }
  slots_.exchange("slots of trees");
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
  asked_slots const asked{slots, static_cast<std::uint32_t>(a_root_), setting_.first_edge, in_place};
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
  memory_resource& memory = gpu_memory(setting_.device, stream());
  std::int64_t const made = checked_product("children of a hop", slots_.num_asked(), fanout);
  std::int64_t const came = checked_product("children of a hop", slots_.away(), fanout);
  vertex_id* const made_vertices = room_in(made_vertices_, made, memory);
  vertex_id* const came_vertices = room_in(came_vertices_, came, memory);
  edge_id* const made_edges = with_edges ? room_in(made_edges_, made, memory) : nullptr;
  edge_id* const came_edges = with_edges ? room_in(came_edges_, came, memory) : nullptr;
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    auto const theirs = slots_.asked_by(r);
    expand(r, slots_.asked() + theirs.first, theirs.size, false, made_vertices + theirs.first * fanout,
           with_edges ? made_edges + theirs.first * fanout : nullptr);
  }
  std::vector<parcel> out, in;
  slots_.add_answers(out, in, made_vertices, came_vertices, fanout);
  if (with_edges) { slots_.add_answers(out, in, made_edges, came_edges, fanout); }
  setting_.messages.exchange(out, in, stream());

  // Of this rank.
  std::int64_t const num_parents = num_roots_ * a_root_;
  if (slots_.own() + slots_.away() < num_parents) {  // slots without a vertex
    fill_none(vertices, num_parents * fanout, stream());
    if (with_edges) { fill_none(edges, num_parents * fanout, stream()); }
  }
  expand(rank(), slots_.slots(), slots_.own(), true, vertices, edges);
  place_children(slots_.slots() + slots_.own(), slots_.away(), static_cast<std::uint32_t>(fanout), came_vertices,
                 came_edges, vertices, edges, stream());

  parents_ = vertices;
  a_root_ *= fanout;
  ++hop_;
  if (hop_ < setting_.params.fanouts.size()) { sort_parents(); }
}

}  // namespace tendril::gpu
