// Metapath walks that read labels at the step: one warp per walker, by the engine of dynamic walks
// (tendril/engine/walks/scan_kernel.cuh). A step goes over the labels of the whole row a few times, 32 edges at a time:
// slower than rows that are grouped by label, and without their 4 to 8 bytes an edge. The rules: src/core/labelled_row.hpp.
// CPU twin: src/cpu/walks/scalar_step.hpp, which lists the edges with the label.

#include <tendril/engine/walks/gpu.cuh>

#include "core/labelled_row.hpp"
#include "gpu/walks/scan_walk.hpp"

namespace tendril::gpu {
namespace {

/// A team of core::labelled_row. All members but lane(): whole warp, converged.
struct warp_team {
  static constexpr std::uint32_t lanes = 32;

  [[nodiscard]] static __device__ std::uint32_t lane() { return engine::lane(); }
  [[nodiscard]] static __device__ unsigned ballot(bool b) { return __ballot_sync(engine::full_warp, b); }
  [[nodiscard]] static __device__ float largest(float x)  // >= 0: bit patterns have the order of floats
  {
    return __uint_as_float(__reduce_max_sync(engine::full_warp, __float_as_uint(x)));
  }
  [[nodiscard]] static __device__ std::uint64_t total(std::uint64_t x)
  {
    for (unsigned step = 16; step > 0; step /= 2) { x += __shfl_xor_sync(engine::full_warp, x, step); }
    return x;
  }
  [[nodiscard]] static __device__ core::weight_sum running_total(core::weight_sum x)
  {
    for (unsigned step = 1; step < lanes; step *= 2) {
      core::weight_sum const below{__shfl_up_sync(engine::full_warp, x.all, step),
                                   __shfl_up_sync(engine::full_warp, x.light, step),
                                   __shfl_up_sync(engine::full_warp, x.lights, step)};
      if (lane() >= step) { x += below; }
    }
    return x;
  }
  template <class T>
  [[nodiscard]] static __device__ T from(T x, std::uint32_t lane)
  {
    return __shfl_sync(engine::full_warp, x, static_cast<int>(lane));
  }
};

/// The engine's sampler for a rule.
template <core::labelled_rule rule>
struct choose_by {
  template <class W, class View>
  class sampler {
   public:
    struct arguments {};

    __device__ sampler(arguments const&, W const& walk, engine::dynamic_terms const& setup) : walk_(walk), setup_(setup)
    {
    }

    /// The entry of the pick, as that of a race. Whole warp.
    [[nodiscard]] __device__ std::uint64_t choose(basic_walk_state<View> const& s, typename View::row_type const& row)
    {
      label_id const wanted = walk_.wanted_at(s.step);
      auto const matches = [&](std::uint32_t i) { return walk_.carries(s, basic_walk_edge<View>(row, i), wanted); };
      auto const weight_of = [&](std::uint32_t i) {
        return core::static_weight<rule != core::labelled_rule::uniform>(basic_walk_edge<View>(row, i));
      };
      std::uint32_t const pick = core::labelled_pick<rule>(warp_team{}, row.degree(), matches, weight_of,
                                                           core::walk_draws(setup_.step_key, s.walk, s.step));
      return pick == core::no_pick ? core::race_none : core::race_entry(1, pick);
    }
    __device__ void idle(std::int64_t) const {}

   private:
    W const& walk_;
    engine::dynamic_terms const& setup_;
  };
};

template <core::labelled_rule rule, bool of_types>
void launch(walk_job const& job, walk_batch const& batch, walk_shape const& shape, engine::dynamic_tuning const& tuning)
{
  using walk_type = core::metapath_weights<rule != core::labelled_rule::uniform, of_types>;
  walk_type const walk{job.metapath.schema, job.metapath.size, job.metapath.first_type};
  gpu_exec const exec{shape.device, shape.stream, nullptr};
  engine::dynamic_setup<graph_view> const setup = scan_setup(job, batch, shape);
  setup.graph.visit([&]<class View>(View const& view) {
    engine::launch_by<choose_by<rule>::template sampler>(walk, engine::setup_with(setup, view),
                                                         scan_batch(batch, shape), tuning, exec);
  });
}

template <bool of_types>
void launch_by_rule(walk_job const& job, walk_batch const& batch, walk_shape const& shape,
                    engine::dynamic_tuning const& tuning)
{
  using enum core::labelled_rule;
  switch (job.rule) {
    case sampling_rule::reject: launch<reject, of_types>(job, batch, shape, tuning); break;
    case sampling_rule::alias: launch<alias, of_types>(job, batch, shape, tuning); break;
    case sampling_rule::its: launch<its, of_types>(job, batch, shape, tuning); break;
    case sampling_rule::scan:  // scan_walk's
    case sampling_rule::automatic:
    case sampling_rule::uniform: launch<uniform, of_types>(job, batch, shape, tuning); break;
  }
}

}  // namespace

void label_walk(walk_job const& job, walk_batch const& batch, walk_shape const& shape,
                engine::dynamic_tuning const& tuning)
{
  if (job.metapath.of_vertices) {
    launch_by_rule<true>(job, batch, shape, tuning);
  } else {
    launch_by_rule<false>(job, batch, shape, tuning);
  }
}

}  // namespace tendril::gpu
