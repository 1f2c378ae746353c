#include "bench/placement_policies.hpp"

#include <array>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/io.hpp>
#include <tendril/place.hpp>

#include "bench/measure.hpp"
#include "bench/rmat_spec.hpp"
#include "bench/web_spec.hpp"
#include "place/placement.hpp"

namespace tendril::bench {
namespace {

using place::placement;

/// A job, and the samples that make its reads known.
struct subject {
  char const* name;
  placement_job job, other_job;  ///< The second with other random numbers.
  std::int64_t samples;          ///< Of `other_job`.
};

struct bed {
  graph g;
  buffer<std::uint64_t> starts;
  std::int64_t list_bytes = 0;

  bed(std::string const& name, cpu_exec const& exec) : g(compress(made(name, exec), graph_form::packed, exec))
  {
    starts = place::block_starts(lists(), exec);
    list_bytes = static_cast<std::int64_t>(starts[starts.size() - 1]);
  }

  [[nodiscard]] compressed_lists const& lists() const { return g.arrays().compressed; }
  [[nodiscard]] placement plan(std::span<float const> reads, std::int64_t bytes) const
  {
    return place::plan_placement(lists(), starts.span(), reads, {}, bytes, {});
  }

 private:
  static graph made(std::string const& name, cpu_exec const& exec)
  {
    return is_web_spec(name)    ? make_web(name, exec)
           : is_rmat_spec(name) ? make_rmat(name, exec)
                                : read_graph(name, {}, exec);
  }
};

/// The policy `degree`: the reads of each list that make its reads per byte its degree.
std::vector<float> by_degree(bed const& b)
{
  std::vector<float> out(static_cast<std::size_t>(b.g.num_vertices()));
  graph_view const view = b.g.view();
  for (std::size_t v = 0; v < out.size(); ++v) {
    auto const degree = static_cast<float>(view.degree(static_cast<vertex_id>(v)));
    out[v] = degree * degree;
  }
  return out;
}

/// ScaleGPS: half of the memory holds the highest degrees. Then a kernel reads all other lists, in the order of their
/// vertices; their pages move to the GPU and push out those that were not used for longest, so that in the other half the
/// last ones stay.
placement by_warm_up(bed const& b, std::int64_t bytes)
{
  placement const cached = b.plan(by_degree(b), bytes / 2);
  std::vector<float> order(static_cast<std::size_t>(b.g.num_vertices()));
  auto const blocks = static_cast<double>(cached.is_hot.size());
  for (std::size_t i = 0; i < cached.is_hot.size(); ++i) {
    double const rank = static_cast<double>(i + 1) + (cached.is_hot[i] != 0 ? blocks : 0);
    order[i * list_block::vertices] =
        static_cast<float>(rank * static_cast<double>(b.starts[static_cast<std::int64_t>(i) + 1] -
                                                      b.starts[static_cast<std::int64_t>(i)]));
  }
  return b.plan(order, bytes);
}

std::vector<row> run_on(std::string const& name, options const& o)
{
  auto const b = std::make_shared<bed>(name, o.exec);
  // A part of the job that `visits` counts has about as many reads as there are vertices.
  std::int64_t const reads = 8 * std::max<std::int64_t>(b->g.num_vertices(), 1 << 16);
  std::array const subjects{
      subject{"walks of 80 steps", walk_params{.length = 80}, walk_params{.length = 80, .seed = 1}, reads / 80},
      subject{"k-hop (25, 10)", khop_params{.fanouts = {25, 10}}, khop_params{.fanouts = {25, 10}, .seed = 1},
              reads / 26},
      subject{"mini-batches (15, 10, 5) of 1,024", minibatch_params{.num_neighbors = {15, 10, 5}},
              minibatch_params{.num_neighbors = {15, 10, 5}, .seed = 1}, std::max<std::int64_t>(reads / 166, 1 << 15)}};
  session s(name, 1);
  for (subject const& job : subjects) {
    auto const counted = std::make_shared<buffer<float>>(count_visits(b->g, {.job = job.job}, o.exec));
    auto const made = std::make_shared<buffer<float>>(
        count_visits(b->g, {.job = job.other_job, .num_samples = job.samples, .seed = 1}, o.exec));
    for (std::int64_t const part : {4, 2}) {
      std::int64_t const bytes = b->list_bytes / part;
      auto const add = [&](char const* policy, auto const& plan) {
        s.add(fmt::format("{}, by {}", job.name, policy), fmt::format("1/{} of the lists' bytes on the GPU", part),
              "% of reads", "", [=] { return 100 * place::share_on_gpu(b->lists(), plan(), made->span(), {}); });
      };
      add("visits", [=] { return b->plan(counted->span(), bytes); });
      add("degree", [=] { return b->plan(by_degree(*b), bytes); });
      add("degree and warm-up", [=] { return by_warm_up(*b, bytes); });
    }
  }
  return s.run();
}

}  // namespace

std::vector<row> run_policies(options const& o)
{
  std::vector<row> rows;
  std::istringstream names(o.graph);
  for (std::string name; std::getline(names, name, ',');) {
    auto part = run_on(name, o);
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace tendril::bench
