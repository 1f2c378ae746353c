// Weights, labels and edge ids of compressed graphs in fewer bits: the same bits come back, whatever they are; what pays is
// chosen by content alone.

#include "place/narrow.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/walk.hpp>

#include "support/binary_files.hpp"
#include "support/graph_forms.hpp"
#include "support/messages.hpp"
#include "support/sample_bytes.hpp"
#include "support/sanitized.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

constexpr edge_id ring_edges = 200'002;

graph_arrays ring() { return generate_regular(regular_graph::ring, ring_edges / 2, 1).arrays(); }

/// A ring with weights that only a dictionary of the caller's has.
graph_arrays weighted_by(std::vector<float> const& values)
{
  graph_arrays arrays = ring();
  std::vector<float> weights(static_cast<std::size_t>(ring_edges));
  for (std::size_t e = 0; e < weights.size(); ++e) { weights[e] = values[e * 7919 % values.size()]; }
  arrays.weights = test::to_array(weights);
  arrays.symmetric = false;
  return arrays;
}

std::vector<float> some_floats(std::size_t size)
{
  std::vector<float> out(size);
  for (std::size_t i = 0; i < size; ++i) { out[i] = 0.37F * static_cast<float>(i + 1); }
  return out;
}

std::vector<std::uint32_t> bits_of(shared_array<float> const& weights)
{
  std::vector<std::uint32_t> out;
  for (float const weight : weights) { out.push_back(std::bit_cast<std::uint32_t>(weight)); }
  return out;
}

