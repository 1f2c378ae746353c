// Ranks over TCP: messages of all sizes arrive whole and in time, the walks of a graph in parts are those of the whole graph,
// and ranks that are missing, that die or that are strangers are told apart.

#include <tendril/tcp.hpp>

#include <sys/socket.h>

#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <tendril/sharded_walk.hpp>

#include "support/karate.hpp"
#include "support/sanitized.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

using seconds = std::chrono::duration<double>;

/// What each rank's work threw, "" for nothing. @param work  Of a rank, with its way to connect.
using connector = std::function<std::unique_ptr<message_engine>()>;
std::vector<std::string> run_tcp_ranks(int num_ranks, std::function<void(int, connector const&)> const& work,
                                       std::string const& other_secret = "")
{
  std::vector<tcp_listener> listeners;
  std::vector<std::string> addresses;
  for (int r = 0; r < num_ranks; ++r) { addresses.push_back(listeners.emplace_back("127.0.0.1").address()); }
  std::vector<std::string> thrown(static_cast<std::size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < num_ranks; ++r) {
    threads.emplace_back([&, r] {
      bool const strange = !other_secret.empty() && r == num_ranks - 1;
      try {
        work(r, [&, r] {
          return listeners[static_cast<std::size_t>(r)].connect(r, addresses, strange ? other_secret : "secret",
                                                                seconds(strange || !other_secret.empty() ? 0.5 : 20));
        });
      } catch (std::exception const& e) {
        thrown[static_cast<std::size_t>(r)] = e.what();
      }
    });
  }
  for (std::thread& t : threads) { t.join(); }
  return thrown;
}

TEST(Tcp, MessagesOfAllSizesComeWhole)
{
  std::int64_t const large = unless_sanitized(40 << 20, 4 << 20);
  auto const thrown = run_tcp_ranks(3, [&](int rank, connector const& connect) {
    transport ranks(connect(), seconds(30));
    ASSERT_EQ(ranks.rank(), rank);
    ASSERT_EQ(ranks.size(), 3);
    for (std::int64_t const size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{64}, std::int64_t{65}, large}) {
      std::vector<message> out(3);
      for (int to = 0; to < 3; ++to) {
        message& m = out[static_cast<std::size_t>(to)];
        m = ranks.pool().take(size + to);
        m.set_size(size + to);
        std::memset(static_cast<void*>(m.data()), 16 * rank + to, static_cast<std::size_t>(size + to));
      }
      auto const came = ranks.all_to_all("all sizes", out);
      for (int from = 0; from < 3; ++from) {
        message const& m = came[static_cast<std::size_t>(from)];
        ASSERT_EQ(m.size(), size + rank);
        std::byte const expected{static_cast<unsigned char>(16 * from + rank)};
        EXPECT_TRUE(std::all_of(m.bytes().begin(), m.bytes().end(), [&](std::byte b) { return b == expected; }));
      }
    }
    EXPECT_EQ(ranks.all_reduce("sum", rank, reduction::sum), 3);
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3));
}

TEST(Tcp, WalksEqualThoseOfTheWholeGraph)
{
  graph const g = make_karate();
  std::vector<vertex_id> starts(34);
  for (vertex_id v = 0; v < 34; ++v) { starts[v] = v; }
  walk_params const params{.length = 20, .p = 0.5, .q = 2};
  rows const whole = rows_of(random_walk(g, starts, params));
  auto const thrown = run_tcp_ranks(3, [&](int rank, connector const& connect) {
    transport ranks(connect(), seconds(30));
    sharded_walker walk(part_of(g, {.num_parts = 3}, rank), params, 34, ranks, {.num_threads = 1});
    EXPECT_EQ(rows_of(walk.run(starts, 0)), whole);
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3));
}

TEST(Tcp, ARankThatDiesIsNamedAtOnce)
{
  auto const thrown = run_tcp_ranks(3, [&](int rank, connector const& connect) {
    auto engine = connect();
    if (rank == 1) { return; }  // without a word
    transport ranks(std::move(engine), seconds(100));
    ranks.barrier("all");
  });
  EXPECT_EQ(thrown[1], "");
  EXPECT_EQ(thrown[0], "rank 1 of 3 has ended without a word");
  EXPECT_EQ(thrown[2], "rank 1 of 3 has ended without a word");
}

