#include "cpu/batches/maker.hpp"

#include <algorithm>
#include <atomic>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::cpu {
namespace {

constexpr std::int64_t measured_a_range = 1024;
constexpr std::int64_t labor_a_range = 64;  // all neighbours of each vertex are read

/// Vertices that a thread takes at a time: so many that it is worth the while to wake one.
std::int64_t vertices_a_range(std::int64_t fanout)
{
  constexpr std::int64_t slots = 4096;
  return fanout < 0 ? 64 : std::clamp<std::int64_t>(slots / std::max<std::int64_t>(fanout, 1), 16, 1024);
}

/// A buffer of at least `size` elements, which are not kept.
template <class T>
void make_room(buffer<T>& what, std::int64_t size)
{
  if (what.size() < size) { what = buffer<T>(size + size / 4); }
}

}  // namespace

template <class Key>
minibatch_maker<Key>::minibatch_maker(minibatch_job const& job, std::shared_ptr<block_pool> const& pool) : job_(job)
{
  for (std::size_t t = 0; t < job.num_vertices.size(); ++t) { vertices_.emplace_back(pool); }
  for (std::size_t t = 0; t < job.edge_ends.size(); ++t) { edges_.emplace_back(pool); }
}

template <class Key>
minibatch minibatch_maker<Key>::make(batch_seeds const& seeds, std::uint64_t batch, cpu_exec const& exec)
{
  std::int64_t const hops = samplers::hops_of(job_.params);
  make_choosers(exec);
  begin(seeds, batch);
  for (std::int64_t h = 0; h < hops; ++h) {
    if (exec.on_progress) { exec.on_progress({"sampling", h, hops}); }
    begin_hop();
    for (std::size_t t = 0; t < edges_.size(); ++t) {
      hop_expansion<Key> what = frontier(t, static_cast<std::uint32_t>(h));
      if (job_.is_labor()) {
        pick_labor(t, static_cast<std::uint32_t>(h), what, exec);
      } else {
        pick(t, what, exec);
      }
      number(t, what);
    }
    end_hop();
  }
  if (job_.params.subgraph == subgraph_type::induced) {
    for (std::size_t t = 0; t < edges_.size(); ++t) { induce(t, exec); }
  }
  return finish();
}

template <class Key>
void minibatch_maker<Key>::make_choosers(cpu_exec const& exec)
{
  auto const threads = static_cast<std::size_t>(base::num_threads(exec));
  for (std::size_t t = 0; t < edges_.size(); ++t) {
    edge_state& e = edges_[t];
    while (job_.is_labor() && e.labor.size() < threads) { e.labor.emplace_back(job_.sources[t]); }
    while (!job_.is_labor() && e.choosers.size() < threads) { e.choosers.emplace_back(job_.sources[t]); }
  }
}

template <class Key>
void minibatch_maker<Key>::begin(batch_seeds const& seeds, std::uint64_t batch)
{
  batch_ = batch;
  for (auto& v : vertices_) {
    v.numbers.clear();
    v.keys.resize(0);
    v.keys.reserve(v.expected);
    v.num_sampled.clear();
    v.fresh = 0;
  }
  for (edge_state& e : edges_) {
    for (auto* const array : {&e.row, &e.col, &e.edge}) {
      array->resize(0);
      array->reserve(e.expected);
    }
    e.weights.resize(0);
    if (job_.has_weights()) { e.weights.reserve(e.expected); }
    e.indptr.resize(0);
    e.indptr.reserve(std::max<std::int64_t>(e.expected_rows, 1));
    e.indptr.resize(1);
    e.indptr[0] = 0;
    e.first_expanded.clear();
    e.num_expanded.clear();
    e.num_sampled.clear();
  }
  tree_time_.clear();
  for (auto const& times : seeds.times) { tree_time_.insert(tree_time_.end(), times.begin(), times.end()); }
  add_seeds(seeds);
}

template <class Key>
void minibatch_maker<Key>::begin_hop()
{
  for (auto& v : vertices_) { v.end = v.numbers.size(); }
}

template <class Key>
void minibatch_maker<Key>::end_hop()
{
  for (auto& v : vertices_) {
    v.fresh = v.end;
    v.num_sampled.push_back(v.numbers.size() - v.end);
  }
}

