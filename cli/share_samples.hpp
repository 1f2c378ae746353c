// Hands out the samples of a job: to the GPUs of this process, or to ranks, of which the first one writes what all make.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/transport.hpp>

#include "sample_request.hpp"

namespace tendril::cli {

/// What was made, on its way to the first rank.
void pack(khop_trees const& made, message& into);
void pack(std::vector<minibatch> const& made, message& into);
void unpack(message const& from, khop_trees& made);
void unpack(message const& from, std::vector<minibatch>& made);

/// Makes the samples [0, total) in pieces. Ranks make a piece each in turn, and equally often, so that they may ask each other.
/// @param make  make(place, first, size): on a rank place 0, and maybe of size 0.
/// @param take  take(first, size, made): gets the pieces in order; of ranks on the first one alone.
template <class Make, class Take>
void share_samples(request const& what, std::int64_t total, std::int64_t piece, Make const& make, Take const& take)
{
  if (what.ranks == nullptr) {
    deal(what.num_places(), total, piece, make, take);
    return;
  }
  transport& ranks = *what.ranks;
  std::int64_t const in_turn = ranks.size();
  std::int64_t const num_pieces = (total + piece - 1) / piece;
  std::int64_t const num_rounds = (num_pieces + in_turn - 1) / in_turn;
  auto const first_of = [&](std::int64_t round, int rank) { return std::min((round * in_turn + rank) * piece, total); };
  auto const size_of = [&](std::int64_t first) { return std::min(piece, total - first); };
  std::optional<transport::call_number> on_its_way;
  for (std::int64_t round = 0; round <= num_rounds; ++round) {
    std::optional<transport::call_number> begun;
    if (round < num_rounds) {
      std::int64_t const first = first_of(round, ranks.rank());
      auto const made = make(0, first, size_of(first));
      std::vector<message> out(static_cast<std::size_t>(in_turn));
      pack(made, out[0]);
      begun = ranks.begin("samples for the file", out);
    }
    if (on_its_way) {
      auto const came = ranks.finish(*on_its_way);
      for (int rank = 0; ranks.rank() == 0 && rank < ranks.size(); ++rank) {
        std::int64_t const first = first_of(round - 1, rank);
        if (size_of(first) == 0) { continue; }
        decltype(make(0, first, first)) made;
        unpack(came[static_cast<std::size_t>(rank)], made);
        take(first, size_of(first), std::move(made));
      }
    }
    on_its_way = begun;
  }
}

}  // namespace tendril::cli
