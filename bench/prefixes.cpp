#include "bench/prefixes.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <type_traits>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/starts.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "bench/sampling_jobs.hpp"
#include "bench/vbyte_in_order.hpp"

namespace tendril::bench {
namespace {

constexpr std::array<std::uint32_t, 2> fanouts{25, 10};

/// The first `size` neighbours of a list, decoded in order.
void decode(std::uint32_t const* words, list_place const& place, std::uint32_t size, std::vector<vertex_id>& to)
{
  using list_codes::group_edges;
  to.resize(place.degree);
  std::uint64_t lengths = first_group(words, place);
  for (std::uint32_t begin = 0; begin < size; begin += group_edges) {
    std::uint32_t const here = std::min(group_edges, place.degree - begin);
    std::uint64_t byte = lengths + (here + 3U) / 4U;
    vertex_id neighbor = 0;
    for (std::uint32_t k = 0; k < here; ++k) {
      std::uint32_t const bytes = bytes_of_gap(words, lengths, k);
      neighbor += list_codes::bits_at(words, 8 * byte, 8U * bytes, plain_load{});
      to[begin + k] = neighbor;
      byte += bytes;
    }
    lengths = byte;
  }
}

void pick_in_order(compressed_view const& graph, in_order_hop const& hop, cpu_exec const& exec)
{
  auto const targets = graph.targets();
  base::parallel_ranges(exec, hop.num_parents, 256, [&](std::int64_t begin, std::int64_t end) {
    std::vector<vertex_id> list;
    std::vector<std::uint32_t> picks(hop.fanout);
    for (std::int64_t parent = begin; parent < end; ++parent) {
      vertex_id* const out = hop.out + parent * hop.fanout;
      vertex_id const v = hop.parents[parent];
      list_place const place = v == no_vertex ? list_place{} : targets.locate(v, plain_load{});
      if (place.degree == 0) {
        std::fill_n(out, hop.fanout, no_vertex);
        continue;
      }
      for (std::uint32_t j = 0; j < hop.fanout; ++j) { picks[j] = hop.pick(parent, j, place.degree); }
      decode(targets.words(), place, *std::max_element(picks.begin(), picks.end()) + 1, list);
      for (std::uint32_t j = 0; j < hop.fanout; ++j) { out[j] = list[picks[j]]; }
    }
  });
}

/// Trees without prefixes, in memory that is there.
template <class Exec>
class in_order_trees {
 public:
  in_order_trees(graph g, std::span<vertex_id const> roots, Exec const& exec)
      : g_(std::move(g)), roots_(roots), exec_(exec)
  {
    std::int64_t size = std::ssize(roots);
    for (std::size_t hop = 0; hop < fanouts.size(); ++hop) {
      size *= fanouts[hop];
      hops_[hop] = room<vertex_id>(size, exec);
    }
  }

  void run()
  {
    g_.view().visit([&]<class View>(View const& view) {
      if constexpr (std::is_same_v<View, compressed_view>) {
        in_order_hop hop{.parents = roots_.data(), .num_parents = std::ssize(roots_)};
        for (std::size_t i = 0; i < fanouts.size(); ++i) {
          hop.fanout = fanouts[i];
          hop.key = core::khop_key(0, i + 1);
          hop.out = hops_[i].data();
          pick_in_order(view, hop, exec_);
          hop.parents = hops_[i].data();
          hop.num_parents = hops_[i].size();
          hop.a_root *= fanouts[i];
        }
      }
    });
    wait_for(exec_);
  }

  [[nodiscard]] std::vector<vertex_id> hop(std::size_t i) const { return on_host(hops_[i], exec_); }

 private:
  graph g_;
  std::span<vertex_id const> roots_;
  Exec exec_;
  std::array<buffer<vertex_id>, fanouts.size()> hops_;
};

/// Both ways make the same trees.
template <class Exec>
void check(graph const& g, std::span<vertex_id const> roots, Exec const& exec)
{
  khop_params const params{.fanouts = {fanouts.begin(), fanouts.end()}, .replace = true};
  auto const expected = khop_sample(g, roots, params, exec);
  in_order_trees<Exec> trees(g, roots, exec);
  trees.run();
  for (std::size_t i = 0; i < fanouts.size(); ++i) {
    if (trees.hop(i) != on_host(expected.hops[i].vertices, exec)) {
      throw error(fmt::format("bench prefixes: hop {}: trees without prefixes differ from those with them", i + 1));
    }
  }
}

template <class Exec>
std::vector<row> run_on(std::string const& name, options const& o, Exec const& exec)
{
  graph g = make_graph(name, exec);
  if (g.form() != graph_form::vbyte) { g = compress(g, graph_form::vbyte, exec); }
  auto const b = std::make_shared<job_bed<Exec>>(random_vertices(g.num_vertices(), job_roots, 1), exec);
  check(g, b->first(job_roots / 40), exec);
  auto const trees = std::make_shared<in_order_trees<Exec>>(g, b->first(job_roots), exec);
  session s(name, o.repeats);
  std::string const with = "k-hop (25,10) with replacement, with prefixes";
  s.add(with, "40,000 roots", "ms", "", [job = khop_job(b, g, true)] { return 1e3 * job().seconds; });
  s.add("k-hop (25,10) with replacement, without prefixes", "40,000 roots", "ms", with,
        [trees, exec] { return 1e3 * seconds_with(exec, [&] { trees->run(); }); });
  return s.run();
}

}  // namespace

std::vector<row> run_prefixes(options const& o)
{
  std::vector<row> rows;
  std::istringstream names(o.graph);
  for (std::string name; std::getline(names, name, ',');) {
    auto part = o.gpu.has_value() ? run_on(name, o, gpu_exec(*o.gpu)) : run_on(name, o, o.exec);
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace tendril::bench
