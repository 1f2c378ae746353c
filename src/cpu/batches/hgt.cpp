// HGSampling: budgets are added up serially, in one hash table per vertex type; the race among the vertices with a budget
// and the search for the edges of a batch are parallel. Where there are batches for all threads, each thread makes whole
// ones. The rule: src/core/hgt.hpp.

#include <tendril/hgt.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <vector>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "core/hgt.hpp"
#include "cpu/batches/block_pool.hpp"
#include "cpu/batches/inner_edges.hpp"
#include "cpu/batches/local_numbers.hpp"
#include "graph/places.hpp"
#include "samplers/batches/checks.hpp"
#include "samplers/batches/hgt_checks.hpp"

namespace tendril {
namespace {

/// A set of vertices of one type, numbered by first appearance.
class numbered_vertices {
 public:
  explicit numbered_vertices(std::int64_t num_vertices) : num_vertices_(num_vertices) {}

  void clear()
  {
    numbers_.clear();
    ids_.clear();
  }

  /// Adds vertices and writes their numbers, of new and of known ones, to `out` [count].
  void add(vertex_id const* wanted, std::int64_t count, std::int64_t* out)
  {
    auto const most = static_cast<std::uint64_t>(std::min(size() + count, num_vertices_));
    numbers_.reserve(ids_.data(), most);
    ids_.resize(static_cast<std::size_t>(most) + 1);
    numbers_.number(wanted, count, out, ids_.data());
    ids_.resize(static_cast<std::size_t>(size()));
  }

  [[nodiscard]] std::int64_t size() const { return numbers_.size(); }
  [[nodiscard]] vertex_id id(std::int64_t number) const { return ids_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] std::vector<vertex_id> const& ids() const { return ids_; }
  [[nodiscard]] cpu::local_numbers<vertex_id> const& numbers() const { return numbers_; }

 private:
  std::int64_t num_vertices_;
  cpu::local_numbers<vertex_id> numbers_;
  std::vector<vertex_id> ids_;  // by number
};

/// A vertex with a budget, in the race of a hop.
struct candidate {
  std::uint64_t entry;   // core::hgt_entry
  std::uint32_t number;  // among the seen vertices
};

/// The vertices of one type in the batch that is being made.
struct vertex_state {
  explicit vertex_state(std::int64_t num_vertices) : batch(num_vertices), seen(num_vertices) {}

  static constexpr std::uint64_t taken = ~std::uint64_t{0};  // no budget is that large (core::most_hgt_lists)

  numbered_vertices batch;
  numbered_vertices seen;             // the vertices of the batch, and those that have a budget
  std::vector<std::uint64_t> budget;  // of seen vertices, by number; `taken`: in the batch
  std::vector<candidate> open;        // the seen vertices that are not in the batch
  std::vector<std::int64_t> num_sampled;
  std::int64_t expanded = 0;  // vertices of the batch that have added to budgets: the first ones
};

/// Makes one batch after another, and keeps its scratch memory.
class hgt_maker {
 public:
  /// The arguments must outlive the maker.
  hgt_maker(hetero_graph const& graph, hgt_params const& params, std::shared_ptr<cpu::block_pool> const& pool)
      : graph_(graph), params_(params), pool_(pool)
  {
    for (std::int64_t const count : graph.num_vertices()) { vertices_.emplace_back(count); }
    for (edge_type const& type : graph.edge_types()) { edges_.push_back(type.edges.view()); }
  }

  minibatch make(batch_seeds const& seeds, std::uint64_t batch, cpu_exec const& exec)
  {
    key_ = core::hgt_key(params_.seed, batch);
    num_lists_ = 0;
    for (std::size_t t = 0; t < vertices_.size(); ++t) { begin(vertices_[t], seeds.vertices[t]); }
    std::int64_t const hops = samplers::hops_of(params_);
    for (std::int64_t h = 0; h < hops; ++h) {
      if (exec.on_progress) { exec.on_progress({"sampling", h, hops}); }
      for (std::size_t e = 0; e < edges_.size(); ++e) { add_to_budgets(e); }
      for (auto& v : vertices_) { v.expanded = v.batch.size(); }
      for (std::size_t t = 0; t < vertices_.size(); ++t) { draw(t, static_cast<std::uint32_t>(h), exec); }
    }
    minibatch out;
    for (auto& v : vertices_) {
      cpu::pooled_array<vertex_id> node(pool_);
      node.resize(v.batch.size());
      std::copy(v.batch.ids().begin(), v.batch.ids().end(), node.data());
      out.vertices.push_back({node.finish(), {}, v.num_sampled});
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) { out.edges.push_back(inner_edges(e, exec)); }
    return out;
  }

