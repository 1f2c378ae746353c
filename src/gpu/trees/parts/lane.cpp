#include "gpu/trees/parts/lane.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <tendril/checked.hpp>

#include "core/draws.hpp"
#include "gpu/device/check.hpp"
#include "gpu/trees/parts/all.hpp"
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
    : setting_(setting),
      slots_(setting.ranks, setting.messages, setting.whole.bounds, setting.device, stream_),
      counted_(setting.ranks, slots_, stream_)
{
}

tree_lane::~tree_lane() { stream_.settle(); }

void tree_lane::start(std::int64_t round, std::span<vertex_id const> seeds)
{
  round_ = round;
  hop_ = 0;
  parents_ = {seeds.data(), std::ssize(seeds), std::ssize(seeds), 1, nullptr};
  sort_parents();
}

void tree_lane::sort_parents() { slots_.begin(parents_.vertices, parents_.size); }

bool tree_lane::finish()
{
  if (hop_ == setting_.params.fanouts.size()) { return false; }
  slots_.agree("slots of trees");
  std::vector<parcel> out, in;
  slots_.add_slots(out, in);
  if (needs_places()) { add_places(out, in); }
  setting_.messages.exchange(out, in, stream());
  return true;
}

void tree_lane::add_places(std::vector<parcel>& sent, std::vector<parcel>& received)
{
  std::int64_t const mine = slots_.own() + slots_.away();
  tree_place* const places = room_in(places_, mine, memory());
  find_places(slots_.slots(), mine, parents_, places, stream());
  slots_.add_questions(sent, received, places, room_in(asked_places_, slots_.num_asked(), memory()));
}

khop_job tree_lane::job_of_hop() const
{
  khop_job job;
  job.graph = setting_.rows.view();
  job.key = core::khop_key(setting_.params.seed, hop_ + 1);
  job.fanout = static_cast<std::uint32_t>(fanout());
  job.most_picks = most_picks(setting_.rows, fanout(), exec());
  job.replace = setting_.params.replace;
  return job;
}

void tree_lane::expand(int of, asked_slot const* slots, tree_place const* places, std::int64_t size, bool in_place,
                       vertex_id* vertices, edge_id* edges)
{
  if (size == 0) { return; }
  std::uint32_t const a_root = places != nullptr ? 1 : static_cast<std::uint32_t>(parents_.a_unit);
  asked_slots const asked{slots, places, a_root, setting_.first_edge, in_place};
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
  fanout() == -1 ? take_all() : take_picks();
  ++hop_;
  if (hop_ < setting_.params.fanouts.size()) { sort_parents(); }
}

void tree_lane::wait()
{
  TENDRIL_CUDA_TRY(cudaEventRecord(reached_.get(), stream()));
  wait_among_ranks(setting_.ranks, "trees", [&] { return reached_.is_done(); });
}

void tree_lane::take_picks()
{
  std::int64_t const fanout = this->fanout();
  bool const with_edges = setting_.out.with_edges();
  tree_hop& hop = setting_.out.hop(hop_);
  std::int64_t const first_root = std::min(round_ * setting_.rounds.batch, setting_.rounds.num_items);
  std::int64_t const first = first_root * parents_.a_unit * fanout;
  vertex_id* const vertices = hop.vertices.data() + first;
  edge_id* const edges = with_edges ? hop.edges.data() + first : nullptr;

  // Of others.
  std::int64_t const made = checked_product("children of a hop", slots_.num_asked(), fanout);
  std::int64_t const came = checked_product("children of a hop", slots_.away(), fanout);
  vertex_id* const made_vertices = room_in(made_vertices_, made, memory());
  vertex_id* const came_vertices = room_in(came_vertices_, came, memory());
  edge_id* const made_edges = with_edges ? room_in(made_edges_, made, memory()) : nullptr;
  edge_id* const came_edges = with_edges ? room_in(came_edges_, came, memory()) : nullptr;
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    auto const theirs = slots_.asked_by(r);
    expand(r, slots_.asked() + theirs.first, needs_places() ? asked_places_.data() + theirs.first : nullptr,
           theirs.size, false, made_vertices + theirs.first * fanout,
           with_edges ? made_edges + theirs.first * fanout : nullptr);
  }
  std::vector<parcel> out, in;
  slots_.add_answers(out, in, made_vertices, came_vertices, fanout);
  if (with_edges) { slots_.add_answers(out, in, made_edges, came_edges, fanout); }
  setting_.messages.exchange(out, in, stream());

  // Of this rank.
  std::int64_t const num_children = checked_product("children of a hop", parents_.size, fanout);
  if (slots_.own() + slots_.away() < parents_.size) {  // slots without a vertex
    fill_none(vertices, num_children, stream());
    if (with_edges) { fill_none(edges, num_children, stream()); }
  }
  expand(rank(), slots_.slots(), needs_places() ? places_.data() : nullptr, slots_.own(), true, vertices, edges);
  place_children(slots_.slots() + slots_.own(), slots_.away(), static_cast<std::uint32_t>(fanout), came_vertices,
                 came_edges, vertices, edges, stream());

  parents_.vertices = vertices;
  parents_.size = num_children;
  parents_.a_unit *= fanout;
}

