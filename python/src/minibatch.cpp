// Graphs of several types, mini-batches, and picks by scores.

#include "minibatch.hpp"

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/place.hpp>
#include <tendril/segment_multinomial.hpp>

#include "batch_group.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "names.hpp"
#include "place.hpp"

namespace tendril::python {
namespace {

// --- Graphs ----------------------------------------------------------------------------------------------------------

/// Times as a caller has them: of each edge, or of each vertex that an edge leads to.
temporal_order order_of(graph const& input, array_in const& times, bool of_vertices, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  shared_array<std::int64_t> const given = share<std::int64_t>(times);
  nb::gil_scoped_release const no_gil;
  return of_vertices ? order_by_vertex_time(input, given.span(), exec) : order_by_time(input, given.span(), exec);
}

/// The same where the graph is on a GPU.
temporal_order order_of_gpu(graph const& input, gpu_values const& times, bool of_vertices, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  gpu_exec const exec = make_gpu_exec(input, stream);
  gpu_numbers<std::int64_t> const given = bring_values<std::int64_t>(times, exec);
  return of_vertices ? order_by_vertex_time(input, given.span, exec) : order_by_time(input, given.span, exec);
}

/// Times and ordinals of the edges of a type; None if it has no times. In GPU memory if the graph is there.
nb::object order_arrays(hetero_graph const& input, std::size_t type)
{
  temporal_order const& order = input.edge_types().at(type).order;
  if (order.empty()) { return nb::none(); }
  if (int const device = input.device(); device >= 0) {
    return nb::make_tuple(give_gpu_shared(order.times, device),
                          give_gpu_shared<std::uint32_t, std::int32_t>(order.ordinal, device));
  }
  return nb::make_tuple(look_at(order.times), look_at(order.ordinal));
}

using edge_type_in = std::tuple<std::int32_t, std::int32_t, graph, std::optional<temporal_order>>;

hetero_graph make_graph(std::vector<std::int64_t> num_vertices, std::vector<edge_type_in> const& edges)
{
  std::vector<edge_type> types;
  types.reserve(edges.size());
  for (auto const& [from, to, graph, order] : edges) {
    types.push_back({from, to, graph, order ? *order : temporal_order{}});
  }
  return {std::move(num_vertices), std::move(types)};
}

/// Whole if `gpu_bytes` hold it (0: the free memory), else placed.
hetero_graph on_gpu(hetero_graph const& input, std::int64_t gpu_bytes, int device)
{
  nb::gil_scoped_release const no_gil;
  place_params params;
  params.gpu_bytes = gpu_bytes;
  params.job = minibatch_params{};
  return fit_on_gpu(input, params, gpu_exec(device, nullptr, &lasting_gpu_memory(device)));
}

/// What lies where of each edge type; None for a graph that is not placed.
std::optional<nb::list> placements_of(hetero_graph const& input)
{
  nb::list out;
  for (edge_type const& type : input.edge_types()) {
    auto one = placement_of(type.edges);
    if (!one) { return std::nullopt; }
    out.append(*one);
  }
  return out;
}

// --- Samplers --------------------------------------------------------------------------------------------------------

/// A sampler on the CPU or a GPU, for one call at a time: others wait, without the GIL.
class bound_sampler {
 public:
  bound_sampler(hetero_graph graph, minibatch_params params, bool as_int32, int num_threads)
      : num_threads_(num_threads), as_int32_(as_int32)
  {
    expect_int32(graph);
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    sampler_ = std::make_unique<minibatch_sampler>(std::move(graph), std::move(params), exec);
  }

  bound_sampler(hetero_graph graph, minibatch_params params, bool as_int32, std::string const& executor,
                std::uintptr_t stream)
      : as_int32_(as_int32)
  {
    expect_int32(graph);
    nb::gil_scoped_release const no_gil;
    exec_ = make_gpu_exec(graph.device(), stream);
    sampler_ =
        std::make_unique<minibatch_sampler>(std::move(graph), std::move(params), *exec_,
                                            parse_option<minibatch_executor>("neighbor_sample: executor", executor));
  }

  [[nodiscard]] int device() const { return sampler_->input().device(); }

