// Walks whose walkers have all taken as many steps, so that neither they nor their visits tell which.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dist/superstep.hpp"

namespace tendril::dist {

template <class Walker>
class walks_in_lockstep : public walk_batch_of_ranks {
 protected:
  using walk_batch_of_ranks::walk_batch_of_ranks;

  void take_in(std::span<chunk const> chunks) final
  {
    walkers_.clear();
    visits_.clear();
    for (chunk const& c : chunks) {
      switch (c.kind()) {
        case Walker::kind: walkers_.push_back(c); break;
        case visit_in_step::kind: visits_.push_back(c); break;
        default: take_ends(c.records<walk_end>()); break;
      }
    }
    base::parallel_ranges(exec_, std::ssize(visits_), 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        for (visit_in_step const& v : visits_[static_cast<std::size_t>(k)].template records<visit_in_step>()) {
          rows_.put(v.walk.index(), step_, v.vertex);
        }
      }
    });
  }

  std::int32_t step_ = 0;       // that walkers take next
  std::vector<chunk> walkers_;  // that are here

 private:
  std::vector<chunk> visits_;
};

}  // namespace tendril::dist