 private:
  static void begin(vertex_state& v, std::span<vertex_id const> seeds)
  {
    v.batch.clear();
    v.seen.clear();
    v.budget.clear();
    v.open.clear();
    v.num_sampled.clear();
    v.expanded = 0;
    take(v, seeds);
  }

  /// Adds vertices to the batch.
  static void take(vertex_state& v, std::span<vertex_id const> ids)
  {
    std::int64_t const before = v.batch.size();
    std::vector<std::int64_t> numbers(ids.size());
    v.batch.add(ids.data(), static_cast<std::int64_t>(ids.size()), numbers.data());
    v.seen.add(ids.data(), static_cast<std::int64_t>(ids.size()), numbers.data());
    v.budget.resize(static_cast<std::size_t>(v.seen.size()));
    for (std::int64_t const number : numbers) { v.budget[static_cast<std::size_t>(number)] = vertex_state::taken; }
    v.num_sampled.push_back(v.batch.size() - before);
  }

  /// The vertices that joined in the hop before add to the budgets of their neighbours through one edge type.
  void add_to_budgets(std::size_t type)
  {
    edge_type const& between = graph_.edge_types()[type];
    vertex_state const& from = vertices_[static_cast<std::size_t>(between.from)];
    vertex_state& to = vertices_[static_cast<std::size_t>(between.to)];
    std::int64_t const end = from.batch.size();
    num_lists_ += end - from.expanded;
    TENDRIL_EXPECTS(
        num_lists_ <= core::most_hgt_lists,
        "seeds and num_samples: a batch adds the edges of {} vertices and edge types to budgets, expected at "
        "most {}; take fewer",
        num_lists_, core::most_hgt_lists);
    edges_[type].visit([&](auto const& edges) {
      for (std::int64_t i = from.expanded; i < end; ++i) {
        auto const row = edges.row(from.batch.id(i));
        std::uint32_t const degree = row.degree();
        if (degree == 0) { continue; }
        neighbors_.resize(degree);
        row.copy_to(neighbors_.data());
        add_share(to, core::hgt_share(degree));
      }
    });
  }

  /// To the budget of each of `neighbors_`.
  void add_share(vertex_state& to, std::uint64_t share)
  {
    numbers_.resize(neighbors_.size());
    to.seen.add(neighbors_.data(), static_cast<std::int64_t>(neighbors_.size()), numbers_.data());
    to.budget.resize(static_cast<std::size_t>(to.seen.size()), 0);
    for (std::int64_t const number : numbers_) {
      std::uint64_t& budget = to.budget[static_cast<std::size_t>(number)];
      if (budget == vertex_state::taken) { continue; }
      if (budget == 0) { to.open.push_back({0, static_cast<std::uint32_t>(number)}); }
      budget += share;
    }
  }

  /// Draws the vertices of one type that join in a hop.
  void draw(std::size_t type, std::uint32_t hop, cpu_exec const& exec)
  {
    constexpr std::int64_t candidates_a_range = 4096;
    vertex_state& v = vertices_[type];
    auto const size = static_cast<std::int64_t>(v.open.size());
    auto const count = static_cast<std::ptrdiff_t>(std::min(params_.num_samples[type][hop], size));
    auto const first = v.open.begin();
    if (count > 0) {
      base::parallel_ranges(exec, size, candidates_a_range, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          candidate& c = v.open[static_cast<std::size_t>(i)];
          c.entry =
              core::hgt_entry(key_, v.seen.id(c.number), hop, static_cast<std::uint32_t>(type), v.budget[c.number]);
        }
      });
      auto const before = [](candidate const& a, candidate const& b) { return a.entry < b.entry; };
      if (count < size) { std::nth_element(first, first + count, v.open.end(), before); }
      std::sort(first, first + count, before);
    }
    std::vector<vertex_id> drawn;
    drawn.reserve(static_cast<std::size_t>(count));
    std::for_each(first, first + count, [&](candidate const& c) { drawn.push_back(v.seen.id(c.number)); });
    v.open.erase(first, first + count);
    take(v, drawn);
  }

