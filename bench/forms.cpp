#include "bench/forms.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/io.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"
#include "bench/rmat_spec.hpp"
#include "core/random.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t walk_length = 80;
constexpr std::int64_t num_roots = 40'000;
constexpr std::int64_t batch_size = 1024;
constexpr std::int64_t num_batches = 32;
constexpr std::int64_t many_walks = std::int64_t{1} << 40U;

/// How much work a round is, and how arrays come to where `Exec` works.
template <class Exec>
struct place;

template <>
struct place<cpu_exec> {
  static constexpr std::int64_t num_walkers = std::int64_t{1} << 16U;
  static constexpr std::int64_t one_in = 32;  // of the walkers, where a step takes microseconds
  static graph there(graph const& g, cpu_exec const&) { return g; }
  static buffer<vertex_id> there(buffer<vertex_id> ids, cpu_exec const&) { return ids; }
  template <class T>
  static buffer<T> room(std::int64_t size, cpu_exec const&)
  {
    return buffer<T>(size);
  }
  template <class T>
  static std::vector<T> here(buffer<T> const& from, cpu_exec const&)
  {
    return {from.begin(), from.end()};
  }
  static void wait(cpu_exec const&) {}
};

template <>
struct place<gpu_exec> {
  static constexpr std::int64_t num_walkers = 1'000'000;
  static constexpr std::int64_t one_in = 1;
  static graph there(graph const& g, gpu_exec const& exec) { return to_gpu(g, exec); }
  static buffer<vertex_id> there(buffer<vertex_id> ids, gpu_exec const& exec) { return copy_to_gpu(ids.span(), exec); }
  template <class T>
  static buffer<T> room(std::int64_t size, gpu_exec const& exec)
  {
    return buffer<T>(size, memory_of(exec));
  }
  template <class T>
  static std::vector<T> here(buffer<T> const& from, gpu_exec const& exec)
  {
    std::vector<T> out(static_cast<std::size_t>(from.size()));
    copy_to_host(from.data(), out.data(), out.size() * sizeof(T), exec);
    return out;
  }
  static void wait(gpu_exec const& exec) { synchronize(exec); }
};

/// What the jobs of one graph share.
template <class Exec>
struct bed {
  Exec exec;
  buffer<vertex_id> starts, rows;
  buffer<std::int32_t> lengths;
};

/// Vertices that have a neighbour, at random.
buffer<vertex_id> make_starts(graph_view const& g, std::int64_t count)
{
  buffer<vertex_id> out(count);
  rng_key const key = core::make_key(0, core::domain::start_vertices);
  std::int64_t found = 0;
  for (std::uint64_t i = 0; found < count; ++i) {
    if (i > 100 * static_cast<std::uint64_t>(count)) {
      throw argument_error("graph: hardly any vertex has a neighbour");
    }
    auto const v = static_cast<vertex_id>(
        core::bounded64(core::draw_block(key, i, 0, 0).low(), static_cast<std::uint64_t>(g.num_vertices)));
    if (g.degree(v) > 0) { out[found++] = v; }
  }
  return out;
}

template <class Exec>
using shared_bed = std::shared_ptr<bed<Exec>>;

template <class Exec>
std::function<double()> walk_job(shared_bed<Exec> const& b, graph const& g, walk_params params, std::int64_t walkers)
{
  params.length = walk_length;
  auto const w = std::make_shared<walker>(g, params, many_walks, b->exec);
  return [b, w, starts = b->starts.span().first(static_cast<std::size_t>(walkers))] {
    place<Exec>::wait(b->exec);
    double const seconds = seconds_of([&] {
      w->run_into(starts, 0, b->rows.data(), b->lengths.data(), b->exec);
      place<Exec>::wait(b->exec);
    });
    double steps = 0;
    auto const lengths = place<Exec>::here(b->lengths, b->exec);
    for (std::size_t i = 0; i < starts.size(); ++i) { steps += lengths[i]; }
    return steps / seconds;
  };
}

template <class Exec>
std::function<double()> khop_job(shared_bed<Exec> const& b, graph const& g, bool replace)
{
  khop_params params;
  params.replace = replace;
  return [b, g, params] {
    auto const roots = b->starts.span().first(static_cast<std::size_t>(num_roots));
    std::int64_t slots = 0;
    double const seconds = seconds_of([&] {
      auto const trees = khop_sample(g, roots, params, b->exec);
      for (auto const& hop : trees.hops) { slots += hop.vertices.size(); }
    });
    return static_cast<double>(slots) / seconds;
  };
}

