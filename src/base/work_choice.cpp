#include "base/work_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace tendril::base {
namespace {

constexpr double fall = 0.25;        // of a rate to a lower one that was measured
constexpr double worth_while = 1.1;  // what both rates together must be of the better one for a trial
constexpr double worth_again = 0.5;  // what a rate must be of the best one for another trial
constexpr std::int64_t first_again = 4;

}  // namespace

double work_rates::learned(double rate, double measured)
{
  return measured >= rate ? measured : rate + fall * (measured - rate);
}

void work_rates::learn(work_sides who, std::int64_t items, double seconds)
{
  auto const take = [&](double& rate, int& trials) {
    rate = learned(rate, static_cast<double>(items) / std::max(seconds, 1e-9));
    trials = std::min(trials + 1, enough_trials);
  };
  switch (who) {
    case work_sides::front: take(front, trials_of_front); break;
    case work_sides::back: take(back, trials_of_back); break;
    case work_sides::both: take(both, trials_of_both); break;
  }
  if (is_settled()) { ++settled; }
}

bool work_rates::both_may_pay() const
{
  return front > 0 && back > 0 && front + back > worth_while * std::max(front, back);
}

bool work_rates::is_settled() const
{
  return trials_of_front >= enough_trials && trials_of_back >= enough_trials &&
         (trials_of_both >= enough_trials || !both_may_pay());
}

work_sides work_rates::tried_again() const
{
  work_sides const first = best();
  if (settled < first_again || !std::has_single_bit(static_cast<std::uint64_t>(settled))) { return first; }
  double const least = worth_again * std::max({front, back, both});
  std::array<work_sides, 2> others{};
  std::size_t size = 0;
  for (auto const [who, rate] :
       {std::pair{work_sides::both, both}, {work_sides::back, back}, {work_sides::front, front}}) {
    if (who != first && rate >= least) { others[size++] = who; }
  }
  if (size == 0) { return first; }
  return others[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(settled))) % size];
}

work_sides work_rates::best() const
{
  if (both > std::max(front, back)) { return work_sides::both; }
  return back > front ? work_sides::back : work_sides::front;
}

work_part next_part(std::int64_t rest, work_rates const& known, work_trials const& trials)
{
  std::int64_t const part = std::min(rest / work_trials::trials, trials.most);
  bool const is_long = part >= trials.least;
  auto const trial = [&](work_sides who) {
    bool const whole = !is_long || (trials.front_needs_all && who != work_sides::back);
    return work_part{who, whole ? rest : part};
  };
  auto const wants = [](int trials_of_way) { return trials_of_way < work_rates::enough_trials; };
  // In a long job the back's trial is short whatever its rate. A short job is one trial, the front's first.
  if (is_long && wants(known.trials_of_back)) { return trial(work_sides::back); }
  if (wants(known.trials_of_front)) { return trial(work_sides::front); }
  if (wants(known.trials_of_back)) { return trial(work_sides::back); }
  if (wants(known.trials_of_both) && known.both_may_pay()) { return trial(work_sides::both); }
  work_sides const who = known.tried_again();
  return {who, is_long && who != known.best() ? rest / work_trials::trials_again : rest};
}

}  // namespace tendril::base
