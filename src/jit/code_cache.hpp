// Compiled code on disk, each file under a hash of everything it was made from. Processes may share a folder: files
// appear by rename, and are never changed.

#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tendril::jit {

/// A folder of one's own, removed with all that is in it.
class temporary_folder {
 public:
  /// @throws io_error "PATH: cannot create: …".
  explicit temporary_folder(std::filesystem::path const& parent);
  ~temporary_folder();
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;

  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Writes a whole file. @throws io_error.
void write_text(std::filesystem::path const& path, std::string_view text);

/// Reads a whole file; empty if there is none.
[[nodiscard]] std::string read_text(std::filesystem::path const& path);

/// 32 hexadecimal digits that tell texts apart: FNV-1a with 128 bits, over lengths and contents.
[[nodiscard]] std::string content_hash(std::initializer_list<std::string_view> texts);

class code_cache {
 public:
  /// @param folder  Empty: tendril/ in $XDG_CACHE_HOME or ~/.cache. One that can't be made, written, or belongs to
  ///                somebody else is left alone.
  explicit code_cache(std::string const& folder);

  /// The content of a file; empty if there is none, or if it is not what was kept: to load half a library, of either
  /// kind, ends the process.
  [[nodiscard]] std::string find(std::string const& name) const;

  /// Where a file is that was found.
  [[nodiscard]] std::filesystem::path path_of(std::string const& name) const { return folder_ / name; }

  /// Where to make temporary_folders: in the cache, so that files can be moved within it, else the system's place.
  [[nodiscard]] std::filesystem::path work_folder() const;

  /// Keeps a file, with a hash behind its content, where anything is kept. `work` is a temporary_folder in work_folder().
  void keep(std::string const& name, std::string const& content, temporary_folder const& work) const;

 private:
  std::filesystem::path folder_;  // empty: nothing is kept
};

}  // namespace tendril::jit
