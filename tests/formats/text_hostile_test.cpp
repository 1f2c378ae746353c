// Malformed edge lists are refused with one line that says where, what, and what was expected; and no small file makes
// the reader take much memory.

#include <chrono>

#include "formats/text_support.hpp"

namespace tendril {
namespace {

using namespace test;

constexpr std::string_view ids =
    "[0, 16777215] (a file this small has larger ids only with compact or num_vertices set)";
constexpr std::string_view columns = " (name the columns to use others, '-' ignores one)";

std::string message(std::string_view text, read_options const& options = {})
{
  return refusal(formats::read_edge_list, "f", text, options);
}

std::string source(std::string_view field)
{
  return "f:2: source " + std::string(field) + ", expected an integer in " + std::string(ids);
}

TEST(TextHostile, Ids)
{
  EXPECT_EQ(message("0 1\na b\n"), source("'a'"));
  EXPECT_EQ(message("0 1\n-1 2\n"), source("'-1'"));
  EXPECT_EQ(message("0 1\n+1 2\n"), source("'+1'"));
  EXPECT_EQ(message("0 1\n1.0 2\n"), source("'1.0'"));
  EXPECT_EQ(message("0 1\n1e3 2\n"), source("'1e3'"));
  EXPECT_EQ(message("0 1\n0x1 2\n"), source("'0x1'"));
  EXPECT_EQ(message("0 1\n1;2\n"), source("'1;2'"));
  EXPECT_EQ(message("0 1\n16777216 2\n"), source("'16777216'"));
  EXPECT_EQ(message("0 1\n4294967295 2\n"), source("'4294967295'"));
  EXPECT_EQ(message("0 1\n4294967296 2\n"), source("'4294967296'"));
  EXPECT_EQ(message("0 1\n18446744073709551616 2\n"), source("'18446744073709551616'"));
  EXPECT_EQ(message("0 1\n99999999999999999999999999999999999999999999 2\n"),
            source("'9999999999999999999999999999999999999999...'"));
  EXPECT_EQ(message("0 1\n\xff\x01 2\n"), source("'\\xff\\x01'"));
  EXPECT_EQ(message(std::string_view("0 1\n0\0 2\n", 9)), source("'0\\x00'"));
  EXPECT_EQ(message("0 1\n1\r2 3\n"), source("'1\\x0d2'"));
}

TEST(TextHostile, LargestIdIsBelowNoVertex)
{
  read_options options;
  options.build.compact = true;
  EXPECT_EQ(message("4294967294 0\n", options), "accepted: 2 vertices, 1 edges");
  EXPECT_EQ(message("4294967295 0\n", options), "f:1: source '4294967295', expected an integer in [0, 4294967294]");
}

TEST(TextHostile, IdsAgainstNumVertices)
{
  read_options options;
  options.build.num_vertices = 3;
  EXPECT_EQ(message("0 2\n", options), "accepted: 3 vertices, 1 edges");
  EXPECT_EQ(message("0 3\n", options), "f:1: target '3', expected an integer in [0, 2] (num_vertices is set)");
}

TEST(TextHostile, Columns)
{
  EXPECT_EQ(message("7\n"), "f:1: 1 column in '7', expected 2 to 4: source target weight label (or name the columns)");
  EXPECT_EQ(message("1 2 3 4 5\n"),
            "f:1: 5 columns in '1 2 3 4 5', expected 2 to 4: source target weight label (or name the columns)");
  EXPECT_EQ(message("0 1\n2\n"), "f:2: 1 column in '2', expected 2 separated by blanks: source target");
  EXPECT_EQ(message("0 1\n2 3 4\n"), "f:2: 3 columns in '2 3 4', expected 2 separated by blanks: source target");
  EXPECT_EQ(message("0 1 2\n2 3\n"), "f:2: 2 columns in '2 3', expected 3 separated by blanks: source target weight");
  EXPECT_EQ(message("0,1\n2,3,\n"), "f:2: 3 columns in '2,3,', expected 2 separated by commas: source target");
  EXPECT_EQ(message("0,1\n2 3\n"), "f:2: source '2 3', expected an integer in " + std::string(ids));
  EXPECT_EQ(message("0,1\n,3\n"), "f:2: source '', expected an integer in " + std::string(ids));
  EXPECT_EQ(message("0 1\n2,3\n"), "f:2: source '2,3', expected an integer in " + std::string(ids));
}

TEST(TextHostile, Weights)
{
  for (std::string const bad : {"-1", "-0.5", "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "1e39", "1e-60", "x",
                                "1.5x", "0x10", "1,5", "+-1", "--1", "1e", "."}) {
    EXPECT_EQ(message("0 1 1\n1 0 " + bad + "\n"),
              "f:2: weight '" + bad + "', expected a finite number of at least 0" + std::string(columns));
  }
  for (std::string const good : {"0", "-0", "0.0", "1e-40", "3.4e38", ".5", "5.", "+2", "1E5", "00.5"}) {
    EXPECT_EQ(message("0 1 1\n1 0 " + good + "\n"), "accepted: 2 vertices, 2 edges") << good;
  }
}

TEST(TextHostile, Labels)
{
  for (std::string const bad : {"-1", "65536", "1.0", "x", "99999999999999999999"}) {
    EXPECT_EQ(message("0 1 1 0\n1 0 1 " + bad + "\n"),
              "f:2: label '" + bad + "', expected an integer in [0, 65535]" + std::string(columns));
  }
}

TEST(TextHostile, NoTextAtAll)
{
  EXPECT_EQ(message("\xff\xfe"
                    "0\n"),
            "f:1: text in UTF-16, expected ASCII or UTF-8");
  EXPECT_EQ(message(gzipped("")), "f: empty file, expected a graph");
}

TEST(TextHostile, OwnCommentThatLies)
{
  EXPECT_EQ(message("# tendril edge list, vertices: 2, columns: source target\n0 2\n"),
            "f:2: target '2', expected an integer in [0, 1] (the first comment says how many vertices there are)");
  EXPECT_EQ(message("# tendril edge list, vertices: 4294967295, columns: source target\n0 1\n"),
            "f: a comment says 4294967295 vertices, expected at most 16777216 in a file this small");
  // Not quite the comment of our writer: a comment like any other.
  EXPECT_EQ(message("# tendril edge list, vertices: 99, columns: source source\n0 1\n"),
            "accepted: 2 vertices, 1 edges");
  EXPECT_EQ(message("# tendril edge list, vertices: 99999999999999999999, columns: source target\n0 1\n"),
            "accepted: 2 vertices, 1 edges");
  EXPECT_EQ(message("# tendril edge list, vertices: , columns: source target\n0 1\n"), "accepted: 2 vertices, 1 edges");
}

TEST(TextHostile, TruncatedAndCorruptGzip)
{
  std::string text;
  for (int i = 0; i < 20000; ++i) { text += std::to_string(i * 7919 % 20011) + " " + std::to_string(i) + "\n"; }
  std::string const whole = gzipped(text);
  ASSERT_EQ(message(whole), "accepted: 20011 vertices, 20000 edges");
  for (std::size_t const size : {std::size_t{2}, std::size_t{9}, std::size_t{11}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_EQ(message(whole.substr(0, size)),
              "f: gzip data ends early at byte " + std::to_string(size) + ", expected a complete gzip file");
  }
  std::string corrupt = whole;
  corrupt[whole.size() - 6] ^= 1;  // the checksum
  EXPECT_EQ(message(corrupt).substr(0, 23), "f: gzip data is corrupt");
  corrupt = whole;
  corrupt[whole.size() / 2] ^= 0x55;
  EXPECT_EQ(message(corrupt).substr(0, 2), "f:");
  EXPECT_NE(message(corrupt).find(", expected "), std::string::npos);
  EXPECT_EQ(message(whole + "junk"), "f: gzip data is followed by something else at byte " +
                                         std::to_string(whole.size()) + ", expected a complete gzip file");
}

TEST(TextHostile, GzipMembersAndPaddingReadAsOne)
{
  EXPECT_EQ(message(gzipped("0 1\n1 ") + gzipped("2\n") + gzipped("") + std::string(512, '\0')),
            "accepted: 3 vertices, 2 edges");
  EXPECT_EQ(message(gzipped("0 1\n1 2")), "accepted: 3 vertices, 2 edges");
}

TEST(TextHostile, GzipBombIsNotUnpackedIntoMemory)
{
  std::string const zeros(std::size_t{1} << 27U, '0');  // one line of 128 MiB out of 128 KiB
  EXPECT_EQ(message(gzipped(zeros)), "f: a line of more than 67108864 bytes in a gzip file, expected shorter lines");
}

TEST(TextHostile, FilesOfTheWrongKind)
{
  temporary_folder const folder;
  auto const outcome_of = [](std::string const& path) {
    try {
      (void)read_graph(path);
      return std::string("accepted");
    } catch (error const& problem) {
      return std::string(problem.what());
    }
  };
  std::string const empty = folder.write("empty.txt", "");
  EXPECT_EQ(outcome_of(empty), empty + ": empty file, expected a graph");
  EXPECT_EQ(outcome_of(folder.path()), folder.path() + ": is a directory, expected a file");
  EXPECT_EQ(outcome_of(folder.file("none.txt")), folder.file("none.txt") + ": cannot open: No such file or directory");
  EXPECT_THROW((void)read_graph(folder.file("none.txt")), io_error);
  std::string const bad = folder.write("bad.txt", "0 1\n0 x\n");
  EXPECT_EQ(outcome_of(bad), bad + ":2: target 'x', expected an integer in " + std::string(ids));
  EXPECT_THROW((void)read_graph(bad), format_error);
}

}  // namespace
}  // namespace tendril
