// A packed graph's way to a GPU and back; a copy of arrays that nobody has checked is refused exactly if the CPU refuses
// the arrays, with its words.

#include <random>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "support/gpu_test.hpp"
#include "support/to_array.hpp"

namespace tendril {
namespace {

using packed_on_gpu = test::gpu_test;

template <class T>
buffer<T> copy_of(shared_array<T> const& from)
{
  buffer<T> out(from.size());
  std::copy(from.begin(), from.end(), out.begin());
  return out;
}

template <class F>
std::string complaint_of(F&& call)
{
  try {
    call();
    return {};
  } catch (format_error const& e) {
    return e.what();
  }
}

graph_arrays packed_rmat(int scale, std::uint64_t seed)
{
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 3;
  return compress(generate_rmat({.scale = scale, .edge_factor = 4, .seed = seed}, {}, extra), graph_form::packed)
      .arrays();
}

TEST_F(packed_on_gpu, comes_back_as_it_went)
{
  graph const g(packed_rmat(12, 1), graph_content::valid);
  graph const there = to_gpu(g, exec);
  EXPECT_EQ(there.form(), graph_form::packed);
  EXPECT_EQ(there.num_edges(), g.num_edges());
  EXPECT_EQ(there.num_bytes(), g.num_bytes());
  EXPECT_EQ(there.bits_per_edge(), g.bits_per_edge());
  graph const back = to_host(there, exec);
  EXPECT_EQ(back.device(), -1);
  EXPECT_EQ(back.form(), graph_form::packed);
  graph const left = to_csr(g), right = to_csr(back);
  ASSERT_EQ(left.num_edges(), right.num_edges());
  for (edge_id e = 0; e < left.num_edges(); ++e) {
    ASSERT_EQ(left.csr().indices[e], right.csr().indices[e]);
    ASSERT_EQ(left.csr().weights[e], right.csr().weights[e]);
    ASSERT_EQ(left.csr().edge_labels[e], right.csr().edge_labels[e]);
  }
  EXPECT_THROW((void)to_csr(there), argument_error);
}

TEST_F(packed_on_gpu, may_be_empty)
{
  for (graph const& g : {graph(), generate_regular(regular_graph::ring, 1)}) {
    graph const unchecked(compress(g, graph_form::packed).arrays());
    graph const back = to_host(to_gpu(unchecked, exec), exec);
    EXPECT_EQ(back.num_vertices(), g.num_vertices());
    EXPECT_EQ(back.form(), graph_form::packed);
  }
}

TEST_F(packed_on_gpu, good_arrays_are_sound_there)
{
  for (int const scale : {1, 8, 17}) {
    graph const there = to_gpu(graph(packed_rmat(scale, 2)), exec);
    EXPECT_EQ(there.content(), graph_content::sound) << scale;
  }
  graph const star = compress(generate_regular(regular_graph::star, 300'001), graph_form::packed);
  EXPECT_EQ(to_gpu(graph(star.arrays()), exec).content(), graph_content::sound);
}

TEST_F(packed_on_gpu, damage_is_refused_as_on_the_cpu)
{
  std::mt19937_64 random(13);
  auto const below = [&](auto n) { return random() % static_cast<std::uint64_t>(n); };
  int refused = 0;
  constexpr int rounds = 400;
  for (int i = 0; i < rounds; ++i) {
    graph_arrays arrays = packed_rmat(6, random());
    switch (below(4)) {
      case 0: break;
      case 1: {
        buffer<std::uint32_t> words = copy_of(arrays.packed.words);
        words[static_cast<std::int64_t>(below(words.size()))] ^= 1U << below(32);
        arrays.packed.words = std::move(words);
        break;
      }
      case 2: {
        buffer<packed_record> records = copy_of(arrays.packed.records);
        auto& record = records[static_cast<std::int64_t>(below(records.size()))];
        switch (below(3)) {
          case 0: record.place_and_width ^= std::uint64_t{1} << below(64); break;
          case 1: record.degree ^= 1U << below(32); break;
          default: record.first ^= 1U << below(32); break;
        }
        arrays.packed.records = std::move(records);
        break;
      }
      default: {
        buffer<float> weights = copy_of(arrays.weights);
        weights[static_cast<std::int64_t>(below(weights.size()))] *= below(2) == 0 ? 1.0F : -1.0F;
        arrays.weights = std::move(weights);
      }
    }
    std::string const expected = complaint_of([&] { (void)graph(arrays).view(); });
    EXPECT_EQ(complaint_of([&] { (void)to_gpu(graph(arrays), exec); }), expected);
    refused += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, rounds / 10);
  EXPECT_LT(refused, rounds * 9 / 10);
}

/// 2 + (2^32 - 1) is 1 in 32 bits, which would be a vertex.
TEST_F(packed_on_gpu, sums_beyond_32_bits_are_no_vertices)
{
  graph_arrays arrays;
  arrays.indptr = test::to_array<edge_id>({0, 2, 2, 2, 2});
  packed_record const none = packed_record::of(64, 0, 0, 0);
  arrays.packed = {test::to_array<packed_record>({packed_record::of(0, 32, 2, 2), none, none, none}),
                   test::to_array<std::uint32_t>({0, 0xffffffffU, 0, 0}), 2};
  EXPECT_EQ(complaint_of([&] { (void)to_gpu(graph(arrays), exec); }),
            "vertex 0: neighbour 4294967297 at edge 1, expected an id below 4");
}

}  // namespace
}  // namespace tendril
