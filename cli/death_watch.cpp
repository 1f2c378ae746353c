#include "death_watch.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <tendril/file.hpp>

namespace tendril::cli {
namespace {

/// The processes of this machine among the ranks: its boot and the space of process numbers, then the number.
std::string place_of_process()
{
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code ignored;
  return boot + std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

/// What paths begin with.
struct shared_begins {
  std::mutex mutex;
  std::multiset<std::string> all;
};

shared_begins& begins()
{
  static shared_begins one;
  return one;
}

void remove_files(std::string const& begin)
{
  std::error_code ignored;
  std::filesystem::path const path(begin);
  std::string const name = path.filename().string();
  auto const folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::vector<std::filesystem::path> found;
  for (auto const& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with(name)) { found.push_back(entry.path()); }
  }
  for (auto const& one : found) { std::filesystem::remove(one, ignored); }  // another rank may have been quicker
}

}  // namespace

death_watch::death_watch(transport& ranks)
{
  std::string const here = place_of_process();
  if (here.empty()) { return; }
  for (std::string const& theirs : ranks.all_gather("processes", fmt::format("{} {}", here, getpid()))) {
    std::size_t const end = theirs.rfind(' ');
    if (theirs.substr(0, end) == here) { others_.push_back(std::stoi(theirs.substr(end + 1))); }
  }
  std::erase(others_, getpid());
  if (!others_.empty()) {
    thread_ = std::thread([this] { watch(); });
  }
}

death_watch::~death_watch()
{
  ends_ = true;
  if (thread_.joinable()) { thread_.join(); }
}

void death_watch::watch()
{
  while (!ends_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (pid_t const other : others_) {
      if (kill(other, 0) == 0 || errno != ESRCH) { continue; }
      atomic_file::remove_all_unfinished();
      std::lock_guard const lock(begins().mutex);
      for (std::string const& begin : begins().all) { remove_files(begin); }
    }
  }
}

removed_with_ranks::removed_with_ranks(std::string begin) : begin_(std::move(begin))
{
  std::lock_guard const lock(begins().mutex);
  begins().all.insert(begin_);
}

removed_with_ranks::~removed_with_ranks()
{
  std::lock_guard const lock(begins().mutex);
  begins().all.erase(begins().all.find(begin_));
}

}  // namespace tendril::cli
