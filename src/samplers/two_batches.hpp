// The order in which ranks work on their walks, or trees: two batches in turn, so that messages of one are on their way while
// the other takes a step. All ranks keep the same order, since every step is a call of all.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <tendril/transport.hpp>

namespace tendril::samplers {

/// How the items (walks, or trees) of all ranks are cut: in every round each rank has up to `batch` items of its own.
struct rank_rounds {
  std::int64_t num_items;  ///< Of this rank.
  std::int64_t batch;
  std::int64_t num_rounds;
  std::vector<std::int64_t> first_ids;  ///< [ranks]: the logical id of each rank's first item.

  /// Items of this rank in a round.
  [[nodiscard]] std::int64_t size_of(std::int64_t round) const
  {
    return std::clamp<std::int64_t>(num_items - round * batch, 0, batch);
  }
};

/// The id of each rank's first item. A call of all ranks.
inline std::vector<std::int64_t> gather_first_ids(transport& ranks, std::int64_t first_id)
{
  std::vector<std::int64_t> out;
  std::string const id(reinterpret_cast<char const*>(&first_id), sizeof first_id);
  for (std::string const& theirs : ranks.all_gather("ids of items", id)) {
    std::memcpy(&out.emplace_back(), theirs.data(), sizeof(std::int64_t));
  }
  return out;
}

/// All items in one round. A call of all ranks. @param first_id  Of this rank's items.
inline rank_rounds one_round(transport& ranks, std::int64_t num_items, std::int64_t first_id)
{
  return {num_items, num_items, 1, gather_first_ids(ranks, first_id)};
}

/// A call of all ranks.
/// @param first_id  Of this rank's items. @param room  The most items of a batch that this rank has room for.
inline rank_rounds agree_on_rounds(transport& ranks, std::int64_t num_items, std::int64_t first_id, std::int64_t room)
{
  std::int64_t const most = ranks.all_reduce("items of a rank", num_items, reduction::max);
  std::int64_t const batch =
      ranks.all_reduce("items of a batch", std::clamp<std::int64_t>((most + 1) / 2, 1, room), reduction::min);
  return {num_items, batch, (most + batch - 1) / batch, gather_first_ids(ranks, first_id)};
}

/// The two batches of a stream, in turn. A Batch has
///   finish()       waits for what other ranks sent; whether anything is left to do, on any rank
///   step()         does what is to be done here, and sends what comes of it
///   round(), supersteps(), done_share()
template <class Batch>
class two_batches {
 public:
  using begin_round = std::function<void(Batch& batch, std::int64_t round)>;
  using deliver = std::function<void(Batch& batch)>;

  /// Both outlive the object.
  two_batches(std::array<Batch*, 2> batches, std::int64_t num_rounds) : batches_(batches), num_rounds_(num_rounds) {}

  /// @param begin  Starts a round with a batch.
  /// @param give   Takes the rows of a batch, in the order of rounds.
  /// @return supersteps of all rounds.
  std::int64_t run(begin_round const& begin, deliver const& give, std::function<void(double rounds)> const& on_step)
  {
    for (std::size_t b = 0; b < 2; ++b) { begin_next(b, begin); }
    while (delivered_ < num_rounds_) {
      for (std::size_t b = 0; b < 2; ++b) {
        if (!is_going_[b]) { continue; }
        Batch& batch = *batches_[b];
        if (batch.finish()) {
          batch.step();
          on_step(static_cast<double>(delivered_) + done_share());
          continue;
        }
        supersteps_ += batch.supersteps();
        is_going_[b] = false;
        is_done_[b] = true;
        give_in_order(give, begin);
      }
    }
    return supersteps_;
  }

 private:
  void begin_next(std::size_t b, begin_round const& begin)
  {
    if (next_ >= num_rounds_) { return; }
    begin(*batches_[b], next_);
    ++next_;
    is_going_[b] = true;
  }

  /// Batches that end before an earlier one wait for it.
  void give_in_order(deliver const& give, begin_round const& begin)
  {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t b = 0; b < 2; ++b) {
        if (!is_done_[b] || batches_[b]->round() != delivered_) { continue; }
        give(*batches_[b]);
        ++delivered_;
        is_done_[b] = false;
        begin_next(b, begin);
        again = true;
      }
    }
  }

  [[nodiscard]] double done_share() const
  {
    double out = 0;
    for (std::size_t b = 0; b < 2; ++b) {
      if (is_going_[b]) { out += batches_[b]->done_share(); }
      if (is_done_[b]) { out += 1; }
    }
    return out;
  }

  std::array<Batch*, 2> batches_;
  std::array<bool, 2> is_going_{}, is_done_{};
  std::int64_t num_rounds_, next_ = 0, delivered_ = 0, supersteps_ = 0;
};

/// What all rounds have done so far, told to the caller of a stream and, now and then, to the other ranks.
template <class Progress>
[[nodiscard]] std::function<void(double rounds)> tell_progress(transport& ranks, rank_rounds const& of,
                                                               Progress const& on_progress)
{
  return [&ranks, &of, &on_progress](double rounds) {
    ranks.beat();
    if (!on_progress) { return; }
    double const share = std::min(rounds / static_cast<double>(of.num_rounds), 1.0);
    on_progress({"walking", static_cast<std::int64_t>(share * static_cast<double>(of.num_items)), of.num_items});
  };
}

}  // namespace tendril::samplers
