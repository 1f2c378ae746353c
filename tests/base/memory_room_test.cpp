// What a process can have follows from the files of the system: machines and control groups that these tests make up.

#include "base/memory_room.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <tendril/buffer.hpp>
#include <tendril/error.hpp>

#include "support/messages.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t gibi = std::int64_t{1} << 30U;
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// A folder with proc/ and sys/ of a machine that has 16 GiB, 10 of them available, and 2 of swap space.
class made_up_system : public testing::Test {
 protected:
  made_up_system() : root_(std::filesystem::path(testing::TempDir()) / ("system-" + std::to_string(getpid())))
  {
    std::filesystem::remove_all(root_);
    put("proc/meminfo",
        "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:   10485760 kB\n"
        "SwapTotal:       4194304 kB\nSwapFree:        2097152 kB\nHugePages_Total:       0\n");
  }
  ~made_up_system() override { std::filesystem::remove_all(root_); }

  void put(std::string const& path, std::string const& text) const
  {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] base::memory_room read() const { return base::read_memory_room(root_.string()); }

 private:
  std::filesystem::path root_;
};

TEST_F(made_up_system, without_groups_is_the_machine)
{
  auto const room = read();
  EXPECT_EQ(room.limit, 16 * gibi);
  EXPECT_EQ(room.free, 10 * gibi);
  EXPECT_EQ(room.swap, 2 * gibi);
}

TEST_F(made_up_system, that_tells_nothing_sets_no_limit)
{
  auto const room = base::read_memory_room("/no/such/folder");
  EXPECT_EQ(room.limit, unlimited);
  EXPECT_EQ(room.free, unlimited);
}

TEST_F(made_up_system, with_a_group_of_version_2)
{
  put("proc/self/cgroup", "0::/jobs/one\n");
  put("sys/fs/cgroup/jobs/one/memory.max", "4294967296\n");
  put("sys/fs/cgroup/jobs/one/memory.current", "3221225472\n");
  EXPECT_EQ(read().limit, 4 * gibi);
  EXPECT_EQ(read().free, gibi);
  // Pages of files go where memory is wanted.
  put("sys/fs/cgroup/jobs/one/memory.stat", "anon 5\ninactive_file 1073741824\nactive_file 536870912\nslab 7\n");
  EXPECT_EQ(read().free, 2 * gibi + gibi / 2);
  put("sys/fs/cgroup/jobs/one/memory.swap.max", "1073741824\n");
  put("sys/fs/cgroup/jobs/one/memory.swap.current", "536870912\n");
  EXPECT_EQ(read().swap, gibi / 2);
}

TEST_F(made_up_system, with_a_tighter_group_outside_of_the_own_one)
{
  put("proc/self/cgroup", "0::/jobs/one\n");
  put("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  put("sys/fs/cgroup/jobs/memory.max", "2147483648\n");
  put("sys/fs/cgroup/jobs/memory.current", "0\n");
  EXPECT_EQ(read().limit, 2 * gibi);
  EXPECT_EQ(read().free, 2 * gibi);
}

TEST_F(made_up_system, with_a_group_of_version_1)
{
  put("proc/self/cgroup", "3:cpu:/a\n5:memory:/b\n0::/c\n");
  put("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "8589934592\n");
  put("sys/fs/cgroup/memory/b/memory.usage_in_bytes", "6442450944\n");
  put("sys/fs/cgroup/memory/b/memory.stat", "cache 9\ntotal_inactive_file 1073741824\ntotal_active_file 0\n");
  EXPECT_EQ(read().limit, 8 * gibi);
  EXPECT_EQ(read().free, 3 * gibi);
}

TEST_F(made_up_system, with_a_group_that_uses_more_than_it_may)
{
  put("proc/self/cgroup", "0::/\n");
  put("sys/fs/cgroup/memory.max", "1073741824\n");
  put("sys/fs/cgroup/memory.current", "2147483648\n");
  EXPECT_EQ(read().free, 0);
}

TEST(MemoryRoom, RefusesWhatNoMachineHas)
{
  EXPECT_NO_THROW(base::expect_memory(0, "nothing"));
  EXPECT_NO_THROW(base::expect_memory(base::available_bytes() / 2, "half of it"));
  auto const message = message_of<memory_error>([] { base::expect_memory(std::int64_t{1} << 60U, "12 walks"); });
  EXPECT_TRUE(message.starts_with("12 walks: 1.0 EiB of memory, expected at most the ")) << message;
  EXPECT_TRUE(message.ends_with(" that can be had")) << message;
}

TEST(MemoryRoom, RefusesAnArrayBeforeItIsMade)
{
  // The system gives out these addresses, and ends the process that uses them.
  auto const bytes = static_cast<std::size_t>(base::available_bytes()) + (std::size_t{1} << 30U);
  EXPECT_THROW(host_memory().allocate(bytes), memory_error);
  EXPECT_THROW(host_memory().allocate(std::size_t{1} << 61U), memory_error);
  EXPECT_THROW(host_memory().allocate(~std::size_t{0}), memory_error);
}

TEST(MemoryRoom, NamesBytesForPeople)
{
  EXPECT_EQ(base::bytes_text(0), "0 bytes");
  EXPECT_EQ(base::bytes_text(4096), "4096 bytes");
  EXPECT_EQ(base::bytes_text(std::int64_t{3} << 29U), "1.5 GiB");
  EXPECT_EQ(base::bytes_text(unlimited), "8.0 EiB");
}

}  // namespace
}  // namespace tendril::test