TEST(Tcp, ARankThatFailsTellsWhy)
{
  auto const thrown = run_tcp_ranks(3, [&](int rank, connector const& connect) {
    transport ranks(connect(), seconds(100));
    if (rank == 2) {
      ranks.fail("no space left");
      return;
    }
    ranks.barrier("all");
  });
  EXPECT_EQ(thrown[0], "rank 2 of 3: no space left");
  EXPECT_EQ(thrown[1], "rank 2 of 3: no space left");
}

TEST(Tcp, RanksMayEndOneAfterTheOther)
{
  auto const thrown = run_tcp_ranks(3, [&](int rank, connector const& connect) {
    transport ranks(connect(), seconds(30));
    EXPECT_EQ(ranks.broadcast("word", rank == 0 ? "hello" : ""), "hello");
    std::this_thread::sleep_for(std::chrono::milliseconds(30 * rank));
  });
  EXPECT_EQ(thrown, std::vector<std::string>(3));
}

TEST(Tcp, ARankOfAnotherJobIsTurnedAway)
{
  auto const thrown = run_tcp_ranks(
      2, [](int, connector const& connect) { transport ranks(connect(), seconds(30)); }, "another");
  EXPECT_NE(thrown[0].find("rank 1 of 2: no connection to it at 127.0.0.1:"), std::string::npos) << thrown[0];
  EXPECT_NE(thrown[1].find("rank 0 of 2: no connection to it at 127.0.0.1:"), std::string::npos) << thrown[1];
}

TEST(Tcp, AMissingRankIsNamed)
{
  tcp_listener const here("127.0.0.1");
  std::vector<std::string> const addresses{here.address(), "127.0.0.1:1"};
  try {
    (void)here.connect(0, addresses, "", seconds(0.1));
    ADD_FAILURE() << "connected";
  } catch (rank_error const& e) {
    EXPECT_EQ(e.rank(), 1);
    EXPECT_STREQ(e.what(), "rank 1 of 2: no connection to it at 127.0.0.1:1 within 0.1 s");
  }
}

/// Connects to an address, says something, and leaves.
void disturb(std::string const& address, std::string const& said)
{
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
  int const fd = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr const*>(&there), sizeof there), 0);
  ASSERT_EQ(send(fd, said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
  close(fd);
}

TEST(Tcp, StrangersDontDisturb)
{
  std::vector<tcp_listener> listeners;
  std::vector<std::string> addresses;
  for (int r = 0; r < 2; ++r) { addresses.push_back(listeners.emplace_back("127.0.0.1").address()); }
  disturb(addresses[0], "GET / HTTP/1.1\r\n\r\n");
  disturb(addresses[0], std::string(1000, 'x'));
  disturb(addresses[0], "");
  std::thread other([&] {
    transport ranks(listeners[1].connect(1, addresses, "s", seconds(20)), seconds(20));
    EXPECT_EQ(ranks.all_reduce("sum", 1, reduction::sum), 3);
  });
  transport ranks(listeners[0].connect(0, addresses, "s", seconds(20)), seconds(20));
  EXPECT_EQ(ranks.all_reduce("sum", 2, reduction::sum), 3);
  other.join();
}

TEST(Tcp, WhatIsNoAddressIsNamed)
{
  EXPECT_THROW(tcp_listener("no-such-host.invalid"), io_error);
  tcp_listener const here("127.0.0.1");
  std::vector<std::string> const addresses{"nonsense", here.address()};
  try {
    (void)here.connect(1, addresses, "", seconds(0.1));
    ADD_FAILURE() << "connected";
  } catch (argument_error const& e) {
    EXPECT_STREQ(e.what(), "address 'nonsense', expected 'host:port'");
  }
  EXPECT_THROW((void)here.connect(2, addresses, "", seconds(0.1)), argument_error);
}

}  // namespace
}  // namespace tendril::test
