#pragma once

#include <array>

#include <tendril/names.hpp>

namespace tendril {

/// Who does the work of a call with a gpu_exec whose data lie in host memory in part: samples of a placed graph, gathers of
/// features. It never changes a result, which lies on the GPU.
enum class work_share {
  automatic,  ///< Whichever was measured to be the fastest, where some data lie in host memory; else the GPU.
  gpu,        ///< The GPU alone.
  cpu,        ///< The CPU alone.
  both,       ///< GPU and CPU together, whatever the job and the placement.
};

template <>
inline constexpr std::array<named<work_share>, 4> enum_names<work_share>{
    {{work_share::automatic, "auto"}, {work_share::gpu, "gpu"}, {work_share::cpu, "cpu"}, {work_share::both, "both"}}};

}  // namespace tendril