  minibatch_edges inner_edges(std::size_t type, cpu_exec const& exec)
  {
    edge_type const& between = graph_.edge_types()[type];
    auto const& from = vertices_[static_cast<std::size_t>(between.from)].batch;
    auto const& to = vertices_[static_cast<std::size_t>(between.to)].batch;
    cpu::pooled_array<std::int64_t> indptr(pool_), row(pool_), col(pool_);
    cpu::pooled_array<edge_id> edge(pool_);
    edges_[type].visit([&](auto const& edges) {
      inner_.find(from.size(), exec,
                  [&](std::int64_t i, std::vector<cpu::inner_edge>& out) {
                    cpu::append_inner_edges(
                        edges.row(from.id(i)), to.numbers(), [](vertex_id v) { return v; }, out);
                  },
                  {indptr, row, col, edge});
    });
    minibatch_edges out;
    out.row = row.finish();
    out.col = col.finish();
    out.edge = edge.finish();
    out.indptr = indptr.finish();
    out.first_expanded = {0};
    out.num_expanded = {from.size()};
    return out;
  }

  hetero_graph const& graph_;
  hgt_params const& params_;
  std::shared_ptr<cpu::block_pool> pool_;
  rng_key key_{};
  std::int64_t num_lists_ = 0;  // that were added to budgets
  std::vector<vertex_state> vertices_;
  std::vector<graph_view> edges_;
  std::vector<vertex_id> neighbors_;   // of one vertex
  std::vector<std::int64_t> numbers_;  // theirs
  cpu::inner_edge_finder inner_;
};

/// The checks that don't depend on seeds.
void check(hetero_graph const& graph, hgt_params const& params, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(graph.device() < 0,
                  "graph: it is {}, but HGSampling runs on the CPU, expected one in host memory (to_host)",
                  to_string(graph.device() < 0 ? gpu_set() : gpu_set(graph.device())));
  samplers::check_hgt(graph, params);
  samplers::check_neighbor_types(graph, exec);
}

}  // namespace

minibatch hgt_sample(hetero_graph const& graph, batch_seeds const& seeds, hgt_params const& params,
                     cpu_exec const& exec, std::uint64_t batch)
{
  check(graph, params, exec);
  TENDRIL_EXPECTS(seeds.times.empty(), "times: given for seeds, expected none: HGSampling reads no times");
  samplers::check_batch_seeds(graph, seeds);
  for (std::size_t t = 0; t < seeds.vertices.size(); ++t) {
    samplers::check_seed_range(graph, static_cast<std::int32_t>(t), seeds.vertices[t]);
  }
  auto const pool = std::make_shared<cpu::block_pool>(*exec.memory);
  minibatch out = hgt_maker(graph, params, pool).make(seeds, batch, exec);
  pool->close();
  return out;
}

std::vector<minibatch> hgt_sample_batches(hetero_graph const& graph, std::int32_t vertex_type,
                                          std::span<vertex_id const> seeds, std::int64_t batch_size,
                                          hgt_params const& params, cpu_exec const& exec, batch_numbers numbers)
{
  check(graph, params, exec);
  samplers::check_batches(graph, vertex_type, seeds, batch_size, {});
  samplers::check_seed_range(graph, vertex_type, seeds);
  std::int64_t const batches = (std::ssize(seeds) + batch_size - 1) / batch_size;
  int const threads = base::num_threads(exec);
  bool const whole = batches >= threads;  // each thread makes whole batches
  auto const pool = std::make_shared<cpu::block_pool>(*exec.memory);
  std::vector<std::unique_ptr<hgt_maker>> makers(whole ? static_cast<std::size_t>(threads) : 1);
  std::vector<minibatch> out(static_cast<std::size_t>(batches));
  cpu_exec inside = exec;
  inside.on_progress = {};
  if (whole) { inside.num_threads = 1; }
  cpu_exec outside = exec;
  outside.num_threads = whole ? threads : 1;
  std::atomic<std::int64_t> done{0};
  base::parallel_ranges(outside, batches, 1, [&](std::int64_t b, std::int64_t) {
    std::size_t const thread = whole ? cpu::thread_of(threads) : 0;
    if (exec.on_progress && thread == 0) { exec.on_progress({"sampling", done, batches}); }
    if (!makers[thread]) { makers[thread] = std::make_unique<hgt_maker>(graph, params, pool); }
    batch_seeds own;
    own.vertices.assign(graph.num_vertices().size(), {});
    own.vertices[static_cast<std::size_t>(vertex_type)] = samplers::cut_batch(seeds, batch_size, b);
    out[static_cast<std::size_t>(b)] = makers[thread]->make(own, numbers.of(b), inside);
    ++done;
  });
  pool->close();
  return out;
}

}  // namespace tendril
