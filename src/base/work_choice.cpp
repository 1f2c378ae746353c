#include "base/work_choice.hpp"

#include <algorithm>

namespace tendril::base {
namespace {

constexpr double fall = 0.25;        // of a rate to a lower one that was measured
constexpr double worth_while = 1.1;  // what both rates together must be of the better one for a trial

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
}

bool work_rates::both_may_pay() const
{
  return front > 0 && back > 0 && front + back > worth_while * std::max(front, back);
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
  return {known.best(), rest};
}

}  // namespace tendril::base
