// Threads that the system does not give, and files that it does not allow.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <tendril/error.hpp>
#include <tendril/file.hpp>

#include "base/file_room.hpp"
#include "base/thread_limit.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

/// A system that starts `most` threads and counts them.
struct made_up_threads {
  int most;
  int started = 0, released = 0;

  base::thread_trial trial()
  {
    return {[this] { return started < most && ++started > 0; }, [this] { ++released; }};
  }
};

TEST(ThreadLimit, CountsTheCallerAndThoseThatStart)
{
  for (int const wanted : {1, 2, 5, 100}) {
    made_up_threads all{1000}, few{3}, none{0};
    EXPECT_EQ(base::count_threads(wanted, all.trial()), wanted);
    EXPECT_EQ(all.started, wanted - 1);
    EXPECT_EQ(base::count_threads(wanted, few.trial()), std::min(wanted, 4));
    EXPECT_EQ(base::count_threads(wanted, none.trial()), 1);
    EXPECT_EQ(all.released + few.released + none.released, 3);
  }
}

TEST(ThreadLimit, GivesWhatIsThere)
{
  EXPECT_EQ(base::available_threads(1), 1);
  EXPECT_EQ(base::available_threads(4), 4);
  EXPECT_EQ(base::available_threads(2), 2);
  EXPECT_EQ(base::available_threads(0), 0);
}

/// Runs `f` in a process of its own, under a limit, where it has to return true.
template <class F>
void expect_under(__rlimit_resource resource, rlim_t limit, F f)
{
  auto const child = [&] {
    rlimit const both{limit, limit};
    setrlimit(resource, &both);
    std::_Exit(f() ? 0 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

TEST(FileLimitDeathTest, AWriteBeyondUlimitIsAnErrorAndNoSignal)
{
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::string const path = testing::TempDir() + "limited.bin";
  expect_under(RLIMIT_FSIZE, 1000, [&] {
    atomic_file file(path);
    std::string const text(600, 'x');
    file.write(text.data(), text.size());
    auto const message = message_of<io_error>([&] { file.write(text.data(), text.size()); });
    return message ==
           path + ": cannot write: 1200 bytes, expected at most the 1000 bytes that 'ulimit -f' allows a file";
  });
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FileRoom, RefusesWhatNoDiskHolds)
{
  std::string const path = testing::TempDir() + "room.bin";
  {
    atomic_file file(path);
    EXPECT_NO_THROW(file.expect_size(1000));
    auto const message = message_of<io_error>([&] { file.expect_size(std::int64_t{1} << 60U); });
    EXPECT_TRUE(message.starts_with(path + ": cannot write: 1.0 EiB, expected at most the ")) << message;
    EXPECT_THROW(file.skip(std::int64_t{1} << 60U), io_error);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FileRoom, OfADeviceIsNotAsked)
{
  atomic_file file("/dev/null");
  EXPECT_NO_THROW(file.expect_size(std::int64_t{1} << 60U));
}

}  // namespace
}  // namespace tendril::test