TEST(NarrowEdges, WeightsOfEveryWidthComeBackBitForBit)
{
  for (std::size_t const size : {1, 2, 3, 4, 5, 16, 17, 1000, 5'000}) {
    if (test::is_sanitized && size != 1 && size != 4 && size != 1000) { continue; }
    SCOPED_TRACE(size);
    graph const g(weighted_by(some_floats(size)));
    graph const small = compress(g, graph_form::packed);
    narrow_edges const& narrow = small.arrays().narrow;
    EXPECT_TRUE(small.arrays().weights.empty());
    EXPECT_TRUE(small.has_weights());
    EXPECT_EQ(narrow.weight_codes.width, std::bit_width(size - 1));
    EXPECT_EQ(narrow.weight_values.size(), static_cast<std::int64_t>(size));
    EXPECT_EQ(bits_of(edge_weights(small)), bits_of(g.arrays().weights));
    EXPECT_EQ(bits_of(to_csr(small).arrays().weights), bits_of(g.arrays().weights));
    EXPECT_FALSE(to_csr(small).arrays().narrow.weight_codes.size > 0);
    EXPECT_LT(small.num_bytes(), compress(g, graph_form::packed).num_bytes() + 1);
    graph_view const view = small.view();
    for (std::int64_t v = 0; v < g.num_vertices(); v += 97) {
      ASSERT_EQ(view.weight(v, 1), g.view().weight(v, 1)) << v;
    }
    EXPECT_NO_THROW(graph(small.arrays()).validate());
  }
}

TEST(NarrowEdges, WeightsStayWhereADictionaryDoesNotPay)
{
  for (std::size_t const size : {20'000, 65'537, 200'000}) {
    graph const g(weighted_by(some_floats(size)));
    graph const small = compress(g, graph_form::runs);
    EXPECT_EQ(small.arrays().weights.data(), g.arrays().weights.data()) << size;
    EXPECT_TRUE(small.arrays().narrow.weight_values.empty());
  }
}

TEST(NarrowEdges, EveryFloatThatAGraphMayHaveComesBack)
{
  using limits = std::numeric_limits<float>;
  std::vector<float> const odd{0.0F,          -0.0F, limits::denorm_min(),      limits::min(),
                               limits::max(), 1.0F,  std::nextafter(1.0F, 2.0F)};
  graph const g(weighted_by(odd));
  graph const small = compress(g, graph_form::best);
  EXPECT_EQ(small.arrays().narrow.weight_values.size(), 7);
  EXPECT_EQ(bits_of(to_csr(small).arrays().weights), bits_of(g.arrays().weights));
}

TEST(NarrowEdges, LabelsTakeTheBitsOfTheLargest)
{
  for (auto const& [labels, width, bytes] :
       {std::tuple{1, 1, 1}, {2, 1, 1}, {3, 2, 1}, {16, 4, 1}, {300, 0, 2}, {17, 0, 1}}) {
    SCOPED_TRACE(labels);
    graph const g = generate_rmat({.scale = 12}, {}, {.num_labels = labels});
    graph const small = compress(g, graph_form::packed);
    packed_array const& narrow = small.arrays().narrow.labels;
    EXPECT_EQ(static_cast<int>(narrow.width), width);
    EXPECT_EQ(small.bytes_per_edge_label(), bytes);
    EXPECT_EQ(narrow.empty(), width == 0);
    EXPECT_EQ(test::to_vector(edge_labels(small)), test::to_vector(g.arrays().edge_labels));
    EXPECT_EQ(to_csr(small).arrays().edge_labels.bytes_per_label(), bytes);
    graph_view const view = small.view();
    for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
      for (std::uint32_t i = 0; i < view.degree(v); ++i) { ASSERT_EQ(view.label(v, i), g.view().label(v, i)); }
    }
  }
}

TEST(NarrowEdges, LabelsOfTwoBytesMayTakeOne)
{
  graph_arrays arrays = ring();
  std::vector<std::uint16_t> labels(static_cast<std::size_t>(ring_edges));
  for (std::size_t e = 0; e < labels.size(); ++e) { labels[e] = static_cast<std::uint16_t>(e % 200); }
  arrays.edge_labels = test::to_array(labels);
  arrays.symmetric = false;
  graph const g(std::move(arrays));
  graph const small = compress(g, graph_form::packed);
  EXPECT_EQ(small.arrays().narrow.labels.width, 8U);
  EXPECT_EQ(to_csr(small).arrays().edge_labels.bytes_per_label(), 2);
  EXPECT_EQ(test::to_vector(edge_labels(small)), test::to_vector(g.arrays().edge_labels));
}

TEST(NarrowEdges, EdgeIds)
{
  struct a_case {
    edge_id first, factor;
    std::uint32_t width;
    bool ascend;
  };
  for (a_case const& c : {a_case{0, 1, 0, true},
                          {70, 1, 0, true},
                          {1000, 0, 0, false},
                          {0, -1, 18, false},
                          {std::int64_t{1} << 50U, 6, 20, true},
                          {0, std::int64_t{1} << 36U, 54, false}}) {
    SCOPED_TRACE(c.factor);
    graph_arrays arrays = ring();
    std::vector<edge_id> ids(static_cast<std::size_t>(ring_edges));
    for (edge_id e = 0; e < ring_edges; ++e) {
      ids[static_cast<std::size_t>(e)] = c.factor < 0 ? ring_edges - 1 - e : c.first + c.factor * e;
    }
    arrays.edge_ids = test::to_array(ids);
    graph const g(std::move(arrays));
    graph const small = compress(g, graph_form::packed);
    EXPECT_EQ(small.arrays().narrow.ids.width, c.width);
    EXPECT_EQ(small.arrays().narrow.ids_ascend, c.ascend);
    EXPECT_TRUE(small.arrays().edge_ids.empty());
    EXPECT_TRUE(small.has_edge_ids());
    EXPECT_EQ(test::to_vector(edge_ids(small)), ids);
    EXPECT_EQ(test::to_vector(to_csr(small).arrays().edge_ids), ids);
  }
}

TEST(NarrowEdges, ThreadsDoNotChangeABit)
{
  graph_arrays arrays = weighted_by(some_floats(3000));
  arrays.edge_ids = test::to_array(std::vector<edge_id>(static_cast<std::size_t>(ring_edges), 9));
  graph const g(std::move(arrays));
  cpu_exec exec;
  exec.num_threads = 1;
  narrow_edges const expected = compress(g, graph_form::packed, exec).arrays().narrow;
  for (int const threads : {2, 5, 16}) {
    exec.num_threads = threads;
    narrow_edges const made = compress(g, graph_form::packed, exec).arrays().narrow;
    EXPECT_EQ(test::to_vector(made.weight_codes.words), test::to_vector(expected.weight_codes.words));
    EXPECT_EQ(bits_of(made.weight_values), bits_of(expected.weight_values));
    EXPECT_EQ(test::to_vector(made.ids.words), test::to_vector(expected.ids.words));
  }
}

TEST(NarrowEdges, StayFromOneFormToAnother)
{
  graph const small = compress(graph(weighted_by(some_floats(9))), graph_form::packed);
  graph const other = compress(small, graph_form::ef);
  EXPECT_EQ(other.arrays().narrow.weight_codes.words.data(), small.arrays().narrow.weight_codes.words.data());
}

TEST(NarrowEdges, WeightedWalksAreThoseOfTheArrays)
{
  edge_attributes const extra{.has_weights = true};
  graph_arrays arrays = generate_rmat({.scale = 11}, {}, extra).arrays();
  buffer<float> rounded(arrays.weights.size());
  std::transform(arrays.weights.begin(), arrays.weights.end(), rounded.begin(),
                 [](float w) { return std::floor(8 * w) / 8; });
  arrays.weights = std::move(rounded);
  graph const g(std::move(arrays));
  graph const small = compress(g, graph_form::best);
  ASSERT_FALSE(small.arrays().narrow.weight_codes.empty());
  std::vector<vertex_id> starts(500);
  for (std::size_t i = 0; i < starts.size(); ++i) { starts[i] = static_cast<vertex_id>(i); }
  for (auto const rule : {sampling_rule::scan, sampling_rule::reject, sampling_rule::alias, sampling_rule::its}) {
    walk_params params{.length = 20, .weighted = true, .seed = 3};
    params.rule = rule;
    EXPECT_TRUE(test::sample_bytes(random_walk(small, starts, params).vertices) ==
                test::sample_bytes(random_walk(g, starts, params).vertices));
  }
}

TEST(NarrowEdges, SizesAreTold)
{
  graph_arrays arrays = weighted_by(some_floats(4));
  arrays.edge_labels = test::to_array(std::vector<std::uint8_t>(static_cast<std::size_t>(ring_edges), 77));
  std::vector<edge_id> ids(static_cast<std::size_t>(ring_edges));
  for (edge_id e = 0; e < ring_edges; ++e) { ids[static_cast<std::size_t>(e)] = e; }
  arrays.edge_ids = test::to_array(ids);
  graph const g(std::move(arrays));
  auto const plain = edge_array_sizes(g);
  auto const small = edge_array_sizes(compress(g, graph_form::packed));
  ASSERT_EQ(plain.size(), 3U);
  ASSERT_EQ(small.size(), 3U);
  for (auto const& size : plain) { EXPECT_EQ(size.form, "array"); }
  EXPECT_EQ(plain[0].bits_per_edge, 32);
  EXPECT_EQ(plain[1].bits_per_edge, 8);
  EXPECT_EQ(plain[2].bits_per_edge, 64);
  EXPECT_EQ(small[0].name, "weights");
  EXPECT_EQ(small[0].form, "dictionary");
  EXPECT_NEAR(small[0].bits_per_edge, 2, 0.01);
  EXPECT_EQ(small[1].form, "array");
  EXPECT_EQ(small[2].form, "positions");
  EXPECT_NEAR(small[2].bits_per_edge, 0, 0.01);
}

TEST(NarrowEdges, ArraysThatDoNotFitAreRefused)
{
  graph_arrays const good = compress(graph(weighted_by(some_floats(5))), graph_form::packed).arrays();
  auto const refusal = [&](auto change) {
    graph_arrays arrays = good;
    change(arrays);
    return test::message_of<argument_error>([&] { (void)graph(std::move(arrays)); });
  };
  EXPECT_EQ(refusal([](graph_arrays& a) { a.narrow.weight_codes.width = 17; }),
            "graph: weights of 17 bits, expected 0 to 16");
  EXPECT_EQ(refusal([](graph_arrays& a) { a.narrow.weight_codes.width = 4; }),
            "graph: 18752 words of weights, expected 25002 for 200002 edges of 4 bits");
  EXPECT_EQ(refusal([](graph_arrays& a) { a.narrow.weight_codes.size = 7; }),
            "graph: weights has 7 elements, expected one an edge: 200002");
  EXPECT_EQ(refusal([](graph_arrays& a) { a.narrow.weight_values = {}; }),
            "graph: codes of weights without values, expected at least one");
  EXPECT_EQ(refusal([](graph_arrays& a) {
              a.weights = test::to_array(std::vector<float>(static_cast<std::size_t>(ring_edges), 1));
            }),
            "graph: weights both as an array and in fewer bits, expected one of them");
}

TEST(NarrowEdges, ContentThatCannotBeIsRefused)
{
  graph_arrays arrays = compress(graph(weighted_by(some_floats(5))), graph_form::packed).arrays();
  auto const refusal = [&] { return test::message_of<format_error>([&] { (void)graph(arrays).view(); }); };
  std::vector<float> values(arrays.narrow.weight_values.begin(), arrays.narrow.weight_values.end());
  values[2] = -1;
  arrays.narrow.weight_values = test::to_array(values);
  EXPECT_EQ(refusal(), "weight -1 in the dictionary at 2, expected a finite number >= 0");
  values.resize(2);
  arrays.narrow.weight_values = test::to_array(values);
  std::uint32_t const code = arrays.narrow.weight_codes.view().at(1, plain_load{});
  ASSERT_GT(code, 1U);
  EXPECT_EQ(refusal().substr(0, 8), "weight " + std::to_string(code));
}

TEST(PackedNumbers, EveryWidth)
{
  std::mt19937_64 random(5);
  for (std::uint32_t width = 0; width <= 62; ++width) {
    std::int64_t const size = 1 + static_cast<std::int64_t>(random() % 200);
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(size));
    for (auto& number : numbers) { number = random() & ((std::uint64_t{1} << width) - 1); }
    std::vector<std::uint32_t> words(static_cast<std::size_t>(packed_numbers::num_words(size, width)), 0);
    place::pack_range(
        0, size, width, [&](std::int64_t i) { return numbers[static_cast<std::size_t>(i)]; }, words.data());
    packed_numbers const packed{words.data(), width};
    for (std::int64_t i = 0; i < size; ++i) {
      ASSERT_EQ(packed[i], numbers[static_cast<std::size_t>(i)]) << width << ' ' << i;
      if (width <= 32) { ASSERT_EQ(packed.at(i, plain_load{}), numbers[static_cast<std::size_t>(i)]); }
    }
  }
}

}  // namespace
}  // namespace tendril
