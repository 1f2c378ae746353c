#include <tendril/file.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tendril/error.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "formats/unfinished.hpp"

namespace tendril {
namespace {

std::string without_slashes(std::string path)
{
  while (path.size() > 1 && path.ends_with('/')) { path.pop_back(); }
  return path;
}

}  // namespace

void atomic_folder::expect_free(std::string const& path)
{
  TENDRIL_EXPECTS(!path.empty(), "'': expected the name of a new folder");
  std::error_code failure;
  auto const there = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(there)) { return; }
  TENDRIL_EXPECTS(std::filesystem::is_directory(there), "'{}': not a folder, expected the name of a new one", path);
  bool const is_empty = std::filesystem::is_empty(path, failure) && !failure;
  TENDRIL_EXPECTS(is_empty, "'{}': the folder is not empty, expected a new or an empty one", path);
}

atomic_folder::atomic_folder(std::string path) : path_(without_slashes(std::move(path)))
{
  expect_free(path_);
  target_ = formats::behind_links(path_);
  temporary_ = formats::unfinished_name(target_);
  slot_ = formats::remember_unfinished(temporary_);
  if (::mkdir(temporary_.c_str(), 0777) != 0) {
    int const reason = errno;
    formats::forget_unfinished(slot_);
    throw io_error(fmt::format("{}: cannot create: {}", path_, std::strerror(reason)));
  }
}

atomic_folder::~atomic_folder()
{
  if (!temporary_.empty()) { formats::remove_folder(temporary_.c_str()); }
  formats::forget_unfinished(slot_);
}

std::string atomic_folder::operator/(std::string const& name) const { return temporary_ + "/" + name; }

void atomic_folder::commit()
{
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw io_error(fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
  }
  temporary_.clear();
}

}  // namespace tendril
