#include "jit/code_cache.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <tendril/error.hpp>

namespace tendril::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t hash_digits = 32;

fs::path default_folder()
{
  char const* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') { return fs::path(cache) / "tendril"; }
  char const* const home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') { return fs::path(home) / ".cache" / "tendril"; }
  return {};
}

/// Whether files in the folder can come from this user alone.
bool is_own(fs::path const& folder)
{
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) { return false; }
  bool const others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return status.st_uid == geteuid() && !others_write && access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

temporary_folder::temporary_folder(fs::path const& parent)
{
  std::string pattern = (parent / "compiling-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw io_error(fmt::format("{}: cannot create: {}", pattern, std::strerror(errno)));
  }
  path_ = pattern;
}

temporary_folder::~temporary_folder()
{
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_text(fs::path const& path, std::string_view text)
{
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) { throw io_error(fmt::format("{}: cannot write: {}", path.string(), std::strerror(errno))); }
}

std::string read_text(fs::path const& path)
{
  std::ifstream const file(path, std::ios::binary);
  if (!file) { return ""; }
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string content_hash(std::initializer_list<std::string_view> texts)
{
  __extension__ using uint128 = unsigned __int128;
  constexpr uint128 prime = (uint128{1} << 88U) + 0x13B;
  uint128 hash = (uint128{0x6C62272E07BB0142ULL} << 64U) | 0x62B821756295C58DULL;
  auto const add = [&](std::string_view text) {
    for (char const c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * prime; }
  };
  for (std::string_view const text : texts) {
    add(fmt::format("{}:", text.size()));
    add(text);
  }
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(hash >> 64U), static_cast<std::uint64_t>(hash));
}

code_cache::code_cache(std::string const& folder)
{
  fs::path const wanted = folder.empty() ? default_folder() : fs::path(folder);
  if (wanted.empty()) { return; }
  std::error_code failed;
  fs::create_directories(wanted.parent_path(), failed);
  (void)mkdir(wanted.c_str(), S_IRWXU);  // of this user alone: code in it will run
  if (is_own(wanted)) { folder_ = wanted; }
}

std::string code_cache::find(std::string const& name) const
{
  if (folder_.empty()) { return ""; }
  std::string content = read_text(folder_ / name);
  if (content.size() < hash_digits) { return ""; }
  std::string const kept = content.substr(content.size() - hash_digits);
  content.resize(content.size() - hash_digits);
  return content_hash({content}) == kept ? content : "";
}

fs::path code_cache::work_folder() const
{
  if (!folder_.empty()) { return folder_; }
  std::error_code failed;
  fs::path const place = fs::temp_directory_path(failed);
  return failed ? fs::path("/tmp") : place;
}

void code_cache::keep(std::string const& name, std::string const& content, temporary_folder const& work) const
{
  if (folder_.empty()) { return; }
  fs::path const file = work.path() / name;
  try {
    write_text(file, content + content_hash({content}));
  } catch (io_error const&) {  // a full disk: the next process compiles again
    return;
  }
  std::error_code ignored;
  fs::rename(file, folder_ / name, ignored);
}

}  // namespace tendril::jit
