#pragma once

// A planned walk's parameters as the engine of dynamic walks takes them, for the rule `scan`.

#include <tendril/engine/walks/support.hpp>
#include <tendril/walk.hpp>

#include "core/walk_apps.hpp"
#include "plan/planner.hpp"  // is_second_order

namespace tendril::test {

inline engine::dynamic_setup<graph_view> scan_setup(graph_view const& graph, walk_params const& params)
{
  engine::dynamic_setup<graph_view> setup = engine::make_setup(graph, {.length = params.length,
                                                                       .stop_prob = params.stop_prob,
                                                                       .restart_prob = params.restart_prob,
                                                                       .dead_ends = params.dead_ends,
                                                                       .seed = params.seed});
  setup.step_key = core::make_key(params.seed, plan::domain_of(params));
  setup.step_keys = core::key_schedule::of(setup.step_key);
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
