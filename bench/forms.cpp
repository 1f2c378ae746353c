#include "bench/forms.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "bench/sampling_jobs.hpp"
#include "bench/start_vertices.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t many_walks = std::int64_t{1} << 40U;

/// How much work a round is.
struct size_of_round {
  std::int64_t walkers;
  std::int64_t one_in;  ///< Of the walkers, where a step takes microseconds.
};
constexpr size_of_round round_of(cpu_exec const&) { return {std::int64_t{1} << 16U, 32}; }
constexpr size_of_round round_of(gpu_exec const&) { return {1'000'000, 1}; }

buffer<vertex_id> starts_on(graph const& g, std::int64_t count)
{
  auto const starts = make_starts(g.view(), count);
  buffer<vertex_id> out(count);
  std::copy(starts.begin(), starts.end(), out.begin());
  return out;
}

/// Adds the jobs on one form of a graph, each compared with the same on CSR.
template <class Exec>
void add_jobs(session& s, std::shared_ptr<job_bed<Exec>> const& b, graph const& g, graph_form form,
              std::string const& only)
{
  std::string const name(to_string(form));
  auto const add = [&](std::string const& job, std::string const& how, std::string const& unit, auto const& make) {
    std::string const base = job + ", csr";
    std::string const own = fmt::format("{}, {}", job, name);
    if (form != graph_form::csr && own.find(only) == std::string::npos) { return; }
    s.add(own, how, unit, form == graph_form::csr ? "" : base, make());
  };
  auto const rate_of = [](std::function<made_in()> job) { return [job = std::move(job)] { return job().rate(); }; };
  size_of_round const round = round_of(b->exec);
  auto const walks = [&](std::string const& job, std::string const& how, walk_params params, std::int64_t walkers) {
    params.length = job_walk_length;
    add(job, how, "steps/s",
        [&] { return rate_of(walk_job(b, std::make_shared<walker>(g, params, many_walks, b->exec), walkers)); });
  };
  std::string const lists = "without tables of edges";
  add("bits an edge", "", "bits", [&] { return [bits = g.bits_per_edge()] { return bits; }; });
  walks("uniform walk", lists, {.table_bytes = 0}, round.walkers);
  walks("node2vec p 2 q 0.5", lists, {.p = 2, .q = 0.5, .table_bytes = 0}, round.walkers);
  if (g.has_weights()) {
    walk_params const by_rejection{.weighted = true, .rule = sampling_rule::reject, .table_bytes = 0};
    walks("weighted walk by rejection", lists, by_rejection, round.walkers);
    // Sums of weights, and 4 bytes a vertex that are known of the weights in any case.
    std::int64_t const sums = 20 * g.num_vertices() + 24 * (g.num_edges() / 64 + 1);
    walk_params const by_sums{.weighted = true, .rule = sampling_rule::alias, .table_bytes = sums};
    walks("weighted walk by alias", "from sums of 64 weights", by_sums, round.walkers / round.one_in);
  }
  for (bool const replace : {true, false}) {
    add(replace ? "k-hop (25,10) with replacement" : "k-hop (25,10)", "40,000 roots", "vertices/s",
        [&] { return rate_of(khop_job(b, g, replace)); });
  }
  add("mini-batches (15,10,5)", "1,024 seeds, one by one", "edges/s", [&] { return rate_of(batches_job(b, g)); });
}

template <class Exec>
std::vector<row> run_on(graph const& host, std::string const& name, options const& o, Exec const& exec)
{
  auto const b = std::make_shared<job_bed<Exec>>(starts_on(host, round_of(exec).walkers), exec);
  session s(name, o.repeats);
  for (auto const& [form, form_name] : enum_names<graph_form>) {
    graph const g = form == graph_form::csr ? host : compress(host, form, o.exec);
    add_jobs(s, b, there(g, exec), form, o.only);
  }
  return s.run();
}

}  // namespace

std::vector<row> run_forms(options const& o)
{
  std::vector<row> rows;
  std::istringstream names(o.graph);
  for (std::string name; std::getline(names, name, ',');) {
    bool const is_file = std::filesystem::exists(name);
    graph g = is_file || !o.gpu.has_value() ? make_graph(name, o.exec)
                                            : to_host(make_graph(name, gpu_exec(*o.gpu)), gpu_exec(*o.gpu));
    if (g.form() != graph_form::csr) { g = to_csr(g, o.exec); }
    if (is_file) { name = std::filesystem::path(name).filename().string(); }
    auto part = o.gpu.has_value() ? run_on(g, name, o, gpu_exec(*o.gpu)) : run_on(g, name, o, o.exec);
    rows.insert(rows.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  }
  return rows;
}

}  // namespace tendril::bench
