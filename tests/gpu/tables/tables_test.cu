// Tables built on the GPU: element for element those of the CPU, on every kind of graph that trips a builder up.

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <tendril/generate.hpp>

#include "core/adjacency_set.hpp"
#include "gpu/tables/tables.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"

namespace tendril {
namespace {

using test::copied;
using test::on_gpu;

/// Compares bytes: records have no padding. Names the first element that differs.
template <class T>
void expect_same(std::vector<T> const& on_gpu, std::vector<T> const& on_cpu, char const* what)
{
  ASSERT_EQ(on_gpu.size(), on_cpu.size()) << what;
  for (std::size_t i = 0; i < on_cpu.size(); ++i) {
    ASSERT_EQ(std::memcmp(&on_gpu[i], &on_cpu[i], sizeof(T)), 0)
        << what << ", element " << i << " of " << on_cpu.size();
  }
}

template <class T>
void expect_same(buffer<T> const& on_gpu, buffer<T> const& on_cpu, char const* what)
{
  expect_same(copied(on_gpu), copied(on_cpu.span()), what);
}

struct named_graph {
  std::string name;
  graph host;
};

/// The same graph with other weights: weight_of(vertex, edge, weight so far).
template <class WeightOf>
graph reweighted(graph const& input, WeightOf weight_of)
{
  graph_arrays arrays = input.arrays();
  csr_arrays const view = input.csr();
  buffer<float> weights(view.num_edges);
  for (std::int64_t v = 0; v < view.num_vertices; ++v) {
    for (edge_id e = view.indptr[v]; e < view.indptr[v + 1]; ++e) {
      weights[e] = weight_of(v, e, view.weights == nullptr ? 1.0F : view.weights[e]);
    }
  }
  arrays.weights = std::move(weights);
  return graph(std::move(arrays));
}

/// A graph of the given degrees, edges to the vertices 0, 1, 2, … (again from 0 after the last), all weights 1.
graph make_rows(std::vector<edge_id> const& degrees)
{
  auto const size = static_cast<std::int64_t>(degrees.size());
  buffer<edge_id> indptr(size + 1);
  indptr[0] = 0;
  for (std::int64_t v = 0; v < size; ++v) { indptr[v + 1] = indptr[v] + degrees[static_cast<std::size_t>(v)]; }
  buffer<vertex_id> indices(indptr[size]);
  for (std::int64_t v = 0; v < size; ++v) {
    for (edge_id e = indptr[v]; e < indptr[v + 1]; ++e) { indices[e] = static_cast<vertex_id>((e - indptr[v]) % size); }
    std::sort(indices.data() + indptr[v], indices.data() + indptr[v + 1]);
  }
  buffer<float> weights(indices.size());
  std::fill(weights.begin(), weights.end(), 1.0F);
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  arrays.weights = std::move(weights);
  return graph(std::move(arrays));
}

/// Weighted, with 5 edge labels and 300 vertex types. R-MAT graphs have isolated vertices, self loops, duplicate edges.
std::vector<named_graph> weighted_graphs()
{
  std::vector<named_graph> out;
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 5;
  extra.num_node_types = 300;
  build_options symmetric;
  symmetric.symmetrize = true;
  out.push_back({"R-MAT", generate_rmat({.scale = 13}, symmetric, extra)});
  edge_attributes skewed = extra;
  skewed.weight_sigma = 4;  // 12 orders of magnitude between the smallest and the largest
  skewed.num_labels = 700;
  graph const lognormal = generate_rmat({.scale = 13, .seed = 1}, symmetric, skewed);
  out.push_back({"R-MAT, lognormal weights", lognormal});
  out.push_back({"R-MAT, weights of 0", reweighted(lognormal, [](std::int64_t v, edge_id e, float w) {
                   return v % 11 == 0 || e % 3 == 0 ? 0.0F : w;
                 })});
  out.push_back({"R-MAT, equal weights", reweighted(lognormal, [](std::int64_t, edge_id, float) { return 0.7F; })});
  out.push_back(
      {"R-MAT, no positive weight", reweighted(lognormal, [](std::int64_t, edge_id, float) { return 0.0F; })});
  graph const star = generate_regular(regular_graph::star, (std::int64_t{1} << 20) + 1, 2, skewed);
  out.push_back({"hub of 2^20", star});
  out.push_back({"hub with one heavy edge",
                 reweighted(star, [](std::int64_t, edge_id e, float) { return e == 777'777 ? 1e12F : 1.0F; })});
  out.push_back({"hub, every other edge 0",
                 reweighted(star, [](std::int64_t, edge_id e, float) { return e % 2 == 0 ? 0.0F : 1.0F; })});
  return out;
}

/// Weighted without labels: the edges of tiles, warps and words of bits; no edge at all.
std::vector<named_graph> edge_cases()
{
  std::vector<named_graph> out;
  out.push_back({"no vertex", graph()});
  out.push_back({"no edge", make_rows({0, 0, 0})});
  out.push_back({"one edge", make_rows({1})});
  for (edge_id const size : {31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4096, 6144}) {
    out.push_back({"one row of " + std::to_string(size), make_rows({size})});
    out.push_back({"rows around " + std::to_string(size), make_rows({0, 0, size - 1, 1, 0, size, 0, 2, size + 1, 0})});
  }
  out.push_back({"rows of one edge", make_rows(std::vector<edge_id>(5000, 1))});
  std::vector<edge_id> sparse(300'000, 0);
  for (std::size_t v = 0; v < sparse.size(); v += 1000) { sparse[v] = 3; }
  out.push_back({"mostly isolated", make_rows(sparse)});
  std::mt19937 random(1);
  for (auto& named : out) {
    if (named.host.num_edges() == 0) { continue; }
    named.host = reweighted(named.host, [&](std::int64_t, edge_id, float) {
      return random() % 5 == 0 ? 0.0F : static_cast<float>(random() % 1000);
    });
  }
  return out;
}

std::vector<named_graph> all_graphs()
{
  auto out = weighted_graphs();
  for (auto& named : edge_cases()) { out.push_back(std::move(named)); }
  return out;
}

class gpu_tables : public test::gpu_test {
 protected:
  /// Calls f(host arrays, device view) for each graph, in each form.
  template <class F>
  void for_each(std::vector<named_graph> const& graphs, F f)
  {
    for (auto const& named : graphs) {
      SCOPED_TRACE(named.name);
      for (graph const& there : test::all_forms_on_gpu(named.host, exec)) {
        SCOPED_TRACE(there.form() == graph_form::csr ? "CSR" : "packed");
        f(named.host.csr(), there.view());
        if (HasFatalFailure()) { return; }
      }
    }
  }
  cpu_exec const cpu{};
};

TEST_F(gpu_tables, statistics)
{
  for_each(all_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    auto const expected = plan::make_weight_statistics(host, cpu);
    auto const made = gpu::make_weight_statistics(device, exec);
    EXPECT_EQ(made.expected_trials, expected.expected_trials);
    EXPECT_EQ(made.mean_degree, expected.mean_degree);
    EXPECT_EQ(made.num_bytes, expected.num_bytes);
    expect_same(made.largest, expected.largest, "largest weights");
    std::int64_t largest = 0;
    for (std::int64_t v = 0; v < host.num_vertices; ++v) {
      largest = std::max(largest, host.indptr[v + 1] - host.indptr[v]);
    }
    EXPECT_EQ(gpu::largest_degree(device, exec), largest);
  });
}

TEST_F(gpu_tables, records)
{
  for_each(all_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    auto const statistics = plan::make_weight_statistics(host, cpu);
    auto const statistics_there = gpu::make_weight_statistics(device, exec);
    expect_same(gpu::make_vertex_records(device, statistics_there.largest.data(), exec),
                plan::make_vertex_records(host, statistics.largest.data(), cpu), "vertex records");
    expect_same(gpu::make_edge_records(device, exec), plan::make_edge_records(host, cpu), "edge records");
    std::vector<gpu::row_record> rows;
    for (std::int64_t v = 0; v < host.num_vertices; ++v) {
      rows.push_back({static_cast<std::uint32_t>(host.indptr[v]), host.degree(static_cast<vertex_id>(v))});
    }
    expect_same(copied(gpu::make_row_records(device, exec)), rows, "row records");
    std::vector<gpu::hop_record> hops;
    for (edge_id e = 0; e < host.num_edges; ++e) {
      vertex_id const v = host.indices[e];
      hops.push_back({v, host.degree(v), host.first_edge(v)});
    }
    expect_same(copied(gpu::make_hop_records(device, exec)), hops, "hop records");
    gpu::hop_packing const packing{24, 24};  // enough for all these graphs; leaves the degree 16 bits
    std::vector<std::uint64_t> packed;
    for (auto const& hop : hops) { packed.push_back(packing.pack(hop.neighbor, hop.first, hop.degree)); }
    expect_same(copied(gpu::make_packed_hops(device, packing, exec)), packed, "packed hops");
  });
}

TEST_F(gpu_tables, alias)
{
  for_each(all_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    auto const expected = plan::make_alias_records(host, cpu);
    std::vector<gpu::alias_hop_record> hops;
    // Places follow from the vertices that the CPU's record names.
    auto const place_of = [&](vertex_id v) {
      return v == no_vertex ? gpu::packed_place{0} : gpu::packed_place::of(host.first_edge(v), host.degree(v));
    };
    for (auto const& r : expected) {
      hops.push_back({r.threshold, r.here, r.there, place_of(r.here), place_of(r.there)});
    }
    for (std::int64_t const most_edges : {std::int64_t{64}, std::int64_t{5000}, gpu::batch_edges}) {
      if (host.num_edges / most_edges > 100) { continue; }
      SCOPED_TRACE(most_edges);
      expect_same(gpu::make_alias_records(device, exec, most_edges), expected, "alias records");
      expect_same(copied(gpu::make_alias_hop_records(device, exec, most_edges)), hops, "alias hop records");
    }
  });
}

TEST_F(gpu_tables, prefix_sums)
{
  for_each(all_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    expect_same(gpu::make_prefix_sums(device, exec), plan::make_prefix_sums(host, cpu), "prefix sums");
  });
}

/// Field by field: an entry has padding, and where no row has one there is anything.
TEST_F(gpu_tables, weight_sums)
{
  for_each(all_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    auto const expected = plan::make_weight_sums(host, cpu);
    auto const made = gpu::make_weight_sums(device, exec);
    expect_same(made.rows, expected.rows, "weights of rows");
    auto const sums = copied(made.sums);
    for (std::int64_t v = 0; v < host.num_vertices; ++v) {
      if (expected.rows[v].total == 0) { continue; }
      for (std::uint32_t c = 1; c * core::summed_edges < expected.rows[v].degree; ++c) {
        std::int64_t const at = host.indptr[v] / core::summed_edges + c;
        auto const& got = sums[static_cast<std::size_t>(at)];
        auto const& want = expected.sums[at];
        ASSERT_TRUE(got.all == want.all && got.light == want.light && got.lights == want.lights)
            << "vertex " << v << ", entry " << c;
      }
    }
  });
}

TEST_F(gpu_tables, label_groups)
{
  for_each(weighted_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    for (auto const by : {plan::grouping::by_edge_label, plan::grouping::by_target_type}) {
      SCOPED_TRACE(by == plan::grouping::by_edge_label ? "by edge label" : "by target type");
      auto const used = plan::labels_in_use(host, by, cpu);
      EXPECT_EQ(gpu::labels_in_use(device, by, exec), used);
      auto const labels = static_cast<std::int64_t>(used.size());
      // A million vertices times hundreds of labels would only take time.
      if (host.num_vertices * labels > 50'000'000) { continue; }
      auto const expected = plan::make_label_groups(host, by, labels, cpu);
      for (std::int64_t const most_edges : {std::int64_t{5000}, gpu::batch_edges}) {
        auto const made = gpu::make_label_groups(device, by, labels, exec, most_edges);
        EXPECT_EQ(made.num_labels, labels);
        EXPECT_EQ(made.rows.num_vertices, expected.rows.num_vertices);
        EXPECT_EQ(made.rows.num_edges, expected.rows.num_edges);
        EXPECT_EQ(made.rows.indptr, made.indptr.data());
        EXPECT_EQ(made.rows.indices, made.indices.data());
        EXPECT_EQ(made.rows.weights, made.weights.data());
        expect_same(made.indptr, expected.indptr, "offsets");
        expect_same(made.indices, expected.indices, "indices");
        expect_same(made.weights, expected.weights, "weights");
        // The groups are rows of a graph: their tables are built as any other's.
        expect_same(gpu::make_alias_records(made.rows, exec), plan::make_alias_records(expected.rows, cpu),
                    "alias records of groups");
        EXPECT_EQ(gpu::make_weight_statistics(made.rows, exec).expected_trials,
                  plan::make_weight_statistics(expected.rows, cpu).expected_trials);
      }
    }
  });
}

TEST_F(gpu_tables, label_groups_of_hubs_and_of_many_labels)
{
  edge_attributes extra;
  extra.num_labels = 3;  // without weights
  extra.num_node_types = 65536;
  auto const check = [&](graph const& host, plan::grouping by) {
    auto const labels = static_cast<std::int64_t>(plan::labels_in_use(host.csr(), by, cpu).size());
    auto const expected = plan::make_label_groups(host.csr(), by, labels, cpu);
    for (graph const& there : test::all_forms_on_gpu(host, exec)) {
      auto const made = gpu::make_label_groups(there.view(), by, labels, exec);
      EXPECT_EQ(made.rows.weights, nullptr);
      expect_same(made.indptr, expected.indptr, "offsets");
      expect_same(made.indices, expected.indices, "indices");
    }
  };
  check(generate_regular(regular_graph::star, (std::int64_t{1} << 20) + 1, 2, extra), plan::grouping::by_edge_label);
  check(generate_rmat({.scale = 9}, {}, extra), plan::grouping::by_target_type);
  extra.num_labels = 1;
  check(generate_rmat({.scale = 9}, {}, extra), plan::grouping::by_edge_label);
}

TEST_F(gpu_tables, label_lists)
{
  for_each(weighted_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    for (auto const by : {plan::grouping::by_edge_label, plan::grouping::by_target_type}) {
      SCOPED_TRACE(by == plan::grouping::by_edge_label ? "by edge label" : "by target type");
      auto const labels = static_cast<std::int64_t>(plan::labels_in_use(host, by, cpu).size());
      if (host.num_vertices * labels > 5'000'000) { continue; }
      std::vector<edge_id> firsts;
      std::vector<core::listed_candidate> edges;
      for (std::int64_t v = 0; v < host.num_vertices; ++v) {
        for (std::int64_t label = 0; label < labels; ++label) {
          firsts.push_back(static_cast<edge_id>(edges.size()));
          for (edge_id e = host.indptr[v]; e < host.indptr[v + 1]; ++e) {
            bool const by_edge = by == plan::grouping::by_edge_label;
            if ((by_edge ? host.edge_labels[e] : host.node_types[host.indices[e]]) != label) { continue; }
            edges.push_back({static_cast<std::uint32_t>(e - host.indptr[v]), host.weights[e]});
          }
        }
      }
      firsts.push_back(static_cast<edge_id>(edges.size()));
      for (std::int64_t const most_edges : {std::int64_t{5000}, gpu::batch_edges}) {
        auto const made = gpu::make_label_lists(device, by, labels, exec, most_edges);
        EXPECT_EQ(made.num_labels, labels);
        expect_same(copied(made.firsts), firsts, "where lists begin");
        expect_same(copied(made.edges), edges, "listed edges");
      }
    }
  });
}

