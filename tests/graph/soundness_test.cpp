// A graph that was only mapped is checked when it is first used: view() throws what validate() throws, or hands out
// arrays that samplers can trust. The oracle is validate(), which looks at one edge after the other.

#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>

#include <tendril/file.hpp>
#include <tendril/generate.hpp>
#include <tendril/io.hpp>
#include <tendril/walk.hpp>

#include "base/mapped_ranges.hpp"  // mapping_at
#include "graph/soundness.hpp"
#include "support/binary_files.hpp"
#include "support/damaged_graphs.hpp"

namespace tendril {
namespace {

using test::changed;
using test::copy_of;
using test::message_of;
using test::ring_with_ids;

constexpr std::int64_t size = 200'000;  // several ranges of offsets and of edges

/// Whether the check of view() and validate() agree on `arrays`, for every number of threads; and what they say.
std::string agreed(graph_arrays const& arrays)
{
  std::string expected;
  try {
    graph(arrays).validate(cpu_exec{1});
  } catch (format_error const& e) {
    expected = e.what();
  }
  for (int const threads : {1, 2, 5}) {
    EXPECT_EQ(validation::is_sound(arrays, cpu_exec{threads}), expected.empty()) << threads << " threads: " << expected;
  }
  graph const fresh(arrays);
  EXPECT_EQ(fresh.content(), graph_content::unchecked);
  for (int i = 0; i < 2; ++i) {  // a second look is no laxer
    std::string said;
    try {
      (void)fresh.csr();
    } catch (format_error const& e) {
      said = e.what();
    }
    EXPECT_EQ(said, expected);
  }
  EXPECT_EQ(fresh.content(), expected.empty() ? graph_content::sound : graph_content::unchecked);
  return expected;
}

TEST(soundness, good_graphs_pass)
{
  EXPECT_EQ(agreed(ring_with_ids(size)), "");
  EXPECT_EQ(agreed(ring_with_ids(1)), "");
  EXPECT_NO_THROW((void)graph().csr());
  graph_arrays lonely;  // vertices without edges
  buffer<edge_id> indptr(size + 1);
  std::fill(indptr.begin(), indptr.end(), 0);
  lonely.indptr = std::move(indptr);
  EXPECT_EQ(agreed(lonely), "");
}

TEST(soundness, one_bad_element_anywhere_is_found)
{
  graph_arrays const good = ring_with_ids(size);
  std::int64_t const last = 2 * size - 1;
  for (std::int64_t const e : {std::int64_t{0}, std::int64_t{65'535}, std::int64_t{65'536}, last}) {
    EXPECT_NE(agreed(changed<vertex_id>(good, &graph_arrays::indices, e, size)), "") << e;
    EXPECT_NE(agreed(changed<vertex_id>(good, &graph_arrays::indices, e, no_vertex)), "") << e;
    EXPECT_NE(agreed(changed<edge_id>(good, &graph_arrays::edge_ids, e, -1)), "") << e;
    for (float const bad : {-1.0F, std::numeric_limits<float>::infinity(), std::nanf(""), -std::nanf("")}) {
      EXPECT_NE(agreed(changed<float>(good, &graph_arrays::weights, e, bad)), "") << e << ": " << bad;
    }
  }
  for (std::int64_t const v : {std::int64_t{1}, std::int64_t{65'535}, std::int64_t{65'536}, size - 1}) {
    for (edge_id const bad : {edge_id{-5}, edge_id{2 * size + 1}, std::numeric_limits<edge_id>::max(),
                              std::numeric_limits<edge_id>::min(), edge_id{1} << 32}) {
      EXPECT_NE(agreed(changed<edge_id>(good, &graph_arrays::indptr, v, bad)), "") << v << ": " << bad;
    }
  }
}

TEST(soundness, neighbours_descend_only_where_a_list_begins)
{
  // One hub whose list is longer than a thread's range, so that its middle is a range's end.
  constexpr std::int64_t degree = 150'000;
  graph_arrays hub;
  buffer<edge_id> indptr(degree + 1);
  std::fill(indptr.begin(), indptr.end(), degree);
  indptr[0] = 0;
  buffer<vertex_id> indices(degree);
  for (std::int64_t e = 0; e < degree; ++e) { indices[e] = static_cast<vertex_id>(e); }
  hub.indptr = std::move(indptr);
  hub.indices = std::move(indices);
  EXPECT_EQ(agreed(hub), "");
  for (std::int64_t const e : {std::int64_t{2}, std::int64_t{65'536}, std::int64_t{131'072}, degree - 1}) {
    EXPECT_EQ(
        agreed(changed<vertex_id>(hub, &graph_arrays::indices, e, 0)),
        "vertex 0: neighbours not ascending at edge " + std::to_string(e) + " (0 after " + std::to_string(e - 1) + ")");
  }
  // As many descents as lists, but one of them inside of a list.
  graph_arrays two;
  two.indptr = test::to_array<edge_id>({0, 2, 4});
  two.indices = test::to_array<vertex_id>({1, 0, 0, 1});
  EXPECT_EQ(agreed(two), "vertex 0: neighbours not ascending at edge 1 (0 after 1)");
}

TEST(soundness, agrees_with_validate_on_random_damage)
{
  std::mt19937_64 random(7);
  auto const below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  int bad = 0;
  for (int i = 0; i < 3000; ++i) {
    std::int64_t const vertices = 1 + below(6), edges = below(12);
    std::vector<edge_id> indptr(static_cast<std::size_t>(vertices + 1));
    for (auto& offset : indptr) { offset = below(edges + 1); }
    if (below(4) != 0) { std::sort(indptr.begin(), indptr.end()); }
    indptr.front() = 0, indptr.back() = edges;
    std::vector<vertex_id> indices(static_cast<std::size_t>(edges));
    for (auto& v : indices) { v = static_cast<vertex_id>(below(vertices + (below(8) == 0 ? 1 : 0))); }
    if (below(3) != 0) {
      bool const ascends = std::is_sorted(indptr.begin(), indptr.end());
      for (std::size_t v = 0; ascends && v + 1 < indptr.size(); ++v) {
        std::sort(indices.begin() + indptr[v], indices.begin() + indptr[v + 1]);
      }
    }
    graph_arrays arrays;
    arrays.indptr = test::to_array(indptr);
    arrays.indices = test::to_array(indices);
    bad += agreed(arrays).empty() ? 0 : 1;
  }
  EXPECT_GT(bad, 300);
  EXPECT_LT(bad, 2700);
}

TEST(soundness, copies_share_one_check)
{
  graph const first(ring_with_ids(1000));
  graph const copy = first;
  EXPECT_EQ(copy.content(), graph_content::unchecked);
  (void)first.csr();
  EXPECT_EQ(copy.content(), graph_content::sound);
  copy.validate();
  EXPECT_EQ(first.content(), graph_content::valid);
  (void)first.csr();
  EXPECT_EQ(first.content(), graph_content::valid);
}

TEST(soundness, many_threads_may_be_the_first)
{
  for (bool const good : {true, false}) {
    graph_arrays arrays = ring_with_ids(size);
    if (!good) { arrays = changed<vertex_id>(std::move(arrays), &graph_arrays::indices, 2 * size - 1, size); }
    graph const shared(std::move(arrays));
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        try {
          (void)shared.csr();
        } catch (format_error const&) {
          ++refused;
        }
      });
    }
    for (auto& thread : threads) { thread.join(); }
    EXPECT_EQ(refused, good ? 0 : 8);
  }
}

