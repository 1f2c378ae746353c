#include "dist/batches/asked_edges.hpp"

#include <algorithm>

#include "base/parallel.hpp"  // num_threads

namespace tendril::dist {

template <class Key>
std::vector<message> asked_edges<Key>::answer(std::span<message const> asked, message_pool& pool, cpu_exec const& exec)
{
  auto const threads = static_cast<std::size_t>(base::num_threads(exec));
  if (scratch_.size() < threads) { scratch_.resize(threads); }
  return sections_.make(asked, pool, exec,
                        [&](question const& head, std::byte const* arrays, std::size_t thread, made_section& out) {
                          answer_one(head, array_at<Key>(arrays, 0), scratch_[thread], out);
                        });
}

/// Chooses edges as the executor of one machine does, for the vertices of a section.
template <class Key>
cpu::hop_expansion<Key> asked_edges<Key>::choose(question const& head, Key const* keys, scratch& own) const
{
  std::int64_t const count = head.count;
  cpu::hop_expansion<Key> what;
  what.vertices = keys;
  what.count = count;
  what.key = core::minibatch_draws::key(job_.params.seed, head.batch);
  what.step = core::minibatch_draws::step(head.hop, 0);
  what.fanout = samplers::fanout_of(job_.params, 0, head.hop);
  what.first = room(own.first, count);
  what.degree = room(own.degree, count);
  what.offsets = room(own.offsets, count + 1);
  what.offsets[0] = 0;
  auto const make_slots = [&] {
    for (std::int64_t i = 0; i < count; ++i) { what.offsets[i + 1] += what.offsets[i]; }
    std::int64_t const slots = what.offsets[count];
    what.row = room(own.row, slots);
    what.edge = room(own.edge, slots);
    what.reached = room(own.reached, slots);
    if (job_.has_weights()) { what.weights = room(own.weights, slots); }
  };
  if (job_.is_labor()) {
    if (own.labor.empty()) { own.labor.emplace_back(job_.sources[0]); }
    cpu::labor_hop_rule const rule = job_.labor_rule(head.batch, head.hop, 0);
    own.labor[0].clear();
    std::size_t const taken = own.labor[0].take(what, rule, 0, count);
    make_slots();
    own.labor[0].write(what, rule, 0, count, taken);
  } else {
    if (own.chooser.empty()) { own.chooser.emplace_back(job_.sources[0]); }
    own.chooser[0].measure(what, 0, count);
    make_slots();
    (void)own.chooser[0].choose(what, 0, count);
  }
  return what;
}

template <class Key>
void asked_edges<Key>::answer_one(question const& asked, Key const* keys, scratch& own, made_section& out) const
{
  if (asked.hop == question::all_inner) {
    find_inner(asked, keys, own, out);
    return;
  }
  cpu::hop_expansion<Key> const what = choose(asked, keys, own);
  // Weights of 0 leave slots empty, which are not sent.
  std::int64_t const slots = what.offsets[what.count];
  std::int64_t const edges = slots - std::count(what.edge, what.edge + slots, edge_id{-1});
  frontier_answer const head{asked.count, job_.has_weights() ? 1U : 0U, edges};
  answer_layout const layout(head);
  std::byte* const to = out.begin(head, layout.bytes());
  auto* const first = array_at<edge_id>(to, layout.first());
  auto* const counts = array_at<std::uint32_t>(to, layout.counts());
  auto* const weights = array_at<float>(to, layout.weights());
  auto* neighbors = array_at<vertex_id>(to, layout.neighbors());
  auto* positions = array_at<std::uint32_t>(to, layout.positions());
  for (std::int64_t i = 0; i < what.count; ++i) {
    first[i] = first_edge_ + what.first[i];
    auto const* const before = neighbors;
    for (std::int64_t s = what.offsets[i]; s < what.offsets[i + 1]; ++s) {
      if (what.edge[s] < 0) { continue; }
      *neighbors++ = cpu::vertex_of(what.reached[s]);
      *positions++ = static_cast<std::uint32_t>(what.edge[s] - what.first[i]);
    }
    counts[i] = static_cast<std::uint32_t>(neighbors - before);
    if (head.has_weights != 0) { weights[i] = counts[i] == 0 ? 0.0F : what.weights[what.offsets[i]]; }
  }
}

/// The edges between the vertices of a batch that lead from those of this rank.
template <class Key>
void asked_edges<Key>::find_inner(question const& asked, Key const* keys, scratch& own, made_section& out) const
{
  std::int64_t const count = asked.count;
  own.numbers.clear();
  own.numbers.reserve(keys, static_cast<std::uint64_t>(count));
  Key* const numbered = room(own.numbered, count + 1);
  own.numbers.number(keys, count, room(own.offsets, count), numbered);
  own.found.clear();
  edge_id* const first = room(own.first, count);
  std::uint32_t* const counts = room(own.degree, count);
  std::uint32_t rows = 0;
  job_.sources[0].graph.visit([&](auto const& graph) {
    for (std::int64_t i = 0; i < count; ++i) {
      Key const from = keys[i];
      if (!has(from)) { continue; }
      auto const edges = graph.row(job_.sources[0].row_of(from));
      std::size_t const before = own.found.size();
      cpu::append_inner_edges(
          edges, own.numbers, [&](vertex_id v) { return cpu::neighbor_key(from, v); }, own.found);
      first[rows] = edges.first_edge();
      counts[rows] = static_cast<std::uint32_t>(own.found.size() - before);
      ++rows;
    }
  });
  frontier_answer const head{rows, 0, std::ssize(own.found)};
  answer_layout const layout(head);
  std::byte* const to = out.begin(head, layout.bytes());
  auto* neighbors = array_at<vertex_id>(to, layout.neighbors());
  auto* positions = array_at<std::uint32_t>(to, layout.positions());
  auto found = own.found.begin();
  for (std::uint32_t r = 0; r < rows; ++r) {
    array_at<edge_id>(to, layout.first())[r] = first_edge_ + first[r];
    array_at<std::uint32_t>(to, layout.counts())[r] = counts[r];
    for (std::uint32_t k = 0; k < counts[r]; ++k, ++found) {
      *neighbors++ = static_cast<vertex_id>(found->col);
      *positions++ = static_cast<std::uint32_t>(found->edge - first[r]);
    }
  }
}

template class asked_edges<std::uint32_t>;
template class asked_edges<std::uint64_t>;

std::unique_ptr<answerer> make_asked_edges(cpu::minibatch_job const& job, shard const& here)
{
  if (job.params.disjoint) {
    return std::make_unique<asked_edges<std::uint64_t>>(job, here.first_edge(), here.part.num_vertices());
  }
  return std::make_unique<asked_edges<std::uint32_t>>(job, here.first_edge(), here.part.num_vertices());
}

}  // namespace tendril::dist