TEST_F(gpu_tables, target_triples)
{
  for_each(all_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    if (device.form() != graph_form::csr) { return; }
    auto const words = copied(gpu::make_target_triples(device.as<csr_view>(), exec));
    ASSERT_EQ(static_cast<std::int64_t>(words.size()), gpu::target_triples::words(host.num_edges));
    for (edge_id e = 0; e < host.num_edges; ++e) {
      auto const place = static_cast<std::uint32_t>(e % 3);
      ASSERT_EQ(gpu::target_triples::get(words[static_cast<std::size_t>(e / 3)], place), host.indices[e]);
    }
  });
  graph const large = to_gpu(generate_er({.num_vertices = (1 << 21) + 1, .num_edges = 1}, {}, {}), exec);
  EXPECT_THROW((void)gpu::make_target_triples(large.view().as<csr_view>(), exec), argument_error);
}

TEST_F(gpu_tables, label_groups_without_edges)
{
  edge_attributes extra;
  extra.num_labels = 2;
  for (std::int64_t const vertices : {1, 40}) {
    graph const there = to_gpu(generate_er({.num_vertices = vertices, .num_edges = 0}, {}, extra), exec);
    auto const made = gpu::make_label_groups(there.view(), plan::grouping::by_edge_label, 2, exec);
    EXPECT_EQ(copied(made.indptr), std::vector<edge_id>(static_cast<std::size_t>(2 * vertices + 1), 0));
  }
}

