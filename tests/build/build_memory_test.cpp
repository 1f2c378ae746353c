// A build's peak memory stays within 2.2 times input plus result, counted by a memory resource that all of it comes
// from; whatever the options, and with few survivors above all, where the result is no help.

#include <atomic>

#include "build/build_verifier.hpp"

namespace tendril {
namespace {

using test::make_edges;
using test::shape;

/// Counts the bytes that live, and the most that ever did.
class counting_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes) override
  {
    std::int64_t const now = live_ += static_cast<std::int64_t>(bytes);
    for (auto seen = peak_.load(); now > seen && !peak_.compare_exchange_weak(seen, now);) {}
    return host_memory().allocate(bytes);
  }
  void deallocate(void* pointer, std::size_t bytes) noexcept override
  {
    live_ -= static_cast<std::int64_t>(bytes);
    host_memory().deallocate(pointer, bytes);
  }
  [[nodiscard]] std::int64_t live() const { return live_; }
  [[nodiscard]] std::int64_t peak() const { return peak_; }

 private:
  std::atomic<std::int64_t> live_{0}, peak_{0};
};

constexpr std::int64_t num_edges = 1'000'000;
constexpr std::int64_t fixed_bytes = std::int64_t{3} << 20U;  // tables that don't grow with the input

struct memory_case {
  shape kind;
  bool symmetrize, drop_duplicates, compact, keep_edge_ids, weights;
  int label_bytes;
};

class build_memory : public testing::TestWithParam<memory_case> {};

TEST_P(build_memory, stays_within_the_bound)
{
  auto const& c = GetParam();
  auto const edges = make_edges(c.kind, num_edges, c.weights, c.label_bytes, 1);
  build_options options;
  options.symmetrize = c.symmetrize;
  options.drop_duplicates = c.drop_duplicates;
  options.compact = c.compact;
  options.keep_edge_ids = c.keep_edge_ids;
  counting_memory memory;
  {
    cpu_exec exec;
    exec.num_threads = 2;
    exec.memory = &memory;
    auto const g = build_graph(edges.view(), options, exec);
    std::int64_t const input = num_edges * (8 + 4 * c.weights + c.label_bytes);
    auto const bound = static_cast<std::int64_t>(2.2 * static_cast<double>(input + g.num_bytes()));
    EXPECT_LE(input + memory.peak(), bound + fixed_bytes)
        << "input " << input << ", result " << g.num_bytes() << ", ratio "
        << static_cast<double>(input + memory.peak()) / static_cast<double>(input + g.num_bytes());
    EXPECT_EQ(memory.live(), g.num_bytes());
  }
  EXPECT_EQ(memory.live(), 0);
}

INSTANTIATE_TEST_SUITE_P(options, build_memory,
                         testing::Values(memory_case{shape::uniform, false, false, false, false, false, 0},
                                         memory_case{shape::uniform, true, false, false, false, false, 0},
                                         memory_case{shape::uniform, true, true, false, false, false, 0},
                                         memory_case{shape::uniform, true, false, true, true, true, 2},
                                         memory_case{shape::uniform, false, true, true, true, true, 1},
                                         memory_case{shape::hub, true, false, false, false, true, 0},
                                         memory_case{shape::hub, true, true, true, true, false, 0},
                                         memory_case{shape::hub, false, true, false, false, false, 2},
                                         memory_case{shape::two_vertices, true, true, false, false, false, 0},
                                         memory_case{shape::two_vertices, true, true, true, true, false, 2},
                                         memory_case{shape::two_vertices, true, false, false, false, false, 0},
                                         memory_case{shape::two_vertices, true, true, false, true, true, 0},
                                         memory_case{shape::one_pair, false, true, false, true, false, 0},
                                         memory_case{shape::one_pair, true, true, true, false, true, 1},
                                         memory_case{shape::crowd, true, true, false, false, false, 0},
                                         memory_case{shape::crowd, true, true, false, true, true, 1},
                                         memory_case{shape::crowd, false, true, true, true, false, 0},
                                         memory_case{shape::skewed, true, true, false, false, true, 0},
                                         memory_case{shape::skewed, true, true, true, true, true, 2},
                                         memory_case{shape::sorted, true, true, false, true, false, 0},
                                         memory_case{shape::sparse_ids, true, true, true, true, false, 0},
                                         memory_case{shape::sparse_ids, false, false, true, false, true, 0}));

TEST(build_memory_of_a_graph, stays_within_the_bound)
{
  auto const edges = make_edges(shape::skewed, num_edges, true, 0, 1);
  auto const input = build_graph(edges.view(), {});
  for (bool const symmetrize : {false, true}) {
    build_options options;
    options.symmetrize = symmetrize;
    options.drop_duplicates = true;
    options.compact = true;
    counting_memory memory;
    cpu_exec exec;
    exec.num_threads = 2;
    exec.memory = &memory;
    auto const g = build_graph(input, options, exec);
    auto const bound = static_cast<std::int64_t>(2.2 * static_cast<double>(input.num_bytes() + g.num_bytes()));
    EXPECT_LE(input.num_bytes() + memory.peak(), bound + fixed_bytes);
  }
}

}  // namespace
}  // namespace tendril