  batch_out<array_out> sample(std::vector<array_in> const& seeds, std::vector<array_in> const& times,
                              std::uint64_t batch)
  {
    std::vector<shared_array<std::int64_t>> const given_times = share_times(times);
    minibatch made;
    {
      nb::gil_scoped_release const no_gil;
      std::lock_guard const one_at_a_time(mutex_);
      std::vector<shared_array<vertex_id>> ids;
      batch_seeds given;
      for (array_in const& one : seeds) {
        ids.push_back(import_ids(one, "seeds", num_threads_));
        given.vertices.push_back(ids.back().span());
      }
      for (auto const& one : given_times) { given.times.push_back(one.span()); }
      made = sampler_->sample(given, batch);
    }
    return give_batch(made, params(), host_batches(as_int32_, num_threads_));
  }

  std::vector<batch_out<array_out>> sample_batches(std::int32_t vertex_type, array_in const& seeds,
                                                   std::int64_t batch_size, std::uint64_t first_batch,
                                                   std::uint64_t batch_step, std::vector<array_in> const& times)
  {
    std::vector<shared_array<std::int64_t>> const given_times = share_times(times);
    std::vector<minibatch> made;
    {
      nb::gil_scoped_release const no_gil;
      std::lock_guard const one_at_a_time(mutex_);
      shared_array<vertex_id> const ids = import_ids(seeds, "seeds", num_threads_);
      made = sampler_->sample_batches(vertex_type, ids.span(), batch_size, {first_batch, batch_step},
                                      given_times.empty() ? std::span<std::int64_t const>() : given_times[0].span());
    }
    std::vector<batch_out<array_out>> out;
    out.reserve(made.size());
    for (minibatch const& one : made) {
      out.push_back(give_batch(one, params(), host_batches(as_int32_, num_threads_)));
    }
    return out;
  }

  batch_out<gpu_array> sample_gpu(std::vector<gpu_ids const*> const& seeds, std::vector<gpu_values const*> const& times,
                                  std::uint64_t batch)
  {
    nb::gil_scoped_release const no_gil;
    std::lock_guard const one_at_a_time(mutex_);
    std::vector<gpu_starts> ids;
    batch_seeds given;
    for (std::size_t type = 0; type < seeds.size(); ++type) {
      ids.push_back(bring(*seeds[type], num_vertices(type), *exec_));
      given.vertices.push_back(ids.back().ids);
    }
    std::vector<gpu_numbers<std::int64_t>> there;
    for (gpu_values const* one : times) {
      there.push_back(bring_values<std::int64_t>(*one, *exec_));
      given.times.push_back(there.back().span);
    }
    minibatch made;
    explained(seeds, ids, 0, [&] { made = sampler_->sample(given, batch); });
    return finished(give_batch(made, params(), gpu_batches(as_int32_, *exec_)));
  }

  std::vector<batch_out<gpu_array>> sample_batches_gpu(std::int32_t vertex_type, gpu_ids const& seeds,
                                                       std::int64_t batch_size, std::uint64_t first_batch,
                                                       std::uint64_t batch_step,
                                                       std::vector<gpu_values const*> const& times)
  {
    nb::gil_scoped_release const no_gil;
    std::lock_guard const one_at_a_time(mutex_);
    std::vector<batch_out<gpu_array>> out;
    for (minibatch const& one : made_on_gpu(vertex_type, seeds, batch_size, {first_batch, batch_step}, times)) {
      out.push_back(give_batch(one, params(), gpu_batches(as_int32_, *exec_)));
    }
    return finished(std::move(out));
  }

  batch_group sample_group_gpu(std::int32_t vertex_type, gpu_ids const& seeds, std::int64_t batch_size,
                               std::uint64_t first_batch, std::uint64_t batch_step,
                               std::vector<gpu_values const*> const& times)
  {
    nb::gil_scoped_release const no_gil;
    std::lock_guard const one_at_a_time(mutex_);
    auto const made = made_on_gpu(vertex_type, seeds, batch_size, {first_batch, batch_step}, times);
    return group_of(made, params(), as_int32_, *exec_);
  }

 private:
  void expect_int32(hetero_graph const& graph) const
  {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    for (std::int64_t const count : graph.num_vertices()) {
      if (as_int32_ && count > most) {
        throw argument_error(
            fmt::format("dtype is int32, but the graph has {} vertices, expected at most {}: use int64", count, most));
      }
    }
  }

  [[nodiscard]] minibatch_params const& params() const { return sampler_->params(); }
  [[nodiscard]] std::int64_t num_vertices(std::size_t type) const
  {
    auto const& counts = sampler_->input().num_vertices();
    return type < counts.size() ? counts[type] : 0;
  }

  static std::vector<shared_array<std::int64_t>> share_times(std::vector<array_in> const& times)
  {
    std::vector<shared_array<std::int64_t>> out;
    out.reserve(times.size());
    for (array_in const& one : times) { out.push_back(share<std::int64_t>(one)); }
    return out;
  }