template <class Key>
void minibatch_maker<Key>::reserve_numbers(vertex_state& vertices, std::int64_t num_vertices, std::int64_t more)
{
  constexpr std::int64_t most_numbers = 0xfffffffe;
  std::int64_t most = vertices.numbers.size() + more;
  if constexpr (sizeof(Key) == 4) { most = std::min(most, num_vertices); }  // each vertex once
  TENDRIL_EXPECTS(most <= most_numbers, "seeds: a batch of up to {} vertices, expected at most {}; take fewer a batch",
                  most, most_numbers);
  vertices.keys.reserve(most + 1);
  vertices.numbers.reserve(vertices.keys.data(), static_cast<std::uint64_t>(most));
}

template <class Key>
void minibatch_maker<Key>::add_seeds(batch_seeds const& seeds)
{
  std::uint64_t tree = 0;
  for (std::size_t t = 0; t < vertices_.size(); ++t) {
    vertex_state& v = vertices_[t];
    auto const list = seeds.vertices[t];
    auto const count = static_cast<std::int64_t>(list.size());
    reserve_numbers(v, job_.num_vertices[t], count);
    make_room(reached_, count);
    make_room(first_, count);  // their numbers, which no later step reads
    for (std::int64_t i = 0; i < count; ++i) {
      vertex_id const seed = list[static_cast<std::size_t>(i)];
      if constexpr (sizeof(Key) == 4) {
        reached_[i] = seed;
      } else {
        reached_[i] = (tree++ << 32U) | seed;
      }
    }
    v.numbers.number(reached_.data(), count, first_.data(), v.keys.data());
    v.keys.resize(v.numbers.size());
    v.num_sampled.push_back(v.numbers.size());
  }
}

template <class Key>
hop_expansion<Key> minibatch_maker<Key>::frontier(std::size_t type, std::uint32_t hop)
{
  vertex_state& from = vertices_[job_.edge_ends[type].from];
  edge_state& out = edges_[type];
  std::int64_t const first = job_.params.frontier == batch_frontier::fresh ? from.fresh : 0;
  std::int64_t const count = from.end - first;
  out.first_expanded.push_back(first);
  out.num_expanded.push_back(count);
  std::int64_t const rows = out.indptr.size();
  out.indptr.resize(rows + count);

  make_room(first_, count);
  make_room(degree_, count);
  hop_expansion<Key> what;
  what.vertices = from.keys.data() + first;
  what.count = count;
  what.first_local = first;
  what.tree_time = tree_time_.empty() ? nullptr : tree_time_.data();
  what.key = core::minibatch_draws::key(job_.params.seed, batch_);
  what.step = core::minibatch_draws::step(hop, static_cast<std::uint32_t>(type));
  what.fanout = samplers::fanout_of(job_.params, type, hop);
  what.first = first_.data();
  what.degree = degree_.data();
  what.offsets = out.indptr.data() + rows - 1;
  return what;
}

template <class Key>
hop_expansion<Key> minibatch_maker<Key>::all_vertices(std::size_t type)
{
  vertex_state& from = vertices_[job_.edge_ends[type].from];
  edge_state& out = edges_[type];
  hop_expansion<Key> what;
  what.vertices = from.keys.data();
  what.count = from.numbers.size();
  out.first_expanded = {0};
  out.num_expanded = {what.count};
  out.indptr.resize(what.count + 1);
  out.indptr[0] = 0;
  what.offsets = out.indptr.data();
  return what;
}

template <class Key>
void minibatch_maker<Key>::make_slots(std::size_t type, hop_expansion<Key>& what)
{
  edge_state& edges = edges_[type];
  for (std::int64_t i = 0; i < what.count; ++i) { what.offsets[i + 1] += what.offsets[i]; }
  std::int64_t const end = what.offsets[what.count];
  for (auto* const array : {&edges.row, &edges.col, &edges.edge}) { array->resize(end); }
  make_room(reached_, end - what.offsets[0]);
  what.row = edges.row.data();
  what.edge = edges.edge.data();
  what.reached = reached_.data();
  if (!job_.has_weights()) { return; }
  edges.weights.resize(end);
  what.weights = edges.weights.data();
}