void tree_lane::take_all()
{
  tree_hop& hop = setting_.out.hop(hop_);
  count_neighbors(hop);
  make_room();
  exchange_all();
  buffer<std::int64_t> begins(parents_.num_roots + 1, memory());
  find_root_begins(parents_, hop.offsets.data(), begins.data(), stream());
  unit_begin_ = std::move(begins);  // what was there is given back in the order of the stream
  parents_ = {hop.vertices.data(), hop.vertices.size(), parents_.num_roots, 1, unit_begin_.data()};
}

void tree_lane::count_neighbors(tree_hop& hop)
{
  std::int64_t const own = slots_.own(), mine = own + slots_.away(), asked = slots_.num_asked();
  graph_view const part = setting_.rows.view();
  std::int64_t* const begins = room_in(begins_, mine + 1, memory());
  std::int64_t* const asked_begins = room_in(asked_begins_, asked + 1, memory());
  count_children(part, slots_.asked(), asked, asked_begins, stream());
  count_children(part, slots_.slots(), own, begins, stream());
  std::vector<parcel> sent, received;
  slots_.add_answers(sent, received, asked_begins, begins + own, 1);
  setting_.messages.exchange(sent, received, stream());
  TENDRIL_CUDA_TRY(cudaMemsetAsync(hop.offsets.data(), 0, hop.offsets.span().size_bytes(), stream()));
  place_answers<std::int64_t>(slots_.slots(), mine, begins, hop.offsets.data(), stream());
  make_begins(asked_begins, asked, exec());
  make_begins(begins, mine, exec());
  make_begins(hop.offsets.data(), parents_.size, exec());
  counted_.bring(asked_begins, begins);
  counted_.agree("numbers of neighbours");
}

void tree_lane::make_room()
{
  bool const with_edges = setting_.out.with_edges();
  std::int64_t const made = counted_.num_asked(), came = counted_.num_mine() - counted_.num_own();
  setting_.ranks.or_refuse([&] {
    setting_.out.set_size(counted_.num_mine());
    (void)room_in(made_vertices_, made, memory());
    (void)room_in(came_vertices_, came, memory());
    if (!with_edges) { return; }
    (void)room_in(made_edges_, made, memory());
    (void)room_in(came_edges_, came, memory());
  });
  setting_.ranks.barrier("room for trees");
  setting_.out.wait_on(stream());
}

void tree_lane::exchange_all()
{
  bool const with_edges = setting_.out.with_edges();
  graph_view const part = setting_.rows.view();
  std::int64_t const own = slots_.own(), away = slots_.away(), asked = slots_.num_asked();
  std::int64_t const own_children = counted_.num_own(), all_children = counted_.num_mine();
  vertex_id *const made_vertices = made_vertices_.data(), *const came_vertices = came_vertices_.data();
  edge_id* const made_edges = with_edges ? made_edges_.data() : nullptr;
  edge_id* const came_edges = with_edges ? came_edges_.data() : nullptr;
  take_from_part({slots_.asked(), asked, asked_begins_.data(), 0, counted_.num_asked()}, part, setting_.first_edge,
                 {made_vertices, made_edges, nullptr}, exec());

  std::vector<parcel> sent, received;
  counted_.add(sent, received, made_vertices, came_vertices, own_children);
  if (with_edges) { counted_.add(sent, received, made_edges, came_edges, own_children); }
  setting_.messages.exchange(sent, received, stream());

  tree_hop& hop = setting_.out.hop(hop_);
  children_places const to{hop.vertices.data(), with_edges ? hop.edges.data() : nullptr, hop.offsets.data()};
  take_from_part({slots_.slots(), own, begins_.data(), 0, own_children}, part, setting_.first_edge, to, exec());
  take_from_ranks({slots_.slots() + own, away, begins_.data() + own, own_children, all_children}, came_vertices,
                  came_edges, to, exec());
}

}  // namespace tendril::gpu
