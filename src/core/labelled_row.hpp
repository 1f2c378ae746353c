// The edges of a row that carry a label, for rules that choose among these alone: without a list of them and without a
// table. A team of lanes goes over the row, a lane an edge, as often as the rule needs. An edge's rank is its number among
// the edges with the label, in the order of the row: what a list of them would count by. So the picks are those from such a
// list, bit for bit, whatever the number of lanes. Host and device; a GPU's team is a warp.
//
// `Team` has lanes (1 to 32), and, called by all lanes together:
//   lane()              the calling lane
//   ballot(b)           a bit for each lane: whether b is true there
//   largest(x), total(x)  of all lanes' x: a float, and 64-bit integers
//   running_total(x)    of the lanes up to this one: a weight_sum
//   from(x, lane)       that lane's x
// All members of the classes below are called by all lanes together, with equal arguments; what they return is equal.

#pragma once

#include <cstdint>

#include <tendril/list_code.hpp>  // count_ones

#include "core/draws.hpp"
#include "core/its.hpp"
#include "core/reject.hpp"
#include "core/weight_sums.hpp"

namespace tendril::core {

/// The edges with the label.
/// @tparam Matches  matches(i): whether edge i of the row carries it. Called by single lanes.
template <class Team, class Matches>
class label_matches {
 public:
  TENDRIL_HD label_matches(Team team, std::uint32_t degree, Matches matches)
      : team_(team), degree_(degree), matches_(matches)
  {
    size_ = for_each([](std::uint32_t, std::uint32_t) {}, degree);
  }

  [[nodiscard]] TENDRIL_HD std::uint32_t size() const { return size_; }

  /// Where in the row the edge of a rank is; rank < size().
  [[nodiscard]] TENDRIL_HD std::uint32_t position(std::uint32_t rank) const
  {
    std::uint32_t place = no_pick;
    (void)for_each([&](std::uint32_t own, std::uint32_t i) { place = own == rank ? i : place; }, rank + 1);
    unsigned const holder = team_.ballot(place != no_pick);
    return team_.from(place, lowest(holder));
  }

 protected:
  [[nodiscard]] static TENDRIL_HD std::uint32_t lowest(unsigned lanes)
  {
    return list_codes::count_ones((lanes & -lanes) - 1U);
  }

  /// Calls f(rank, i) for the edges with the label, in single lanes, in stretches of a lane an edge, until `enough` of them
  /// were seen. @return how many were seen.
  template <class F>
  TENDRIL_HD std::uint32_t for_each(F f, std::uint32_t enough) const
  {
    std::uint32_t seen = 0;
    for (std::uint64_t at = 0; at < degree_ && seen < enough; at += Team::lanes) {
      std::uint64_t const i = at + team_.lane();
      bool const is_match = i < degree_ && matches_(static_cast<std::uint32_t>(i));
      unsigned const all = team_.ballot(is_match);
      if (is_match) {
        f(seen + list_codes::count_ones(all & ((1U << team_.lane()) - 1U)), static_cast<std::uint32_t>(i));
      }
      seen += list_codes::count_ones(all);
    }
    return seen;
  }

  Team team_;
  std::uint32_t degree_;
  Matches matches_;
  std::uint32_t size_ = 0;
};

/// The same with weights. Where weight is positive it answers what a summed_row does, by ranks, from the row alone.
/// @tparam WeightOf  weight_of(i) of edge i of the row. Called by single lanes.
template <class Team, class Matches, class WeightOf>
class labelled_row : public label_matches<Team, Matches> {
  using base = label_matches<Team, Matches>;

 public:
  using found = summed_rank;

  TENDRIL_HD labelled_row(Team team, std::uint32_t degree, Matches matches, WeightOf weight_of)
      : base(team, degree, matches), weight_of_(weight_of)
  {
    if (this->size() == 0) { return; }
    float largest = 0;
    (void)this->for_each(
        [&](std::uint32_t, std::uint32_t i) {
          float const w = weight_of_(i);
          largest = w > largest ? w : largest;
        },
        this->size());
    largest_ = this->team_.largest(largest);
    if (largest_ > 0) { scale_ = fixed_point::of(largest_, this->size()); }
  }

  [[nodiscard]] TENDRIL_HD float largest() const { return largest_; }

  /// Works out total(), which all below but weight() need; largest() is positive.
  TENDRIL_HD void add_up()
  {
    std::uint64_t sum = 0;
    (void)this->for_each([&](std::uint32_t, std::uint32_t i) { sum += scale_(weight_of_(i)); }, this->size());
    total_ = this->team_.total(sum);
  }
  [[nodiscard]] TENDRIL_HD std::uint64_t total() const { return total_; }
  [[nodiscard]] TENDRIL_HD std::uint64_t weight(std::uint32_t rank) const
  {
    return scale_(weight_of_(this->position(rank)));
  }
  [[nodiscard]] TENDRIL_HD bool is_light(std::uint64_t weight) const { return weight * this->size() <= total_; }

