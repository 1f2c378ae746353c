#pragma once

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/transport.hpp>

namespace tendril::test {

/// A call of all ranks, to which rank `bad` gives wrong arguments: there it throws argument_error with `words`, on all other ranks
/// rank_error, which names that rank and says the same. No rank waits for a deadline.
template <class Call>
void expect_refusal(transport const& ranks, int bad, std::string const& words, Call const& call)
{
  auto const begin = std::chrono::steady_clock::now();
  try {
    call();
    ADD_FAILURE() << "nothing is thrown, expected: " << words;
  } catch (argument_error const& e) {
    EXPECT_EQ(ranks.rank(), bad);
    EXPECT_EQ(e.what(), words);
  } catch (rank_error const& e) {
    EXPECT_NE(ranks.rank(), bad);
    EXPECT_EQ(e.rank(), bad);
    EXPECT_EQ(e.what(), "rank " + std::to_string(bad) + " of " + std::to_string(ranks.size()) + ": " + words);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, ranks.deadline() / 2);
}

}  // namespace tendril::test
