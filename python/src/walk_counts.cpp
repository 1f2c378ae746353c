// Walks that are counted, on the CPU and on GPUs.

#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tendril/gpu.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk_stream.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "walk_counts.hpp"

namespace tendril::python {
namespace {

/// @param graphs  On the CPU one; on GPUs a copy on each.
array_out count(std::vector<graph> const& graphs, array_in const& starts, std::int64_t repeats,
                walk_params const& params, std::string const& what, std::int64_t first_walk, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  walk_count const wanted = parse_count(what);
  graph const& first = graphs.front();
  std::int64_t const size = first.num_vertices();
  buffer<std::int64_t> counts;
  {
    nb::gil_scoped_release const no_gil;
    shared_array<vertex_id> const from = import_ids(starts, "starts", num_threads);
    counts = zero_counts(size);
    walk_stream_job const job = counting_job(from.span(), repeats, first_walk, wanted, counts.span(), exec);
    if (first.device() < 0) {
      (void)stream_walks(walker(first, params, job.num_walks, exec), job, exec);
    } else {
      std::vector<walker> copies;
      for (graph const& copy : graphs) { copies.emplace_back(copy, params, job.num_walks, gpu_exec(copy.device())); }
      (void)stream_walks(copies, job);
    }
  }
  return give(std::move(counts), {size});
}

}  // namespace

void bind_walk_counts(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments
  module.def("count_walks", &count, "graphs"_a, "starts"_a.noconvert(), "repeats"_a, "params"_a, "what"_a,
             "first_walk"_a, "num_threads"_a);
}

}  // namespace tendril::python