  /// summed_row::before.
  [[nodiscard]] TENDRIL_HD weight_sum before(std::uint32_t n) const
  {
    weight_sum own{};
    (void)this->for_each(
        [&](std::uint32_t rank, std::uint32_t i) {
          if (rank < n) { own += sum_of(i); }
        },
        n);
    return {this->team_.total(own.all), this->team_.total(own.light),
            static_cast<std::uint32_t>(this->team_.total(own.lights))};
  }

  /// summed_row::first_enough.
  template <class Enough>
  [[nodiscard]] TENDRIL_HD found first_enough(Enough enough) const
  {
    weight_sum sum{};
    std::uint32_t seen = 0;
    for (std::uint64_t at = 0; at < this->degree_ && seen < this->size(); at += Team::lanes) {
      std::uint64_t const i = at + this->team_.lane();
      bool const is_match = i < this->degree_ && this->matches_(static_cast<std::uint32_t>(i));
      unsigned const all = this->team_.ballot(is_match);
      if (all == 0) { continue; }
      weight_sum up_to = this->team_.running_total(is_match ? sum_of(static_cast<std::uint32_t>(i)) : weight_sum{});
      up_to += sum;
      std::uint32_t const rank = seen + list_codes::count_ones(all & ((1U << this->team_.lane()) - 1U));
      unsigned const hits = this->team_.ballot(is_match && enough(rank + 1, up_to));
      if (hits != 0) {
        std::uint32_t const first = base::lowest(hits);
        return {this->team_.from(rank, first) + 1, from(up_to, first)};
      }
      sum = from(up_to, Team::lanes - 1);
      seen += list_codes::count_ones(all);
    }
    return {this->size() + 1, sum};
  }

  /// The rank that trials settle on, or, where they run out, an inverse transform. largest() is positive.
  [[nodiscard]] TENDRIL_HD std::uint32_t by_trials(decision_draws<> const& draws)
  {
    std::uint32_t rank = 0;
    std::uint32_t const limit = weighted_trial_limit(this->size());
    bool const settled = settle_by_trials<uniform_trials>(limit, draws, [&](auto const& block, auto judgement) {
      rank = bounded(block.low(), this->size());
      return accept(judgement(), weight_of_(this->position(rank)), largest_);
    });
    if (settled) { return rank; }
    add_up();
    return summed_its_pick(*this, draws.block(limit).low());
  }

 private:
  [[nodiscard]] TENDRIL_HD weight_sum sum_of(std::uint32_t i) const
  {
    std::uint64_t const w = scale_(weight_of_(i));
    bool const light = is_light(w);
    return {w, light ? w : 0, light ? 1U : 0U};
  }
  [[nodiscard]] TENDRIL_HD weight_sum from(weight_sum const& sum, std::uint32_t lane) const
  {
    return {this->team_.from(sum.all, lane), this->team_.from(sum.light, lane), this->team_.from(sum.lights, lane)};
  }

  WeightOf weight_of_;
  float largest_ = 0;
  fixed_point scale_{};
  std::uint64_t total_ = 0;
};

/// A pick among the edges with the label: a position in the row, or no_pick. The rules of weights, as a walk without a
/// vertex before decides by them.
enum class labelled_rule : std::uint8_t { uniform, reject, alias, its };

/// @param weight_of  Not called where the rule is uniform.
template <labelled_rule rule, class Team, class Matches, class WeightOf>
[[nodiscard]] TENDRIL_HD std::uint32_t labelled_pick(Team team, std::uint32_t degree, Matches matches,
                                                     WeightOf weight_of, decision_draws<> const& draws)
{
  if constexpr (rule == labelled_rule::uniform) {
    label_matches const all(team, degree, matches);
    return all.size() == 0 ? no_pick : all.position(bounded(draws.block(0).low(), all.size()));
  } else {
    labelled_row row(team, degree, matches, weight_of);
    if (!(row.largest() > 0)) { return no_pick; }
    std::uint32_t rank = 0;
    if constexpr (rule == labelled_rule::reject) {
      rank = row.by_trials(draws);
    } else {
      row.add_up();
      random_block const block = draws.block(0);
      rank = rule == labelled_rule::its ? summed_its_pick(row, block.low())
                                        : summed_alias_pick(row, block.low(), block.high());
    }
    return rank == no_pick ? no_pick : row.position(rank);
  }
}

}  // namespace tendril::core
