// Graphs that lie partly on a GPU and partly in host memory.

#include "place.hpp"

#include <optional>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tendril/gpu_array.hpp>
#include <tendril/place.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

/// Parameters, without what arrays hold.
place_params params_of(std::int64_t gpu_bytes, std::string const& policy, std::string const& share, placement_job job,
                       std::int64_t num_samples, std::int64_t batch_size, std::uint64_t seed)
{
  place_params out;
  out.gpu_bytes = gpu_bytes;
  out.policy = parse_option<placement_policy>("policy", policy);
  out.share = parse_option<work_share>("share", share);
  out.job = std::move(job);
  out.num_samples = num_samples;
  out.batch_size = batch_size;
  out.seed = seed;
  return out;
}

template <class Job>
graph place_for(graph const& input, std::int64_t gpu_bytes, std::string const& policy, std::string const& share,
                Job const& job, std::optional<array_in> const& scores, std::optional<array_in> const& starts,
                std::int64_t num_samples, std::int64_t batch_size, std::uint64_t seed, int device)
{
  place_params params = params_of(gpu_bytes, policy, share, job, num_samples, batch_size, seed);
  shared_array<float> const scores_in = import_weights(scores ? &*scores : nullptr);
  nb::gil_scoped_release const no_gil;
  shared_array<vertex_id> const starts_in = starts ? import_ids(*starts, "starts", 0) : shared_array<vertex_id>();
  params.scores = scores_in.span();
  params.starts = starts_in.span();
  return place_graph(input, params, gpu_exec(device, nullptr, &lasting_gpu_memory(device)));
}

hetero_graph place_types(hetero_graph const& input, std::int64_t gpu_bytes, std::string const& policy,
                         std::string const& share, minibatch_params const& job, std::int32_t start_type,
                         std::optional<array_in> const& starts, std::int64_t num_samples, std::int64_t batch_size,
                         std::uint64_t seed, int device)
{
  place_params params = params_of(gpu_bytes, policy, share, job, num_samples, batch_size, seed);
  params.start_type = start_type;
  nb::gil_scoped_release const no_gil;
  shared_array<vertex_id> const starts_in = starts ? import_ids(*starts, "starts", 0) : shared_array<vertex_id>();
  params.starts = starts_in.span();
  return place_graph(input, params, gpu_exec(device, nullptr, &lasting_gpu_memory(device)));
}

template <class Job>
array_out visits_of(graph const& input, Job const& job, std::optional<array_in> const& starts, std::int64_t num_samples,
                    std::int64_t batch_size, std::uint64_t seed, int num_threads)
{
  place_params params = params_of(0, "visits", "auto", job, num_samples, batch_size, seed);
  cpu_exec const exec = make_exec(num_threads);
  std::optional<buffer<float>> made;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const starts_in =
        starts ? import_ids(*starts, "starts", num_threads) : shared_array<vertex_id>();
    params.starts = starts_in.span();
    made = count_visits(input, params, exec);
  }
  std::int64_t const size = made->size();
  return give(std::move(*made), {size});
}

template <class Job>
void bind_job(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments
  module.def("place_graph", &place_for<Job>, "graph"_a, "gpu_bytes"_a, "policy"_a, "share"_a, "job"_a,
             "scores"_a.noconvert().none(), "starts"_a.noconvert().none(), "num_samples"_a, "batch_size"_a, "seed"_a,
             "device"_a);
  module.def("count_visits", &visits_of<Job>, "graph"_a, "job"_a, "starts"_a.noconvert().none(), "num_samples"_a,
             "batch_size"_a, "seed"_a, "num_threads"_a);
}

}  // namespace

std::optional<nb::dict> placement_of(graph const& input)
{
  placed_lists const* const placed = input.placed();
  if (placed == nullptr) { return std::nullopt; }
  nb::dict out;
  out["gpu_bytes"] = placed->gpu_bytes;
  out["host_bytes"] = placed->host_bytes;
  out["directory_bytes"] = placed->directory_bytes;
  out["gpu_edge_bytes"] = placed->gpu_edge_bytes;
  out["host_edge_bytes"] = placed->host_edge_bytes;
  out["visits_on_gpu"] = placed->visits_on_gpu;
  return out;
}

void bind_place(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments
  bind_job<walk_params>(module);
  bind_job<khop_params>(module);
  bind_job<minibatch_params>(module);
  module.def("place_types", &place_types, "graph"_a, "gpu_bytes"_a, "policy"_a, "share"_a, "job"_a, "start_type"_a,
             "starts"_a.noconvert().none(), "num_samples"_a, "batch_size"_a, "seed"_a, "device"_a);
  module.def("placement", &placement_of, "graph"_a);
}

}  // namespace tendril::python
