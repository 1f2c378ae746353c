// Pages that processes share: everyone who opens them sees the same bytes, and their name is gone once nobody needs it.

#include "gpu/ranks/shared_pages.hpp"

#include <cstring>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tendril::test {
namespace {

using gpu::shared_pages;

constexpr std::size_t bytes = 5000;

TEST(SharedPages, AreTheSameForAllWhoOpenThem)
{
  shared_pages const made = shared_pages::make(bytes);
  ASSERT_FALSE(made.empty());
  auto* const here = static_cast<char*>(made.data());
  EXPECT_EQ(here[0], 0);
  EXPECT_EQ(here[bytes - 1], 0);
  shared_pages const opened = shared_pages::open(made.name(), bytes);
  ASSERT_FALSE(opened.empty());
  here[bytes - 1] = 7;
  EXPECT_EQ(static_cast<char const*>(opened.data())[bytes - 1], 7);

  pid_t const child = fork();
  if (child == 0) {
    shared_pages const there = shared_pages::open(made.name(), bytes);
    if (!there.empty()) { static_cast<char*>(there.data())[0] = 42; }
    _exit(there.empty() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(here[0], 42);
}

TEST(SharedPages, KeepTheirBytesWhenTheNameIsForgotten)
{
  shared_pages made = shared_pages::make(bytes);
  ASSERT_FALSE(made.empty());
  shared_pages const opened = shared_pages::open(made.name(), bytes);
  std::string const name = made.name();
  made.forget_name();
  EXPECT_TRUE(shared_pages::open(name, bytes).empty());
  static_cast<char*>(made.data())[17] = 3;
  made = {};
  EXPECT_EQ(static_cast<char const*>(opened.data())[17], 3);
}

TEST(SharedPages, DrawTheirNames)
{
  shared_pages const one = shared_pages::make(bytes), other = shared_pages::make(bytes);
  ASSERT_FALSE(one.empty() || other.empty());
  std::size_t const digits = 16;  // the last ones, which are drawn
  ASSERT_GT(one.name().size(), digits);
  EXPECT_NE(one.name().substr(one.name().size() - digits), other.name().substr(other.name().size() - digits));
}

TEST(SharedPages, LeaveNoNameBehind)
{
  std::string name;
  {
    shared_pages made = shared_pages::make(bytes);
    ASSERT_FALSE(made.empty());
    name = made.name();
    shared_pages const moved = std::move(made);
    EXPECT_FALSE(shared_pages::open(name, bytes).empty()) << "who opens pages doesn't take their name";
    EXPECT_FALSE(shared_pages::open(name, bytes).empty());
  }
  EXPECT_TRUE(shared_pages::open(name, bytes).empty());
  EXPECT_TRUE(shared_pages::open("/tendril-nobody", bytes).empty());
}

}  // namespace
}  // namespace tendril::test
