// Hands out the samples of a job: to the GPUs of this process, or to ranks.

#pragma once

#include <cstdint>
#include <utility>

#include <tendril/several_gpus.hpp>

#include "rank_pieces.hpp"
#include "sample_request.hpp"

namespace tendril::cli {

/// Makes the samples [0, total) in pieces. Ranks make a piece each in turn, and equally often, so that they may ask each other.
/// @param make  make(place, first, size): on a rank place 0, and maybe of size 0.
/// @param take  take(first, size, made): gets the pieces of this process, in order, while later ones are made.
/// @param told  told(done): about so many samples are done by all. On the calling thread.
template <class Make, class Take, class Told>
void share_samples(request const& what, std::int64_t total, std::int64_t piece, Make const& make, Take const& take,
                   Told const& told)
{
  if (what.ranks != nullptr) {
    auto const of_rank = [&](std::int64_t first, std::int64_t size) { return make(0, first, size); };
    return make_in_turn(*what.ranks, total, piece, of_rank, take, told);
  }
  deal(what.num_places(), total, piece, make, [&](std::int64_t first, std::int64_t size, auto made) {
    take(first, size, std::move(made));
    told(first + size);
  });
}

}  // namespace tendril::cli