template <class Exec>
std::function<double()> batches_job(shared_bed<Exec> const& b, graph const& g)
{
  minibatch_params params;
  params.num_neighbors = {15, 10, 5};
  auto const sampler = std::make_shared<minibatch_sampler>(hetero_graph(g), params, b->exec);
  return [b, sampler] {
    std::int64_t edges = 0;
    double const seconds = seconds_of([&] {
      for (std::int64_t i = 0; i < num_batches; ++i) {
        batch_seeds seeds;
        seeds.vertices = {
            b->starts.span().subspan(static_cast<std::size_t>(i * batch_size), static_cast<std::size_t>(batch_size))};
        auto const made = sampler->sample(seeds, static_cast<std::uint64_t>(i));
        for (auto const& type : made.edges) { edges += type.row.size(); }
      }
    });
    return static_cast<double>(edges) / seconds;
  };
}

/// Adds the jobs on one form of a graph, each compared with the same on CSR.
template <class Exec>
void add_jobs(session& s, shared_bed<Exec> const& b, graph const& g, graph_form form, std::string const& only)
{
  std::string const name(to_string(form));
  auto const add = [&](std::string const& job, std::string const& how, std::string const& unit, auto const& make) {
    std::string const base = job + ", csr";
    std::string const own = fmt::format("{}, {}", job, name);
    if (form != graph_form::csr && own.find(only) == std::string::npos) { return; }
    s.add(own, how, unit, form == graph_form::csr ? "" : base, make());
  };
  auto const walks = [&](std::string const& job, walk_params const& params) {
    add(job, "without tables of edges", "steps/s", [&] { return walk_job(b, g, params, place<Exec>::num_walkers); });
  };
  add("bits an edge", "", "bits", [&] { return [bits = g.bits_per_edge()] { return bits; }; });
  walks("uniform walk", {.table_bytes = 0});
  walks("node2vec p 2 q 0.5", {.p = 2, .q = 0.5, .table_bytes = 0});
  if (g.has_weights()) {
    walks("weighted walk by rejection", {.weighted = true, .rule = sampling_rule::reject, .table_bytes = 0});
    // Sums of weights, and 4 bytes a vertex that are known of the weights in any case.
    std::int64_t const sums = 20 * g.num_vertices() + 24 * (g.num_edges() / 64 + 1);
    walk_params const by_sums{.weighted = true, .rule = sampling_rule::alias, .table_bytes = sums};
    add("weighted walk by alias", "from sums of 64 weights", "steps/s",
        [&] { return walk_job(b, g, by_sums, place<Exec>::num_walkers / place<Exec>::one_in); });
  }
  for (bool const replace : {true, false}) {
    add(replace ? "k-hop (25,10) with replacement" : "k-hop (25,10)", "40,000 roots", "vertices/s",
        [&] { return khop_job(b, g, replace); });
  }
  add("mini-batches (15,10,5)", "1,024 seeds, one by one", "edges/s", [&] { return batches_job(b, g); });
}

template <class Exec>
std::vector<row> run_on(graph const& host, std::string const& name, options const& o, Exec const& exec)
{
  using at = place<Exec>;
  std::int64_t const n = at::num_walkers;
  auto const b = std::make_shared<bed<Exec>>(bed<Exec>{exec, at::there(make_starts(host.view(), n), exec),
                                                       at::template room<vertex_id>(n * (walk_length + 1), exec),
                                                       at::template room<std::int32_t>(n, exec)});
  session s(name, o.repeats);
  for (auto const& [form, form_name] : enum_names<graph_form>) {
    graph const g = form == graph_form::csr ? host : compress(host, form, o.exec);
    add_jobs(s, b, place<Exec>::there(g, exec), form, o.only);
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
    graph g = is_file              ? read_graph(name, {}, o.exec)
              : o.gpu.has_value()  ? to_host(make_bench_graph(name, gpu_exec(*o.gpu)), gpu_exec(*o.gpu))
              : is_rmat_spec(name) ? make_rmat(name, o.exec)
                                   : read_graph(name, {}, o.exec);
    if (g.form() != graph_form::csr) { g = to_csr(g, o.exec); }
    if (is_file) { name = std::filesystem::path(name).filename().string(); }
    auto part = o.gpu.has_value() ? run_on(g, name, o, gpu_exec(*o.gpu)) : run_on(g, name, o, o.exec);
    rows.insert(rows.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  }
  return rows;
}

}  // namespace tendril::bench
