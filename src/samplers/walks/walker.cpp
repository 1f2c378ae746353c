// The parts of a walker that don't depend on where it runs.

#include <tendril/walk.hpp>

#include "samplers/walks/walker_state.hpp"

namespace tendril {

walker::~walker() = default;
walker::walker(walker&&) noexcept = default;
walker& walker::operator=(walker&&) noexcept = default;

sampling_plan const& walker::plan() const noexcept { return state_->plan; }
walk_params const& walker::params() const noexcept { return state_->params; }
graph const& walker::input() const noexcept { return state_->input; }

}  // namespace tendril
