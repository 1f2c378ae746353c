// An edge list out of a spreadsheet gives the edges that its cells say: quotes, semicolons and line of names included; a
// line of names that contradicts the columns is refused.

#include "formats/text_support.hpp"

namespace tendril {
namespace {

using namespace test;

graph read(std::string_view text, read_options const& options = {})
{
  return read_text(formats::read_edge_list, "list", text, options, 1);
}

std::string refused(std::string_view text, read_options const& options = {})
{
  return refusal(formats::read_edge_list, "list", text, options);
}

std::string at_line(int line, std::string_view problem) { return fmt::format("list:{}: {}", line, problem); }

TEST(Csv, QuotedNumbersAreNumbers)
{
  edges const expected{{0, 1}, {1, 2}};
  EXPECT_EQ(edges_of(read("\"0\",\"1\"\n\"1\",\"2\"\n")), expected);  // the first line is no line of names
  EXPECT_EQ(edges_of(read("\"0\" , \"1\" \r\n1,\"2\"\r\n")), expected);
  EXPECT_EQ(edges_of(read("\"from\",\"to\"\n\"0\",\"1\"\n1,2")), expected);
  EXPECT_EQ(edges_of(read("\"0\";\"1\";\"2.5\"\n1;2;3")), (edges{{0, 1, 2.5F}, {1, 2, 3}}));
  EXPECT_EQ(edges_of(read("\"0\",\"1\",\"2\",\"3\"\n1,2,\"4\",5")), (edges{{0, 1, 2, 3}, {1, 2, 4, 5}}));
}

TEST(Csv, FieldsInQuotesHoldSeparators)
{
  read_options const options{.columns = {"source", "target", "-", "label"}};
  edges const expected{{0, 1, 1, 7}, {1, 2, 1, 8}};
  EXPECT_EQ(edges_of(read("0,1,\"Doe, Jane\",7\n1,2,x,8\n", options)), expected);
  EXPECT_EQ(edges_of(read("a,b,\"name, given\",c\n0,1,\"say \"\"a, b\"\" twice\",7\n1,2,\"\",8\n", options)), expected);
  EXPECT_EQ(edges_of(read("0;1;\"a;b,c\";7\n1;2;\"\"\"\";8\n", options)), expected);
  EXPECT_EQ(refused("0,1,\"a,b\"\n", options),
            at_line(1, "3 columns in '0,1,\"a,b\"', expected 4 separated by commas: source target - label"));
  EXPECT_EQ(refused("\"a,b\",0,1\n", {.columns = {"-", "-", "source", "target"}}),
            at_line(1, "3 columns in '\"a,b\",0,1', expected 4 separated by commas: - - source target"));
}

TEST(Csv, QuotesThatDoNotEnclose)
{
  read_options const options{.columns = {"source", "target", "-"}};
  EXPECT_EQ(edges_of(read("0,1,5\" pipe\n", options)), (edges{{0, 1}}));  // no field begins with it
  EXPECT_EQ(refused("0,1,a\n0,1,\"open\n", options),
            at_line(2, "'0,1,\"open', expected a quote at the end of a field that begins with one"));
  EXPECT_TRUE(refused("0,1\n\"0,1\"\n").starts_with(at_line(2, "source '0_1', expected an integer in [0, ")));
  EXPECT_TRUE(refused("0,1\n\"\",1\n").starts_with(at_line(2, "source '', expected an integer in [0, ")));
  EXPECT_TRUE(refused("'0','1'\n").starts_with(at_line(1, "source ''0'', expected an integer in [0, ")));
  EXPECT_TRUE(refused("0 1\n\"0\" \"1\"\n").starts_with(at_line(2, "source '\"0\"', expected an integer in [0, ")));
}

TEST(Csv, Semicolons)
{
  EXPECT_EQ(edges_of(read("from;to;weight\n0;1;2.5\n# c\n1 ; 2 ;3\r\n")), (edges{{0, 1, 2.5F}, {1, 2, 3}}));
  EXPECT_TRUE(refused("0;1\n1,2\n").starts_with(at_line(2, "source '1,2', expected an integer in [0, ")));
  EXPECT_EQ(refused("0;1\n1\n"), at_line(2, "1 column in '1', expected 2 separated by semicolons: source target"));
  EXPECT_TRUE(refused("0;1;2,5\n").starts_with(at_line(1, "weight '2,5', expected a finite number of at least 0")));
  EXPECT_EQ(edges_of(read("0,1,a;b\n", {.columns = {"source", "target", "-"}})), (edges{{0, 1}}));
}

TEST(Csv, TrailingSeparators)
{
  EXPECT_TRUE(refused("0,1,\n").starts_with(at_line(1, "weight '', expected a finite number of at least 0")));
  EXPECT_EQ(refused("0,1\n1,2,\n"), at_line(2, "3 columns in '1,2,', expected 2 separated by commas: source target"));
  EXPECT_EQ(edges_of(read("0,1,\n1,2,\n", {.columns = {"source", "target", "-"}})), (edges{{0, 1}, {1, 2}}));
}

TEST(Csv, NamesInAnyCaseAfterCommentsAndAByteOrderMark)
{
  edges const expected{{1, 0, 1, 7}};
  EXPECT_EQ(edges_of(read("Label,TARGET,Source\n7,0,1\n")), expected);
  EXPECT_EQ(edges_of(read("\xef\xbb\xbf# exported\r\n\r\n\"Label\";\"Target\";\"Source\"\r\n7;0;1\r\n")), expected);
  EXPECT_EQ(edges_of(read("\xd0\xbe\xd1\x82,\xd0\xba\n0,1\n")), (edges{{0, 1}}));  // names in another alphabet
}

TEST(Csv, NamesThatContradictTheColumns)
{
  auto const problem = [](int column, std::string_view name) {
    return at_line(1,
                   fmt::format("column {} is named '{}', expected each of source and target once, and at most weight "
                               "and label beside them (or name the columns)",
                               column, name));
  };
  EXPECT_EQ(refused("source,source\n0,1\n"), problem(2, "source"));
  EXPECT_EQ(refused("Source,Target,weight,WEIGHT\n0,1,2,3\n"), problem(4, "WEIGHT"));
  EXPECT_EQ(refused("source,weight\n0,1\n"), problem(2, "weight"));
  EXPECT_EQ(refused("target,from\n0,1\n"), problem(1, "target"));
  EXPECT_EQ(refused("from,to,label\n0,1,2\n"), problem(3, "label"));
  EXPECT_EQ(refused("id,source,target\n5,0,1\n"), problem(2, "source"));
  EXPECT_EQ(refused("# list\n\nid,source,target\n5,0,1\n").substr(0, 7), "list:3:");
  // Names that agree with the usual order, and columns that the caller names.
  EXPECT_EQ(edges_of(read("source,to,time\n0,1,2\n")), (edges{{0, 1, 2}}));
  EXPECT_EQ(edges_of(read("source,source\n0,1\n", {.columns = {"target", "source"}})), (edges{{1, 0}}));
}

}  // namespace
}  // namespace tendril
