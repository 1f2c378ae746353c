#include "bench/gpu_walks.hpp"

#include <algorithm>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/multidim.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

#include "bench/gpu_ceilings.hpp"
#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_walkers = 1'000'000;
constexpr std::int64_t walk_length = 80;
constexpr std::int64_t largest_together = std::int64_t{1} << 30U;  // edges
constexpr std::int64_t many_walks = std::int64_t{1} << 40U;        // tables pay

constexpr char streaming[] = "sequential read";
constexpr char pairs[] = "row, then neighbour";
constexpr char small_job[] = "1,000 weighted walks, end to end";

std::vector<std::string> names_of(std::string const& list)
{
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) { names.push_back(name); }
  return names;
}

/// A graph on the GPU, and what jobs on it share.
struct bed {
  gpu_exec gpu;
  graph g;
  std::string name;
  vertex_id hub = 0;
  double met_degree = 0;              ///< Mean degree over edges: what a step of a walk meets.
  std::vector<vertex_id> with_edges;  ///< The vertices that have one.
  buffer<vertex_id> starts, from_hub, rows;
  buffer<std::int32_t> lengths;

  bed(std::string graph_name, gpu_exec const& exec)
      : gpu(exec), g(make_bench_graph(graph_name, exec)), name(std::move(graph_name))
  {
    auto const first_edges = first_edges_of(g, gpu);
    edge_id most = -1;
    double squares = 0;
    for (std::size_t v = 0; v + 1 < first_edges.size(); ++v) {
      edge_id const degree = first_edges[v + 1] - first_edges[v];
      squares += static_cast<double>(degree) * static_cast<double>(degree);
      if (degree > 0) { with_edges.push_back(static_cast<vertex_id>(v)); }
      if (degree > most) {
        most = degree;
        hub = static_cast<vertex_id>(v);
      }
    }
    met_degree = squares / static_cast<double>(std::max<edge_id>(1, g.num_edges()));
    starts = copy_to_gpu(random_vertices(g.num_vertices(), num_walkers, 1).span(), gpu);
    std::vector<vertex_id> const hubs(num_walkers, hub);
    from_hub = copy_to_gpu(hubs, gpu);
    rows = buffer<vertex_id>(num_walkers * (walk_length + 1), memory_of(gpu));
    lengths = buffer<std::int32_t>(num_walkers, memory_of(gpu));
  }
};

double steps_of(buffer<std::int32_t> const& lengths, std::int64_t n, gpu_exec const& exec)
{
  std::vector<std::int32_t> host(static_cast<std::size_t>(n));
  copy_to_host(lengths.data(), host.data(), host.size() * sizeof(std::int32_t), exec);
  double steps = 0;
  for (auto const l : host) { steps += l; }
  return steps;
}

struct gpu_job {
  std::string name;
  walk_params params;
  walk_order order = walk_order::row_major;
  bool all_from_hub = false;
  bool ragged = false;  ///< Offsets and vertices, which the call allocates; then `order` says nothing.
  std::int64_t expected_walks = many_walks;  ///< What the plan is made for.
};

/// Two gathers a step, which only CSR can be read by; a compressed graph needs one at least.
std::string pairs_of(graph const& g) { return g.form() == graph_form::csr ? pairs : "gathers of 4 bytes"; }

/// What a job is compared with: the gathers of the layout that the plan chose.
std::string ceiling_of(walker const& w, graph const& g)
{
  std::int64_t const edges = g.num_edges();
  if (w.params().rule == sampling_rule::scan) { return streaming; }
  if (w.plan().rule == sampling_rule::alias) {
    return w.plan().table_bytes >= 32 * edges ? "gathers of 32 bytes" : "gathers of 16 bytes";
  }
  return w.plan().table_bytes >= 8 * edges && !w.plan().grouped_by_label ? "gathers of 8 bytes" : pairs_of(g);
}

bool is_wanted(std::string const& name, options const& o) { return name.find(o.only) != std::string::npos; }

/// Steps a second of one call.
double rate_of(walker const& w, gpu_job const& job, bed& b)
{
  auto const starts = job.all_from_hub ? b.from_hub.span() : b.starts.span();
  if (job.ragged) {
    ragged_walks out;
    double const seconds = seconds_of([&] {
      out = w.run_ragged(starts, 0, b.gpu);
      synchronize(b.gpu);
    });
    return static_cast<double>(out.vertices.size() - out.num_walks) / seconds;
  }
  double const seconds = seconds_of([&] { w.run_into(starts, 0, b.rows.data(), b.lengths.data(), b.gpu, job.order); });
  return steps_of(b.lengths, num_walkers, b.gpu) / seconds;
}

/// Adds steps a second of a job; of scans also against the streaming ceiling, in steps.
void add_job(session& s, std::shared_ptr<bed> const& b, gpu_job const& job)
{
  auto params = job.params;
  params.length = walk_length;
  auto const w = std::make_shared<walker>(b->g, params, job.expected_walks, b->gpu);
  bool const scans = params.rule == sampling_rule::scan;
  std::string const how =
      fmt::format("{}, {} MB of tables{}", to_string(w->plan().rule), w->plan().table_bytes / 1'000'000,
                  job.ragged                            ? ", ragged; the output is allocated too"
                  : job.order == walk_order::step_major ? ", step-major"
                                                        : "");
  s.add(job.name, how, "steps/s", scans ? "weights, read once, in steps" : ceiling_of(*w, b->g),
        [b, w, job] { return rate_of(*w, job, *b); });
}

