// Ends of negative links.

#include <tendril/negatives.hpp>

#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"

namespace tendril::python {
namespace {

class bound_negatives {
 public:
  bound_negatives(std::int64_t num_nodes, bool of_targets, std::uint64_t seed, std::optional<array_in> const& weights,
                  std::optional<array_in> const& times, int num_threads)
      : num_threads_(num_threads)
  {
    cpu_exec const exec = make_exec(num_threads);
    shared_array<float> const given_weights = import_weights(weights ? &*weights : nullptr);
    shared_array<std::int64_t> const given_times = times ? share<std::int64_t>(*times) : shared_array<std::int64_t>();
    link_end const end = of_targets ? link_end::target : link_end::source;
    nb::gil_scoped_release const no_gil;
    sampler_.emplace(num_nodes, end, seed, given_weights, given_times, exec);
  }

  [[nodiscard]] array_out draw(std::int64_t count, std::uint64_t batch, std::optional<array_in> const& until,
                               bool as_int32) const
  {
    cpu_exec const exec = make_exec(num_threads_);
    shared_array<std::int64_t> const limits = until ? share<std::int64_t>(*until) : shared_array<std::int64_t>();
    buffer<vertex_id> drawn;
    {
      nb::gil_scoped_release const no_gil;
      drawn = sampler_->draw(count, batch, limits.span(), exec);
    }
    return give_ids(std::move(drawn), {count}, as_int32, num_threads_);
  }

 private:
  std::optional<negative_sampler> sampler_;
  int num_threads_;
};

}  // namespace

void bind_negatives(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<bound_negatives>(module, "NegativeSampler")
      .def(nb::init<std::int64_t, bool, std::uint64_t, std::optional<array_in> const&, std::optional<array_in> const&,
                    int>(),
           "num_nodes"_a, "of_targets"_a, "seed"_a, "weights"_a.noconvert().none(), "times"_a.noconvert().none(),
           "num_threads"_a)
      .def("draw", &bound_negatives::draw, "count"_a, "batch"_a, "until"_a.noconvert().none(), "as_int32"_a);
  module.def("num_negatives", &num_negatives, "num_links"_a, "amount"_a);
}

}  // namespace tendril::python