TEST(soundness, what_the_library_makes_is_known)
{
  EXPECT_EQ(graph().content(), graph_content::valid);
  EXPECT_EQ(generate_rmat({.scale = 6}, {}).content(), graph_content::valid);
  graph const made = generate_regular(regular_graph::ring, 100);
  EXPECT_EQ(made.content(), graph_content::valid);
  EXPECT_EQ(build_graph(made, {.reverse = true}).content(), graph_content::valid);
  EXPECT_EQ(build_graph(graph(made.arrays()), {.reverse = true}).content(), graph_content::sound);
}

TEST(soundness, every_format_but_the_mapped_one_is_read_valid)
{
  test::scratch_folder const folder;
  graph const made = generate_regular(regular_graph::ring, 100);
  for (char const* const name : {"g.txt", "g.mtx", "g.npz", "g.sg", "g.metis"}) {
    write_graph(made, folder / name);
    EXPECT_EQ(read_graph(folder / name).content(), graph_content::valid) << name;
  }
  write_graph(made, folder / "g.safetensors");
  EXPECT_EQ(read_graph(folder / "g.safetensors").content(), graph_content::unchecked);
  EXPECT_EQ(read_graph(folder / "g.safetensors", {.build = {.symmetrize = true}}).content(), graph_content::valid);
}

/// The native file of a small graph, and where the 4 bytes of its last neighbour are.
std::string native_file(test::scratch_folder const& folder)
{
  std::string const path = folder / "ring.safetensors";
  write_graph(generate_regular(regular_graph::ring, 100), path);
  return path;
}