/// Each vertex by draws of its own.
template <class Key>
void minibatch_maker<Key>::pick(std::size_t type, hop_expansion<Key>& what, cpu_exec const& exec)
{
  edge_state& out = edges_[type];
  int const threads = base::num_threads(exec);
  base::parallel_ranges(exec, what.count, measured_a_range, [&](std::int64_t begin, std::int64_t end) {
    out.choosers[thread_of(threads)].measure(what, begin, end);
  });
  make_slots(type, what);
  std::atomic<bool> filled{true};
  base::parallel_ranges(exec, what.count, vertices_a_range(what.fanout), [&](std::int64_t begin, std::int64_t end) {
    if (!out.choosers[thread_of(threads)].choose(what, begin, end)) { filled = false; }
  });
  if (!filled) { drop_empty_slots(out, what); }
}

/// By the neighbours' numbers.
template <class Key>
void minibatch_maker<Key>::pick_labor(std::size_t type, std::uint32_t hop, hop_expansion<Key>& what,
                                      cpu_exec const& exec)
{
  edge_state& out = edges_[type];
  labor_hop_rule const rule = job_.labor_rule(batch_, hop, type);
  for (auto& one : out.labor) { one.clear(); }
  ranges_.resize(static_cast<std::size_t>((what.count + labor_a_range - 1) / labor_a_range));
  int const threads = base::num_threads(exec);
  base::parallel_ranges(exec, what.count, labor_a_range, [&](std::int64_t begin, std::int64_t end) {
    std::size_t const thread = thread_of(threads);
    ranges_[static_cast<std::size_t>(begin / labor_a_range)] = {thread, out.labor[thread].take(what, rule, begin, end)};
  });
  make_slots(type, what);
  base::parallel_ranges(exec, what.count, labor_a_range, [&](std::int64_t begin, std::int64_t end) {
    found_range const found = ranges_[static_cast<std::size_t>(begin / labor_a_range)];
    out.labor[found.thread].write(what, rule, begin, end, found.begin);
  });
}

/// Closes the gaps that weights of 0 leave.
template <class Key>
void minibatch_maker<Key>::drop_empty_slots(edge_state& edges, hop_expansion<Key> const& hop)
{
  std::int64_t const base = hop.offsets[0];
  std::int64_t at = base;
  std::int64_t slot = base;
  for (std::int64_t i = 0; i < hop.count; ++i) {
    std::int64_t const end = hop.offsets[i + 1];
    for (; slot < end; ++slot) {
      if (hop.edge[slot] < 0) { continue; }
      hop.row[at] = hop.row[slot];
      hop.edge[at] = hop.edge[slot];
      hop.reached[at - base] = hop.reached[slot - base];
      ++at;
    }
    hop.offsets[i + 1] = at;
  }
  for (auto* const array : {&edges.row, &edges.col, &edges.edge}) { array->resize(at); }
}

template <class Key>
void minibatch_maker<Key>::number(std::size_t type, hop_expansion<Key> const& what)
{
  std::size_t const to_type = job_.edge_ends[type].to;
  vertex_state& to = vertices_[to_type];
  std::int64_t const begin = what.offsets[0];
  std::int64_t const count = what.offsets[what.count] - begin;
  reserve_numbers(to, job_.num_vertices[to_type], count);
  to.numbers.number(reached_.data(), count, edges_[type].col.data() + begin, to.keys.data());
  to.keys.resize(to.numbers.size());
  edges_[type].num_sampled.push_back(count);
}

template <class Key>
void minibatch_maker<Key>::keep_numbers(std::size_t type, hop_expansion<Key> const& what)
{
  std::copy_n(reached_.data(), what.offsets[what.count], edges_[type].col.data());
}

template <class Key>
void minibatch_maker<Key>::add_reverses(edge_state& edges)
{
  std::int64_t const count = edges.edge.size();
  for (auto* const array : {&edges.row, &edges.col, &edges.edge}) { array->resize(2 * count); }
  std::copy_n(edges.col.data(), count, edges.row.data() + count);
  std::copy_n(edges.row.data(), count, edges.col.data() + count);
  std::copy_n(edges.edge.data(), count, edges.edge.data() + count);
  edges.indptr.resize(0);
  edges.first_expanded.clear();
  edges.num_expanded.clear();
}

