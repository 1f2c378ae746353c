// Every seed and every regression that fuzzing left in tests/fuzz/corpus goes through every reader, and comes out as a
// valid graph or as one line.

#include <functional>
#include <map>

#include "formats/text_support.hpp"
#include "fuzz/sample_any.hpp"
#include "support/source_folder.hpp"

namespace tendril {
namespace {

using namespace test;

template <graph_format Format>
graph read_as(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
              read_options const& options, cpu_exec const& exec)
{
  read_options own = options;
  own.format = Format;
  return formats::read_coo(path, bytes, std::move(owner), own, exec);
}

graph read_as_webgraph(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
                       read_options const& options, cpu_exec const& exec)
{
  return formats::read_webgraph(path, bytes, std::move(owner), options, exec);
}

TEST(FuzzCorpus, EveryReaderSurvivesEverySeed)
{
  std::map<std::string, text_reader> const readers = {{"edge_list", formats::read_edge_list},
                                                      {"matrix_market", formats::read_matrix_market},
                                                      {"metis", formats::read_metis},
                                                      {"npz", formats::read_npz},
                                                      {"gap", formats::read_gap},
                                                      {"safetensors", formats::read_safetensors},
                                                      {"webgraph", read_as_webgraph},
                                                      {"coo32", read_as<graph_format::coo32>},
                                                      {"npy", read_as<graph_format::npy>}};
  std::map<std::string, int> accepted;
  int seeds = 0;
  for (auto const& file : std::filesystem::recursive_directory_iterator(test::source_folder() + "/tests/fuzz/corpus")) {
    if (!file.is_regular_file()) { continue; }
    std::string const content = read_file(file.path().string());
    if (content.empty()) { continue; }
    ++seeds;
    // Some targets take their first byte as a choice of options, and the file from the second on.
    for (std::string const& text : {content, content.substr(1)}) {
      if (text.empty()) { continue; }
      for (auto const& [name, reader] : readers) {
        std::string const outcome = refusal(reader, file.path().string(), text);
        EXPECT_FALSE(outcome.empty()) << name << " " << file.path();
        EXPECT_EQ(outcome.find('\n'), std::string::npos) << name << " " << file.path() << ": " << outcome;
        accepted[name] += outcome.starts_with("accepted") ? 1 : 0;
      }
    }
  }
  EXPECT_GT(seeds, 20);
  for (auto const* const name : {"edge_list", "matrix_market", "metis"}) {
    EXPECT_GT(accepted[name], 1) << name << ": its seeds should not all be refused";
  }
}

TEST(FuzzCorpus, EverySamplerSurvivesEverySeed)
{
  int seeds = 0, read = 0;
  for (auto const& file : std::filesystem::directory_iterator(test::source_folder() + "/tests/fuzz/corpus/sample")) {
    std::string const content = read_file(file.path().string());
    SCOPED_TRACE(file.path().string());
    ++seeds;
    read += fuzz::sample_any(reinterpret_cast<std::uint8_t const*>(content.data()), content.size()) ? 1 : 0;
  }
  EXPECT_GT(seeds, 20);
  EXPECT_GT(read, 20) << "a mapped file opens whatever its content is";
}

}  // namespace
}  // namespace tendril