  [[nodiscard]] std::vector<minibatch> made_on_gpu(std::int32_t vertex_type, gpu_ids const& seeds,
                                                   std::int64_t batch_size, batch_numbers numbers,
                                                   std::vector<gpu_values const*> const& times)
  {
    auto const type = static_cast<std::size_t>(vertex_type);
    std::vector<gpu_starts> ids;
    ids.push_back(bring(seeds, num_vertices(type), *exec_));
    gpu_numbers<std::int64_t> there;
    if (!times.empty()) { there = bring_values<std::int64_t>(*times[0], *exec_); }
    std::vector<minibatch> made;
    explained({&seeds}, ids, type,
              [&] { made = sampler_->sample_batches(vertex_type, ids[0].ids, batch_size, numbers, there.span); });
    return made;
  }

  template <class Result>
  [[nodiscard]] Result finished(Result&& result) const
  {
    return gpu_results(as_int32_, *exec_).finished(std::forward<Result>(result));
  }

  /// run(); where it refuses a seed, the message shows the caller's.
  template <class F>
  void explained(std::vector<gpu_ids const*> const& seeds, std::vector<gpu_starts> const& ids, std::size_t first_type,
                 F&& run)
  {
    try {
      std::forward<F>(run)();
    } catch (argument_error const&) {
      for (std::size_t i = 0; i < seeds.size(); ++i) {
        if (seeds[i]->view.data != nullptr) { expect_ids(seeds[i]->view, seeds[i]->what, *exec_); }
        expect_vertices(ids[i].ids, "seed", num_vertices(first_type + i), *exec_);
      }
      throw;
    }
  }

  std::unique_ptr<minibatch_sampler> sampler_;
  std::optional<gpu_exec> exec_;
  int num_threads_ = 0;
  bool as_int32_ = false;
  std::mutex mutex_;
};

// --- Picks by scores -------------------------------------------------------------------------------------------------

/// Positions and probabilities, a row a segment.
template <class Results>
auto give_picks(segment_picks&& made, std::int64_t k, Results const& results)
{
  std::int64_t const n = made.positions.size() / k;
  return results.finished(std::tuple(results.numbers(std::move(made.positions), {n, k}),
                                     results.numbers(std::move(made.probabilities), {n, k})));
}

std::tuple<array_out, array_out> pick(array_in const& offsets, array_in const& scores, array_in const& vertices,
                                      segment_params const& params, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  auto const cuts = share<std::int64_t>(offsets);
  auto const weights = share<float>(scores);
  segment_picks made;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const ids = import_ids(vertices, "vertices", num_threads);
    made = segment_multinomial(cuts.span(), weights.span(), ids.span(), params, exec);
  }
  return give_picks(std::move(made), params.num_picks, host_results(false, num_threads));
}

std::tuple<gpu_array, gpu_array> pick_gpu(gpu_values const& offsets, gpu_values const& scores, gpu_ids const& vertices,
                                          segment_params const& params, int device, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  gpu_exec const exec = make_gpu_exec(device, stream);
  auto const cuts = bring_values<std::int64_t>(offsets, exec);
  auto const weights = bring_values<float>(scores, exec);
  gpu_starts const ids = bring(vertices, max_num_vertices, exec);
  segment_picks made;
  run_with(vertices, exec, [&] { made = segment_multinomial(cuts.span, weights.span, ids.ids, params, exec); });
  synchronize(exec);  // the caller may free the arguments
  return give_picks(std::move(made), params.num_picks, gpu_results(false, exec));
}

sampling_plan plan(hetero_graph const& graph, minibatch_params const& params, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  if (graph.device() >= 0) { return plan_minibatch(graph, params, gpu_exec(graph.device())); }
  return plan_minibatch(graph, params, exec);
}

}  // namespace