void add_gpu_ceilings(session& s, std::shared_ptr<bed> const& b)
{
  s.add(streaming, "4 GiB", "B/s", "", [b] { return gpu_sequential_read(std::int64_t{4} << 30, b->gpu); });
  s.add("weights, read once, in steps", fmt::format("4 bytes, {:.0f} a step", b->met_degree), "steps/s", "",
        [b] { return gpu_sequential_read(std::int64_t{4} << 30, b->gpu) / 4 / b->met_degree; });
  if (pairs_of(b->g) == pairs) {
    s.add(pairs, "8 bytes, then 4", "steps/s", "", [b] { return gpu_dependent_gathers(b->g, b->gpu); });
  }
  for (int const bytes : {4, 8, 16, 32}) {
    s.add(
        fmt::format("gathers of {} bytes", bytes), "from a table of a record an edge, at most 8 GiB", "steps/s", "",
        [b, bytes] { return gpu_gathers(std::min(b->g.num_edges(), (std::int64_t{8} << 30) / bytes), bytes, b->gpu); });
  }
}

std::vector<gpu_job> walk_jobs()
{
  std::vector<gpu_job> jobs;
  walk_params p;
  auto const both = [&](std::string const& name, bool all_from_hub = false) {
    jobs.push_back({name, p, walk_order::row_major, all_from_hub});
    jobs.push_back({name + ", step-major", p, walk_order::step_major, all_from_hub});
  };
  both("uniform");
  p.table_bytes = 0;
  jobs.push_back({.name = "uniform, without a table", .params = p});
  p.table_bytes = {};
  p.weighted = true;
  both("weighted");
  p.p = 2;
  p.q = 0.5;
  both("node2vec p 2 q 0.5, weighted");
  p.weighted = false;
  both("node2vec p 2 q 0.5");
  p = {};
  p.weighted = true;
  p.metapath = {0, 1, 2, 3, 4};
  both("MetaPath 0..4, weighted");
  p = {};
  p.stop_prob = 0.2;
  both("PPR 0.2 from the hub", true);
  jobs.push_back({.name = "PPR 0.2 from the hub, ragged", .params = p, .all_from_hub = true, .ragged = true});
  p = {};
  p.weighted = true;
  p.rule = sampling_rule::scan;
  jobs.push_back({"dynamic weighted DeepWalk", p});
  p.p = 2;
  p.q = 0.5;
  jobs.push_back({"dynamic weighted node2vec", p});
  p.p = p.q = 1;
  p.metapath = {0, 1, 2, 3, 4};
  // First, since a plan takes the tables that are there.
  jobs.push_back({.name = "dynamic weighted MetaPath, without a table", .params = p, .expected_walks = 1});
  jobs.push_back({"dynamic weighted MetaPath", p});
  p.metapath = {};
  p.stop_prob = 0.2;
  jobs.push_back({"dynamic weighted PPR", p});
  return jobs;
}

void add_small_job(session& s, std::shared_ptr<bed> const& b)
{
  walk_params params;
  params.weighted = true;
  params.length = walk_length;
  auto const w = std::make_shared<walker>(b->g, params, many_walks, b->gpu);
  s.add(small_job, "one call, synchronised", "ms", "", [b, w] {
    return 1e3 *
           seconds_of([&] { w->run_into(b->starts.span().first(1000), 0, b->rows.data(), b->lengths.data(), b->gpu); });
  });
}

/// Frontier sampling as NextDoor measures it: 100 roots, 100 steps. Every root has an edge: where a half of the vertices
/// has none, a sample would end after a step or two, and what is measured were the rows that it fills.
void add_multidim_jobs(session& s, std::shared_ptr<bed> const& b, options const& o)
{
  constexpr std::int64_t num_roots = 100;
  constexpr std::int64_t samples = 200'000;
  if (b->with_edges.empty()) { return; }
  auto drawn = random_vertices(static_cast<std::int64_t>(b->with_edges.size()), samples * num_roots, 2);
  for (vertex_id& v : drawn) { v = b->with_edges[v]; }
  auto const roots = std::make_shared<buffer<vertex_id>>(copy_to_gpu(drawn.span(), b->gpu));
  for (auto const choice : {root_choice::uniform, root_choice::by_degree}) {
    char const* const name =
        choice == root_choice::uniform ? "multi-dimensional, roots uniformly" : "multi-dimensional, roots by degree";
    if (!is_wanted(name, o)) { continue; }
    s.add(name, "200,000 samples of 100 roots, 100 steps; the output is allocated too", "steps/s", pairs_of(b->g),
          [b, roots, choice] {
            multidim_params params;
            params.choose = choice;
            multidim_walks out;
            double const seconds =
                seconds_of([&] { out = multidim_walk(b->g, roots->span(), num_roots, params, b->gpu); });
            return steps_of(out.lengths, samples, b->gpu) / seconds;
          });
  }
}