struct question {
  vertex_id from, to;
};

__global__ void ask_sets(edge_arrays graph, vertex_id const* slots, question const* questions, std::int64_t size,
                         char* answers)
{
  auto const i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) { return; }
  question const q = questions[i];
  auto const place =
      core::adjacency_set_place(q.from, static_cast<std::uint64_t>(graph.first_edge(q.from)), graph.degree(q.from));
  answers[i] = core::adjacency_set_contains(slots, place, q.to) ? 1 : 0;
}

TEST_F(gpu_tables, adjacency_sets)
{
  for_each(all_graphs(), [&](csr_arrays const& host, graph_view const& device) {
    auto const slots = gpu::make_adjacency_sets(device, exec);
    ASSERT_EQ(slots.size(), core::adjacency_set_slots(host.num_vertices, host.num_edges));
    std::vector<question> questions;
    // Every edge, every one backwards, and random pairs; in small graphs every pair.
    for (std::int64_t v = 0; v < host.num_vertices; ++v) {
      auto const from = static_cast<vertex_id>(v);
      for (edge_id e = host.indptr[v]; e < host.indptr[v + 1]; ++e) {
        questions.push_back({from, host.indices[e]});
        questions.push_back({host.indices[e], from});
      }
      if (host.num_vertices > 100) { continue; }
      for (vertex_id to = 0; to < host.num_vertices + 3; ++to) { questions.push_back({from, to}); }
    }
    std::mt19937 random(1);
    for (int i = 0; i < 1'000'000 && host.num_vertices > 0; ++i) {
      questions.push_back(
          {static_cast<vertex_id>(random() % host.num_vertices), static_cast<vertex_id>(random() % host.num_vertices)});
      questions.push_back({0, static_cast<vertex_id>(random() % 0xffffffffU)});
    }
    if (questions.empty()) { return; }
    auto const size = static_cast<std::int64_t>(questions.size());
    auto const asked = on_gpu(questions, exec);
    buffer<char> answers(size, gpu_memory(exec.device));
    ask_sets<<<static_cast<unsigned>((size + 255) / 256), 256>>>(device.edges(), slots.data(), asked.data(), size,
                                                                 answers.data());
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    auto const said = copied(answers);
    for (std::size_t i = 0; i < questions.size(); ++i) {
      auto const [from, to] = questions[i];
      bool const right =
          std::binary_search(host.indices + host.indptr[from], host.indices + host.indptr[from + std::int64_t{1}], to);
      ASSERT_EQ(said[i] != 0, right) << from << " to " << to;
    }
  });
}

