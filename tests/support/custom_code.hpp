// What tests of walks and of applications that come as text share: a cache of their own, and what compiling complains
// of.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/custom_code.hpp>
#include <tendril/error.hpp>

namespace tendril::test {

template <class Custom>
class custom_code_test : public testing::Test {
 protected:
  void SetUp() override
  {
    std::string pattern = (std::filesystem::temp_directory_path() / "tendril-custom-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    options.cache_folder = (folder / "cache").string();
    options.compiler = "c++ -O0";  // texts are compiled often here, and run briefly
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::vector<std::filesystem::path> cached() const
  {
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::exists(options.cache_folder)) { return files; }
    for (auto const& entry : std::filesystem::directory_iterator(options.cache_folder)) {
      files.push_back(entry.path());
    }
    return files;
  }

  /// The first line of what compiling the text throws; all of it in `message`.
  std::string complaint(std::string const& source, std::string const& name = "",
                        std::vector<custom_parameter> const& parameters = {})
  {
    try {
      Custom(source, name, parameters, options).compile();
    } catch (error const& problem) {
      message = problem.what();
      return message.substr(0, message.find('\n'));
    }
    return "nothing";
  }

  std::filesystem::path folder;
  custom_options options;
  std::string message;
};

}  // namespace tendril::test