/// Replaces the sampled edges by all edges between the batch's vertices.
template <class Key>
void minibatch_maker<Key>::induce(std::size_t type, cpu_exec const& exec)
{
  edge_state& out = edges_[type];
  std::int64_t const rows = vertices_[job_.edge_ends[type].from].numbers.size();
  out.first_expanded = {0};
  out.num_expanded = {rows};
  inner_.find(rows, exec, [&](std::int64_t i, std::vector<inner_edge>& found) { find_inner_edges(type, i, found); },
              {out.indptr, out.row, out.col, out.edge});
}

template <class Key>
void minibatch_maker<Key>::find_inner_edges(std::size_t type, std::int64_t row, std::vector<inner_edge>& out) const
{
  edge_source const& source = job_.sources[type];
  Key const from = vertices_[job_.edge_ends[type].from].keys[row];
  auto const& numbers = vertices_[job_.edge_ends[type].to].numbers;
  bool const timed = source.times != nullptr && !tree_time_.empty();
  auto const key_of = [&](vertex_id v) { return neighbor_key(from, v); };
  source.graph.visit([&](auto const& graph) {
    auto const edges = graph.row(source.row_of(from));
    edge_id const first = edges.first_edge();
    std::uint32_t const allowed =
        timed ? core::edges_until(source.times + first, edges.degree(), tree_time_[tree_of(from)]) : edges.degree();
    if (allowed == edges.degree()) {
      append_inner_edges(edges, numbers, key_of, out);
      return;
    }
    auto const before = static_cast<std::ptrdiff_t>(out.size());
    for (std::uint32_t k = 0; k < allowed; ++k) {
      std::uint32_t const i = source.ordinal[first + k];
      std::int64_t const to = numbers.find(key_of(edges.neighbor(i)));
      if (to >= 0) { out.push_back({to, first + i}); }
    }
    std::sort(out.begin() + before, out.end(), [](auto const& a, auto const& b) { return a.edge < b.edge; });
  });
}

template <class Key>
minibatch minibatch_maker<Key>::finish()
{
  if (job_.params.subgraph == subgraph_type::bidirectional) {
    for (edge_state& e : edges_) { add_reverses(e); }
  }
  auto const with_slack = [](std::int64_t size) { return size + size / 8; };  // the next batch may be larger
  minibatch out;
  out.vertices.reserve(vertices_.size());
  out.edges.reserve(edges_.size());
  for (auto& v : vertices_) {
    minibatch_vertices& made = out.vertices.emplace_back();
    made.num_sampled = v.num_sampled;
    v.expected = with_slack(v.keys.size());
    if constexpr (sizeof(Key) == 4) {
      made.node = v.keys.finish();
    } else {
      std::int64_t const count = v.keys.size();
      pooled_array<vertex_id> node(v.keys.pool());
      pooled_array<std::int64_t> batch(v.keys.pool());
      node.resize(count);
      batch.resize(count);
      for (std::int64_t i = 0; i < count; ++i) {
        node[i] = vertex_of(v.keys[i]);
        batch[i] = tree_of(v.keys[i]);
      }
      made.node = node.finish();
      made.batch = batch.finish();
    }
  }
  for (auto& e : edges_) {
    minibatch_edges& made = out.edges.emplace_back();
    e.expected = with_slack(e.edge.size());
    e.expected_rows = with_slack(e.indptr.size());
    made.row = e.row.finish();
    made.col = e.col.finish();
    made.edge = e.edge.finish();
    if (job_.has_weights()) { made.weights = e.weights.finish(); }
    made.indptr = e.indptr.finish();
    made.first_expanded = e.first_expanded;
    made.num_expanded = e.num_expanded;
    made.num_sampled = e.num_sampled;
  }
  return out;
}

template class minibatch_maker<std::uint32_t>;
template class minibatch_maker<std::uint64_t>;

}  // namespace tendril::cpu
