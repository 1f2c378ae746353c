// What is read from a large text depends neither on the number of threads nor on where blocks are cut, and the first
// wrong line of a file is the one reported, with its number.

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "formats/text_support.hpp"

namespace tendril {
namespace {

using namespace test;

struct sample {
  std::string text;
  std::vector<std::size_t> line_starts;
  std::int64_t num_edges = 0;
};

sample make_sample(int num_lines)
{
  std::mt19937 random(7);  // NOLINT: the same text each run
  sample out;
  for (int i = 0; i < num_lines; ++i) {
    out.line_starts.push_back(out.text.size());
    switch (random() % 16) {
      case 0: out.text += fmt::format("# {:>{}}\n", "comment", random() % 200 + 8); break;
      case 1: out.text += "\n"; break;
      default:
        out.text +=
            fmt::format("{} {} {}\n", random() % 50000, random() % 50000, static_cast<float>(random() % 1000) / 8);
        ++out.num_edges;
    }
  }
  return out;
}

TEST(EdgeListParallel, SameGraphForAnyNumberOfThreads)
{
  sample const s = make_sample(200000);
  ASSERT_GT(s.text.size(), 2500000U);  // ten blocks and more
  graph const one = read_text(formats::read_edge_list, "list", s.text, {}, 1);
  EXPECT_EQ(one.num_edges(), s.num_edges);
  auto const expected = edges_of(one);
  for (int const threads : {2, 3, 8}) {
    EXPECT_EQ(edges_of(read_text(formats::read_edge_list, "list", s.text, {}, threads)), expected) << threads;
  }
  EXPECT_EQ(edges_of(read_text(formats::read_edge_list, "list.gz", gzipped(s.text), {}, 2)), expected);
}

TEST(EdgeListParallel, FirstWrongLineIsReported)
{
  sample const s = make_sample(200000);
  for (std::size_t const line :
       {std::size_t{0}, std::size_t{1}, std::size_t{77777}, std::size_t{123456}, s.line_starts.size() - 1}) {
    std::string text = s.text;
    text += "0 worse 1\n";
    for (std::size_t later = s.line_starts.size() - 1; later > line; later -= std::min<std::size_t>(later, 5000)) {
      text.insert(s.line_starts[later], "0 worse 1\n");  // in many of the blocks that are parsed at the same time
    }
    text.insert(s.line_starts[line], "0 bad 1\n");
    std::string const expected = fmt::format("list:{}: target 'bad', expected an integer in [0, ", line + 1);
    for (int const threads : {1, 2, 8}) {
      std::string const plain = refusal(formats::read_edge_list, "list", text, {}, threads);
      EXPECT_TRUE(plain.starts_with(expected)) << threads << " threads, line " << line + 1 << ": " << plain;
    }
    std::string const inflated = refusal(formats::read_edge_list, "list", gzipped(text), {}, 2);
    EXPECT_TRUE(inflated.starts_with(expected)) << inflated;
  }
}

TEST(EdgeListParallel, ProgressCountsBytesAndCancels)
{
  sample const s = make_sample(100000);
  auto const bytes = std::as_bytes(std::span(s.text));
  cpu_exec exec;
  exec.num_threads = 1;
  std::int64_t last = 0;
  exec.on_progress = [&](progress const& p) {
    if (p.what != std::string_view("reading")) { return; }
    EXPECT_GT(p.done, last);
    EXPECT_EQ(p.total, static_cast<std::int64_t>(s.text.size()));
    last = p.done;
  };
  (void)formats::read_edge_list("list", bytes, nullptr, {}, exec);
  EXPECT_EQ(last, static_cast<std::int64_t>(s.text.size()));

  struct cancelled {};
  exec.num_threads = 2;
  exec.on_progress = [](progress const&) { throw cancelled{}; };
  EXPECT_THROW((void)formats::read_edge_list("list", bytes, nullptr, {}, exec), cancelled);
}

}  // namespace
}  // namespace tendril
