#pragma once

// A planned walk's parameters as the engine of dynamic walks takes them, for the rule `scan`.

#include <tendril/engine/dynamic_step.hpp>
#include <tendril/walk.hpp>

#include "core/walk_apps.hpp"
#include "plan/planner.hpp"  // is_second_order

namespace tendril::test {

inline engine::dynamic_setup scan_setup(graph_view const& graph, walk_params const& params)
{
  auto const which = !params.metapath.empty()        ? core::domain::metapath_walk
                     : plan::is_second_order(params) ? core::domain::second_order_walk
                                                     : core::domain::first_order_walk;
  engine::dynamic_setup setup;
  setup.graph = graph;
  setup.step_key = core::make_key(params.seed, which);
  setup.step_keys = core::key_schedule::of(setup.step_key);
  setup.end_key = core::make_key(params.seed, core::domain::walk_end);
  setup.stop = core::probability::of(params.stop_prob);
  setup.restart = core::probability::of(params.restart_prob);
  setup.may_end = params.stop_prob > 0 || params.restart_prob > 0;
  setup.length = static_cast<std::int32_t>(params.length);
  setup.repeat_dead_ends = params.dead_ends == dead_end::repeat;
  return setup;
}

/// `params` must outlive what is made of it.
inline core::walk_choice scan_choice(walk_params const& params)
{
  bool const has_path = !params.metapath.empty();
  return {params.weighted,
          plan::is_second_order(params),
          params.metapath_of == metapath_kind::vertex_types,
          core::node2vec_bias::of(params.p, params.q),
          has_path ? params.metapath.data() : nullptr,
          static_cast<std::int32_t>(params.metapath.size()),
          has_path ? params.metapath[0] : label_id{0}};
}

}  // namespace tendril::test