void bind_minibatch(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<minibatch_params> params(module, "MinibatchParams");
  params.def(nb::init<>())
      .def_rw("num_neighbors", &minibatch_params::num_neighbors)
      .def_rw("num_neighbors_of_type", &minibatch_params::num_neighbors_of_type)
      .def_rw("replace", &minibatch_params::replace)
      .def_rw("weighted", &minibatch_params::weighted)
      .def_rw("disjoint", &minibatch_params::disjoint)
      .def_rw("normalize", &minibatch_params::normalize)
      .def_rw("layer_dependency", &minibatch_params::layer_dependency)
      .def_rw("batch_dependency", &minibatch_params::batch_dependency)
      .def_rw("seed", &minibatch_params::seed)
      .def_rw("table_bytes", &minibatch_params::table_bytes, nb::arg().none())
      .def("validate", [](minibatch_params const& p) { validate(p); });
  def_named(params, "subgraph_type", &minibatch_params::subgraph, "neighbor_sample: ");
  def_named(params, "frontier", &minibatch_params::frontier, "neighbor_sample: ");
  def_named(params, "temporal_strategy", &minibatch_params::temporal, "neighbor_sample: ");
  def_named(params, "choice", &minibatch_params::choice, "neighbor_sample: ");

  nb::class_<temporal_order>(module, "TemporalOrder")
      .def_static("of", &order_of, "graph"_a, "times"_a.noconvert(), "of_vertices"_a, "num_threads"_a)
      .def_static("of_gpu", &order_of_gpu, "graph"_a, "times"_a, "of_vertices"_a, "stream"_a);

  nb::class_<hetero_graph>(module, "HeteroGraph")
      .def_static(
          "of_one",
          [](graph const& edges, temporal_order const* order) {
            return hetero_graph(edges, order == nullptr ? temporal_order{} : *order);
          },
          "edges"_a, "order"_a.none())
      .def_static("of_types", &make_graph, "num_vertices"_a, "edge_types"_a)
      .def(
          "validate",
          [](hetero_graph const& g, int num_threads) {
            cpu_exec const exec = make_exec(num_threads);
            nb::gil_scoped_release const no_gil;
            g.validate(exec);
          },
          "num_threads"_a)
      .def("fit_on_gpu", &on_gpu, "gpu_bytes"_a, "device"_a)
      .def("order_arrays", &order_arrays, "type"_a)
      .def_prop_ro("placement", &placements_of)
      .def_prop_ro("num_vertices", &hetero_graph::num_vertices)
      .def_prop_ro("has_times", &hetero_graph::has_times)
      .def_prop_ro("device", &hetero_graph::device);

  nb::class_<edge_group>(module, "EdgeGroup")
      .def_prop_ro("weighted", &edge_group::weighted)
      .def("pieces", &edge_group::pieces)
      .def("sizes", &edge_group::sizes, "batch"_a)
      .def("write", &edge_group::write, "batch"_a, "numbers"_a, "out"_a, "stream"_a);

  nb::class_<bound_sampler>(module, "MinibatchSampler")
      .def(nb::init<hetero_graph, minibatch_params, bool, int>(), "graph"_a, "params"_a, "as_int32"_a, "num_threads"_a)
      .def(nb::init<hetero_graph, minibatch_params, bool, std::string const&, std::uintptr_t>(), "graph"_a, "params"_a,
           "as_int32"_a, "executor"_a, "stream"_a)
      .def_prop_ro("device", &bound_sampler::device)
      .def("sample", &bound_sampler::sample, "seeds"_a, "times"_a, "batch"_a)
      .def("sample_batches", &bound_sampler::sample_batches, "vertex_type"_a, "seeds"_a.noconvert(), "batch_size"_a,
           "first_batch"_a, "batch_step"_a, "times"_a)
      .def("sample_gpu", &bound_sampler::sample_gpu, "seeds"_a, "times"_a, "batch"_a)
      .def("sample_batches_gpu", &bound_sampler::sample_batches_gpu, "vertex_type"_a, "seeds"_a, "batch_size"_a,
           "first_batch"_a, "batch_step"_a, "times"_a)
      .def("sample_group_gpu", &bound_sampler::sample_group_gpu, "vertex_type"_a, "seeds"_a, "batch_size"_a,
           "first_batch"_a, "batch_step"_a, "times"_a);

  module.def("plan_minibatch", &plan, "graph"_a, "params"_a, "num_threads"_a);

  nb::class_<segment_params>(module, "SegmentParams")
      .def(nb::init<>())
      .def_rw("num_picks", &segment_params::num_picks)
      .def_rw("seed", &segment_params::seed)
      .def_rw("batch", &segment_params::batch)
      .def_rw("hop", &segment_params::hop);
  module.def("segment_multinomial", &pick, "offsets"_a.noconvert(), "scores"_a.noconvert(), "vertices"_a.noconvert(),
             "params"_a, "num_threads"_a);
  module.def("segment_multinomial_gpu", &pick_gpu, "offsets"_a, "scores"_a, "vertices"_a, "params"_a, "device"_a,
             "stream"_a);
}

}  // namespace tendril::python
