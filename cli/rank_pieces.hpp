// Ranks make the pieces of a job in turn, while earlier ones are taken on a thread aside.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <utility>

#include <tendril/checked.hpp>
#include <tendril/transport.hpp>

namespace tendril::cli {

/// Waits for work on another thread, which makes no calls, and beats meanwhile: it may take longer than the deadline.
/// @throws what the work throws; rank_error.
inline void wait_beating(transport& ranks, std::future<void>& work)
{
  constexpr std::chrono::milliseconds between_beats{20};  // which are told of when they are due
  while (work.wait_for(between_beats) == std::future_status::timeout) { ranks.beat(); }
  work.get();
}

/// Makes [0, total) in pieces: a piece a rank in turn, and equally often on all ranks, so that they may ask each other.
/// @param make  make(first, size): maybe of size 0.
/// @param take  take(first, size, made): gets this rank's pieces, in order, while later ones are made. Makes no calls.
/// @param told  told(done): about so many are done by all. On the calling thread.
template <class Make, class Take, class Told>
void make_in_turn(transport& ranks, std::int64_t total, std::int64_t piece, Make const& make, Take const& take,
                  Told const& told)
{
  std::int64_t const a_round = checked_product("samples of a round", ranks.size(), piece);
  std::int64_t const before_mine = checked_product("samples of a round", ranks.rank(), piece);
  std::future<void> taking;
  for (std::int64_t begin = 0; begin < total; begin += a_round) {
    std::int64_t const first = std::min(begin + before_mine, total);
    std::int64_t const size = std::min(piece, total - first);
    auto made = make(first, size);
    if (taking.valid()) { wait_beating(ranks, taking); }
    if (size > 0) {
      taking = std::async(std::launch::async, [&take, first, size, made = std::move(made)]() mutable {
        take(first, size, std::move(made));
      });
    }
    ranks.beat();
    told(std::min(begin + a_round, total));
  }
  if (taking.valid()) { wait_beating(ranks, taking); }
}

}  // namespace tendril::cli