/// How a cell of the published table is run.
struct cell {
  char const* app;
  walk_params params;
};

std::vector<cell> published_apps()
{
  walk_params deepwalk;
  deepwalk.weighted = true;
  deepwalk.length = 80;
  walk_params ppr = deepwalk;
  ppr.stop_prob = 0.2;
  walk_params node2vec = deepwalk;
  node2vec.p = 2;
  node2vec.q = 0.5;
  walk_params metapath = deepwalk;
  metapath.metapath = {0, 1, 2, 3, 4};
  metapath.length = 5;
  return {{"DeepWalk", deepwalk}, {"PPR", ppr}, {"node2vec", node2vec}, {"MetaPath", metapath}};
}

/// Seconds of one cell. `share` of the queries are run, every (1 / share)-th vertex, and the time is scaled.
row run_cell(graph const& g, std::string const& name, cell const& c, bool dynamic, std::int64_t one_in,
             gpu_exec const& exec)
{
  auto params = c.params;
  if (dynamic) { params.rule = sampling_rule::scan; }
  std::int64_t const n = g.num_vertices() / one_in;
  std::vector<vertex_id> every(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < every.size(); ++i) { every[i] = static_cast<vertex_id>(i * one_in); }
  auto const starts = copy_to_gpu(every, exec);
  std::unique_ptr<walker> w;
  double const build = seconds_of([&] { w = std::make_unique<walker>(g, params, g.num_vertices(), exec); });
  // As many walks at a time as the memory takes.
  std::int64_t const row_bytes = 4 * (params.length + 2);
  std::int64_t const batch = std::clamp<std::int64_t>(free_gpu_bytes(exec.device) * 8 / 10 / row_bytes, 1, n);
  buffer<vertex_id> rows(batch * (params.length + 1), memory_of(exec));
  buffer<std::int32_t> lengths(batch, memory_of(exec));
  double seconds = 0;
  double steps = 0;
  for (std::int64_t first = 0; first < n; first += batch) {
    std::int64_t const count = std::min(batch, n - first);
    auto const part = starts.span().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    seconds += seconds_of([&] { w->run_into(part, first, rows.data(), lengths.data(), exec); });
    steps += steps_of(lengths, count, exec);
  }
  double const scaled = seconds * static_cast<double>(one_in) + build;
  std::string const how =
      fmt::format("{}; {:.3g} steps/s; tables {:.3f} s{}", to_string(w->plan().rule), steps / seconds, build,
                  one_in > 1 ? fmt::format("; one query in {}, scaled", one_in) : "");
  return {fmt::format("{}, {}", c.app, dynamic ? "dynamic" : "planned"),
          name,
          how,
          scaled,
          "s",
          "",
          0,
          0,
          1,
          scaled,
          scaled};
}

}  // namespace

std::vector<row> run_gpu_walks(options const& o)
{
  std::vector<row> rows;
  for (auto const& name : names_of(o.graph)) {
    auto const b = std::make_shared<bed>(name, gpu_exec(*o.gpu));
    std::vector<std::vector<gpu_job>> groups(1);
    for (auto const& job : walk_jobs()) {
      if (!is_wanted(job.name, o)) { continue; }
      bool const lacks_weights = job.params.weighted && !b->g.has_weights();
      bool const lacks_labels = !job.params.metapath.empty() && !b->g.has_edge_labels();
      if (lacks_weights || lacks_labels) { continue; }
      // Tables of all jobs at once are too much for a GPU where the graph is large.
      if (b->g.num_edges() > largest_together && !groups.back().empty()) { groups.emplace_back(); }
      groups.back().push_back(job);
    }
    for (auto const& group : groups) {
      session s(name, o.repeats);
      add_gpu_ceilings(s, b);
      for (auto const& job : group) { add_job(s, b, job); }
      if (&group == &groups.back()) {
        if (b->g.has_weights() && is_wanted(small_job, o)) { add_small_job(s, b); }
        add_multidim_jobs(s, b, o);
      }
      auto const part = s.run();
      for (auto const& r : part) {
        bool const again = &group != &groups.front() && r.ceiling_name.empty() && r.unit != "ms";  // a ceiling
        if (!again) { rows.push_back(r); }
      }
      b->g.drop_derived();
    }
  }
  return rows;
}

std::vector<row> run_published(options const& o)
{
  std::vector<row> rows;
  gpu_exec const exec(*o.gpu);
  for (auto const& name : names_of(o.graph)) {
    graph const g = make_bench_graph(name, exec);
    for (auto const& c : published_apps()) {
      rows.push_back(run_cell(g, name, c, false, 1, exec));
      g.drop_derived();
    }
    for (auto const& c : published_apps()) {
      // Hubs of millions make whole runs take minutes; a sample of the queries is the same work a query.
      bool const long_run = name == "twitter" && c.params.length == 80;
      rows.push_back(run_cell(g, name, c, true, long_run ? 16 : 1, exec));
      g.drop_derived();
    }
  }
  return rows;
}

}  // namespace tendril::bench
