// Hands out the samples of a job: to the GPUs of this process, or to ranks.

#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <utility>

#include <tendril/checked.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/transport.hpp>

#include "sample_makers.hpp"

namespace tendril::cli {

/// Makes the samples [0, total) in pieces. Ranks make a piece each in turn, and equally often, so that they may ask each other;
/// where each has samples of its own, `total` and `piece` are those of the rank.
/// @param make  make(place, first, size): on a rank place 0, and maybe of size 0.
/// @param take  take(first, size, made): gets the pieces of this process, in order, while later ones are made.
/// @param told  told(done): about so many samples are done by all. On the calling thread.
template <class Make, class Take, class Told>
void share_samples(sample_makers const& what, std::int64_t total, std::int64_t piece, Make const& make,
                   Take const& take, Told const& told)
{
  if (what.ranks == nullptr) {
    deal(what.num_places, total, piece, make, [&](std::int64_t first, std::int64_t size, auto made) {
      take(first, size, std::move(made));
      told(first + size);
    });
    return;
  }
  transport& ranks = *what.ranks;
  std::int64_t const a_round = what.own_file ? piece : checked_product("samples of a round", ranks.size(), piece);
  std::int64_t const before_mine = what.own_file ? 0 : checked_product("samples of a round", ranks.rank(), piece);
  std::int64_t num_rounds = batches_of(total, a_round);
  if (what.own_file) { num_rounds = ranks.all_reduce("rounds of samples", num_rounds, reduction::max); }
  std::future<void> taking;
  std::int64_t begin = 0;
  for (std::int64_t round = 0; round < num_rounds; ++round) {
    std::int64_t const first = std::min(begin + before_mine, total);
    std::int64_t const size = std::min(piece, total - first);
    auto made = make(0, first, size);
    if (taking.valid()) { ranks.beat_until(taking); }
    if (size > 0) {
      taking = std::async(std::launch::async, [&take, first, size, made = std::move(made)]() mutable {
        take(first, size, std::move(made));
      });
    }
    ranks.beat();
    begin = std::min(begin + a_round, total);
    told(begin);
  }
  if (taking.valid()) { ranks.beat_until(taking); }
}

}  // namespace tendril::cli
