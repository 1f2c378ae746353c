// Edges in order give the graph that the general build gives, bit for bit, whatever the threads; edges with any single
// fault, wherever it lies, give nothing.

#include <tendril/ordered_edges.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include <tendril/error.hpp>

#include "build/build_verifier.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

using test::shape;

/// Edges in order, as 32 or 64-bit ids.
template <class Id>
struct ordered_list {
  std::vector<Id> vertices, neighbors;
  std::vector<float> weights;

  [[nodiscard]] std::optional<graph> build(std::int64_t num_vertices, int num_threads = 0) const
  {
    cpu_exec exec;
    exec.num_threads = num_threads;
    return build_if_ordered(std::span<Id const>(vertices), std::span<Id const>(neighbors),
                            std::span<float const>(weights), num_vertices, exec);
  }
};

template <class Id>
ordered_list<Id> in_order(test::edge_list const& edges)
{
  ordered_list<Id> out;
  for (auto const& a : test::expected_arcs(edges, {})) {
    out.vertices.push_back(static_cast<Id>(a.source));
    out.neighbors.push_back(static_cast<Id>(a.target));
    if (!edges.weights.empty()) { out.weights.push_back(edges.weights[static_cast<std::size_t>(a.edge)]); }
  }
  return out;
}

template <class Id>
class ordered_edges : public testing::Test {
};
using id_types = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(ordered_edges, id_types, );

TYPED_TEST(ordered_edges, give_the_graph_of_the_general_build)
{
  for (auto const kind : {shape::uniform, shape::hub, shape::two_vertices, shape::one_pair, shape::crowd, shape::skewed,
                          shape::sorted, shape::loops}) {
    for (std::int64_t const size : {1, 2, 1023, 1024, 1025, test::unless_sanitized(200'000, 70'000)}) {
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(kind) << ", edges " << size);
      auto const edges = test::make_edges(kind, size, size % 2 == 0, 0, 3);
      auto const list = in_order<TypeParam>(edges);
      build_options options;
      bool const is_middle = 1 < size && size < 2000;
      options.num_vertices = is_middle ? 3'000 : test::unless_sanitized(300'000, 150'000);  // some behind the last edge
      auto const expected = build_graph(edges.view(), options);
      for (int const threads : {1, 2, 5}) {
        auto const made = list.build(options.num_vertices, threads);
        ASSERT_TRUE(made.has_value());
        test::expect_same_graph(expected, *made);
        EXPECT_EQ(made->content(), graph_content::valid);
        EXPECT_NO_THROW(made->validate());
      }
    }
  }
}

TYPED_TEST(ordered_edges, are_refused_for_a_fault_at_any_place)
{
  std::int64_t const size = 150'000, num_vertices = 20'000;
  ordered_list<TypeParam> list;
  for (std::int64_t k = 0; k < size; ++k) {
    list.vertices.push_back(static_cast<TypeParam>(k / 10));
    list.neighbors.push_back(static_cast<TypeParam>(k % 10 + 5));
    list.weights.push_back(1);
  }
  ASSERT_TRUE(list.build(num_vertices).has_value());
  constexpr auto least = std::numeric_limits<TypeParam>::min(), most = std::numeric_limits<TypeParam>::max();
  constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t const k : {0, 1, 1023, 1024, 5000, 65535, 65536, 65537, 149'999}) {
    auto const expect_refused = [&](auto& elements, auto value) {
      SCOPED_TRACE(testing::Message() << "edge " << k << ", " << value);
      auto const kept = std::exchange(elements[k], value);
      EXPECT_FALSE(list.build(num_vertices, 1).has_value());
      EXPECT_FALSE(list.build(num_vertices, 3).has_value());
      elements[k] = kept;
    };
    for (TypeParam const bad : {TypeParam{-1}, least, most, static_cast<TypeParam>(num_vertices)}) {
      expect_refused(list.vertices, bad);
      expect_refused(list.neighbors, bad);
    }
    expect_refused(list.vertices, static_cast<TypeParam>(k < 10 ? 1 : 0));  // followed, or preceded, by another vertex
    if (k % 10 != 0) { expect_refused(list.neighbors, TypeParam{0}); }
    if (k % 10 != 9) { expect_refused(list.neighbors, TypeParam{19'000}); }
    expect_refused(list.weights, not_a_number);
    expect_refused(list.weights, -1.0F);
    expect_refused(list.weights, std::numeric_limits<float>::infinity());
  }
  EXPECT_TRUE(list.build(num_vertices).has_value());
}

TEST(ordered_edges_of_64_bits, beyond_32_bits_are_no_ids)
{
  constexpr std::int64_t high = std::int64_t{1} << 32U;
  ordered_list<std::int64_t> const far{{0, 1}, {0, high}, {}};
  EXPECT_FALSE(far.build(2).has_value());
  ordered_list<std::int64_t> const vertex{{0, high}, {0, 1}, {}};
  EXPECT_FALSE(vertex.build(2).has_value());
}

TYPED_TEST(ordered_edges, may_be_none)
{
  ordered_list<TypeParam> const none;
  for (std::int64_t const num_vertices : {0, 7}) {
    auto const made = none.build(num_vertices);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->num_vertices(), num_vertices);
    EXPECT_NO_THROW(made->validate());
  }
  ordered_list<TypeParam> const one{{0}, {0}, {}};
  EXPECT_FALSE(one.build(0).has_value());
}

TYPED_TEST(ordered_edges, name_arguments_that_do_not_fit)
{
  using test::message_of;
  ordered_list<TypeParam> list{{0, 1}, {1}, {}};
  EXPECT_EQ(message_of<argument_error>([&] { (void)list.build(2); }),
            "build_if_ordered: 1 neighbors, expected as many as vertices, 2");
  list = {{0, 1}, {1, 0}, {1}};
  EXPECT_EQ(message_of<argument_error>([&] { (void)list.build(2); }),
            "build_if_ordered: 1 weights, expected none or as many as vertices, 2");
  EXPECT_EQ(message_of<argument_error>([&] { (void)list.build(-1); }),
            "build_if_ordered: num_vertices is -1, expected 0 to 4294967295");
}

}  // namespace
}  // namespace tendril