std::string with_a_bad_neighbour(test::scratch_folder const& folder)
{
  std::string bytes = test::read_bytes(native_file(folder));
  vertex_id const beyond = 4'000'000'000U;
  bytes.replace(bytes.size() - sizeof beyond, sizeof beyond, reinterpret_cast<char const*>(&beyond), sizeof beyond);
  return folder.write("bad.safetensors", bytes);
}

TEST(soundness, a_mapped_file_is_named)
{
  test::scratch_folder const folder;
  std::string const path = with_a_bad_neighbour(folder);
  graph const bad = read_graph(path);
  std::string const message = path + ": vertex 99: neighbour 4000000000 at edge 199, expected an id below 100";
  EXPECT_EQ(message_of<format_error>([&] { (void)bad.csr(); }), message);
  EXPECT_EQ(message_of<format_error>([&] { bad.validate(); }), message);
  EXPECT_EQ(message_of<format_error>([&] { bad.check(cpu_exec{1}); }), message);
  EXPECT_EQ(message_of<format_error>([&] { (void)build_graph(bad, {.reverse = true}); }), message);
  EXPECT_EQ(message_of<format_error>([&] { (void)read_graph(path, {.build = {.reverse = true}}); }), message);
  vertex_id const start = 0;
  EXPECT_EQ(message_of<format_error>([&] { (void)random_walk(bad, {&start, 1}, {}); }), message);
}

TEST(soundness, no_format_is_written_from_bad_content)
{
  test::scratch_folder const folder;
  std::string const path = with_a_bad_neighbour(folder);
  graph const bad = read_graph(path);
  for (char const* const name : {"o.txt", "o.mtx", "o.npz", "o.sg", "o.metis", "o.safetensors"}) {
    std::string const out = folder / name;
    EXPECT_NE(message_of<format_error>([&] { write_graph(bad, out); }), "") << name;
  }
  graph_arrays lopsided = generate_regular(regular_graph::ring, 100).arrays();  // sound, but not what it says it is
  lopsided = changed<vertex_id>(std::move(lopsided), &graph_arrays::indices, 1, 50);
  lopsided.symmetric = true;
  graph const lies(std::move(lopsided));
  (void)lies.csr();
  EXPECT_NE(message_of<format_error>([&] { write_graph(lies, folder / "o.metis"); }), "");
  std::vector<std::string> left;
  for (auto const& entry : std::filesystem::directory_iterator(folder / "")) {
    left.push_back(entry.path().filename().string());
  }
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"bad.safetensors", "ring.safetensors"}));
}

TEST(soundness, progress_is_told_and_can_end_the_check)
{
  graph const mapped(ring_with_ids(size));
  cpu_exec exec = cpu_exec{2};
  exec.on_progress = [](progress const& p) {
    EXPECT_STREQ(p.what, "checking");
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(mapped.check(exec), std::runtime_error);
  EXPECT_EQ(mapped.content(), graph_content::unchecked);
  EXPECT_NO_THROW((void)mapped.csr());
}

TEST(soundness, a_mapping_is_found_by_its_addresses)
{
  test::scratch_folder const folder;
  std::string const path = native_file(folder);
  vertex_id const* inside = nullptr;
  {
    graph const mapped = read_graph(path);
    inside = mapped.arrays().indices.data();
    ASSERT_NE(mapped_file_at(inside), nullptr);
    EXPECT_EQ(std::string(mapped_file_at(inside)), path);
    EXPECT_EQ(mapped_file_at(&inside), nullptr);
  }
  EXPECT_EQ(mapped_file_at(inside), nullptr) << "the file is no longer mapped";
  std::vector<graph> many;  // more mappings than the registry holds still work
  for (int i = 0; i < 100; ++i) { many.push_back(read_graph(path)); }
  for (graph const& one : many) { EXPECT_EQ(one.csr().num_edges, 200); }
}

TEST(soundness, a_mapping_of_somebody_else_is_found_while_it_is_told_of)
{
  std::vector<std::byte> const memory(100);
  {
    foreign_mapping const told(memory, "rows.npy");
    EXPECT_STREQ(mapped_file_at(memory.data()), "rows.npy");
    EXPECT_STREQ(mapped_file_at(memory.data() + 99), "rows.npy");
    EXPECT_EQ(mapped_file_at(memory.data() + 100), nullptr);
    EXPECT_FALSE(base::mapping_at(memory.data())) << "nothing can read its file around the mapping";
  }
  EXPECT_EQ(mapped_file_at(memory.data()), nullptr);
}

}  // namespace
}  // namespace tendril