TEST_F(gpu_tables, on_another_stream)
{
  edge_attributes extra;
  extra.has_weights = true;
  graph const host = generate_rmat({.scale = 10}, {}, extra);
  cudaStream_t stream{};
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    gpu_exec aside = exec;
    aside.stream = stream;
    graph const there = to_gpu(host, aside);
    auto const alias = gpu::make_alias_records(there.view(), aside);
    auto const sums = gpu::make_prefix_sums(there.view(), aside);
    synchronize(aside);
    expect_same(alias, plan::make_alias_records(host.csr(), cpu), "alias records");
    expect_same(sums, plan::make_prefix_sums(host.csr(), cpu), "prefix sums");
  }
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(gpu_tables, refuse_what_does_not_fit_their_fields)
{
  csr_arrays many;
  many.num_edges = std::int64_t{1} << 32;
  EXPECT_THROW((void)gpu::make_row_records(many, exec), argument_error);
  many.num_edges = std::int64_t{1} << 40;
  EXPECT_THROW((void)gpu::make_alias_hop_records(many, exec), argument_error);
  graph const hub = to_gpu(make_rows({std::int64_t{1} << 24}), exec);
  EXPECT_THROW((void)gpu::make_alias_hop_records(hub.view(), exec), argument_error);
}

}  // namespace
}  // namespace tendril
