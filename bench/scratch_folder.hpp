#pragma once

#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

namespace tendril::bench {

/// A temporary folder that goes with the object.
struct scratch_folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("tendril-bench-{}", static_cast<long>(getpid()));
  scratch_folder() { std::filesystem::create_directories(path); }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace tendril::bench
