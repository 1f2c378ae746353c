// Caches of rows of features: their bookkeeping on the host and on a GPU, the rows on a GPU, and scores.

#include <tendril/feature_cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event
#include <tendril/gpu_feature_cache.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "features.hpp"
#include "gpu.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

using scores_in = nb::ndarray<double const, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

row_cache_params params_of(std::int64_t num_rows, std::int64_t num_slots, std::string const& policy, int window)
{
  return {num_rows, num_slots, parse_option<cache_policy>("policy", policy), window};
}

template <class T>
array_out give_vector(std::vector<T> const& from)
{
  buffer<T> to(std::ssize(from));
  std::ranges::copy(from, to.begin());
  return give(std::move(to), {std::ssize(from)});
}

std::span<vertex_id const> span_of(shared_array<vertex_id> const& ids) { return ids.span(); }

void fill_on_host(row_cache& cache, array_in const& rows)
{
  auto const ids = import_ids(rows, "rows", 1);
  cache.fill(span_of(ids));
}

void see_on_host(row_cache& cache, array_in const& ids)
{
  auto const rows = import_ids(ids, "ids", 1);
  nb::gil_scoped_release const no_gil;
  cache.see(span_of(rows));
}

using host_step = std::tuple<array_out, array_out, array_out, array_out>;

host_step serve_on_host(row_cache& cache)
{
  cache_step step;
  {
    nb::gil_scoped_release const no_gil;
    step = cache.serve();
  }
  return {give_vector(step.missed), give_vector(step.sources), give_vector(step.kept), give_vector(step.kept_slots)};
}

/// A stream that work is enqueued on, behind all work of the same cache on other streams.
class stream_turn {
 public:
  /// Of the work that was enqueued last.
  struct last_work {
    cuda_stream stream = nullptr;
    std::optional<gpu_event> done;
  };

  stream_turn(last_work& last, gpu_exec const& exec) : last_(last), exec_(exec)
  {
    if (last.done && last.stream != exec.stream) { last.done->wait_on(exec.stream); }
  }
  ~stream_turn()
  {
    try {
      last_.stream = exec_.stream;
      last_.done.emplace(exec_);
    } catch (std::exception const&) {  // the next call on the GPU says what is wrong with it
      last_.done.reset();
    }
  }
  stream_turn(stream_turn const&) = delete;
  stream_turn& operator=(stream_turn const&) = delete;

  [[nodiscard]] gpu_exec const& exec() const { return exec_; }

 private:
  last_work& last_;
  gpu_exec exec_;
};

/// A cache of some tables of one number of rows, on a GPU. A loader's own thread has one stream; one that works in the caller's loop has
/// the stream that is current there, which may change.
class cached_tables {
 public:
  cached_tables(row_cache_params const& params, int device, std::uintptr_t stream)
      : device_(device), rows_(params, turn_on(stream).exec())
  {
  }

  void add(gpu_features const& table, std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    tables_.emplace_back(table, rows_.params().num_slots, turn_on(stream).exec());
  }

  void fill(array_in const& rows, std::uintptr_t stream)
  {
    auto const ids = import_ids(rows, "rows", 0);
    nb::gil_scoped_release const no_gil;
    stream_turn const turn = turn_on(stream);
    fill_with(copy_to_gpu(ids.span(), turn.exec()), turn.exec());
  }

  void fill_best(gpu_row_counts const& counts, std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    stream_turn const turn = turn_on(stream);
    fill_with(counts.best(rows_.params().num_slots, turn.exec()), turn.exec());
  }

  void rank(gpu_row_counts const& counts, std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    stream_turn const turn = turn_on(stream);
    rows_.rank(counts.scores(turn.exec()).span(), turn.exec());
  }

  void empty(std::uintptr_t stream) { rows_.fill({}, turn_on(stream).exec()); }

  void see(gpu_ids const& ids, std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    rows_.see(ids.view, turn_on(stream).exec());
  }

  void see_at(std::uintptr_t ids, std::int64_t count, std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    rows_.see({reinterpret_cast<void const*>(ids), id_type::int64, count}, turn_on(stream).exec());
  }

  gpu_cache_step serve(std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    return rows_.serve(turn_on(stream).exec());
  }

  void gather_at(int table, gpu_cache_step const& step, std::uintptr_t out, std::uintptr_t stream,
                 std::string const& share, int num_threads, double gpu_part, gather_meter* meter)
  {
    nb::gil_scoped_release const no_gil;
    gpu_cached_features& from = tables_.at(static_cast<std::size_t>(table));
    auto const bytes = static_cast<std::size_t>(step.num_ids() * from.table().table().row_bytes());
    gather_way const way = way_of(share, num_threads, gpu_part, meter);
    from.gather(step, {reinterpret_cast<std::byte*>(out), bytes}, turn_on(stream).exec(), way);
  }

  gpu_array gather_new(int table, gpu_cache_step const& step, std::uintptr_t stream, std::string const& share,
                       int num_threads, double gpu_part, gather_meter* meter)
  {
    nb::gil_scoped_release const no_gil;
    gpu_cached_features& from = tables_.at(static_cast<std::size_t>(table));
    stream_turn const turn = turn_on(stream);
    return new_rows(from.table().table(), step.num_ids(), turn.exec(), [&](std::span<std::byte> rows) {
      from.gather(step, rows, turn.exec(), way_of(share, num_threads, gpu_part, meter));
    });
  }

  [[nodiscard]] std::int64_t num_bytes() const
  {
    std::int64_t bytes = 0;
    for (auto const& table : tables_) { bytes += table.num_bytes(); }
    return bytes;
  }

  [[nodiscard]] array_out content(std::uintptr_t stream)
  {
    auto const from = rows_.content();
    buffer<vertex_id> to(std::ssize(from));
    copy_to_host(from.data(), to.data(), from.size_bytes(), turn_on(stream).exec());
    return give(std::move(to), {std::ssize(from)});
  }

 private:
  [[nodiscard]] stream_turn turn_on(std::uintptr_t stream)
  {
    return {last_, gpu_exec(device_, reinterpret_cast<cuda_stream>(stream))};
  }

  void fill_with(buffer<vertex_id> const& rows, gpu_exec const& exec)
  {
    rows_.fill(rows.span(), exec);
    for (auto& table : tables_) { table.fill(rows.span(), exec); }
    synchronize(exec);  // before the list of rows goes
  }

  int device_;
  stream_turn::last_work last_;
  gpu_row_cache rows_;
  std::vector<gpu_cached_features> tables_;
};

std::tuple<std::int64_t, std::int64_t, std::int64_t> counts_of(gpu_cache_step const& step)
{
  nb::gil_scoped_release const no_gil;
  auto const& count = step.count();
  return {step.num_ids(), count.missed, count.kept};
}

void count_at(gpu_row_counts& counts, int device, std::uintptr_t ids, std::int64_t count, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  counts.add({reinterpret_cast<void const*>(ids), id_type::int64, count},
             gpu_exec(device, reinterpret_cast<cuda_stream>(stream)));
}

void count_ids(gpu_row_counts& counts, int device, gpu_ids const& ids, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  counts.add(ids.view, gpu_exec(device, reinterpret_cast<cuda_stream>(stream)));
}

std::vector<array_out> scores_of(std::vector<std::vector<double>> const& made)
{
  std::vector<array_out> arrays;
  arrays.reserve(made.size());
  for (auto const& one : made) { arrays.push_back(give_vector(one)); }
  return arrays;
}

/// The graph in host memory.
hetero_graph on_host(hetero_graph const& graph)
{
  if (graph.device() < 0) { return graph; }
  std::vector<edge_type> types;
  for (edge_type const& type : graph.edge_types()) {
    types.push_back({type.from, type.to, to_host(type.edges, gpu_exec(graph.device()))});
  }
  return {graph.num_vertices(), std::move(types)};
}

std::vector<array_out> neighbor_counts_of(hetero_graph const& graph, int num_threads)
{
  std::vector<std::vector<double>> made;
  {
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    made = neighbor_counts(on_host(graph), exec);
  }
  return scores_of(made);
}

std::vector<array_out> pageranks_of(hetero_graph const& graph, int iterations, int num_threads)
{
  std::vector<std::vector<double>> made;
  {
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    made = pageranks(on_host(graph), iterations, exec);
  }
  return scores_of(made);
}

array_out best_of(scores_in const& scores, std::int64_t count)
{
  std::vector<vertex_id> made;
  {
    nb::gil_scoped_release const no_gil;
    made = best_rows({scores.data(), scores.size()}, count);
  }
  return give_vector(made);
}

}  // namespace

void bind_feature_cache(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments
  nb::class_<row_cache>(module, "RowCache")
      .def(
          "__init__",
          [](row_cache* made, std::int64_t num_rows, std::int64_t num_slots, std::string const& policy, int window) {
            new (made) row_cache(params_of(num_rows, num_slots, policy, window));
          },
          "num_rows"_a, "num_slots"_a, "policy"_a, "window"_a)
      .def("fill", &fill_on_host, "rows"_a.noconvert())
      .def(
          "rank",
          [](row_cache& cache,
             nb::ndarray<std::uint8_t const, nb::ndim<1>, nb::c_contig, nb::device::cpu> const& scores) {
            cache.rank({scores.data(), scores.size()});
          },
          "scores"_a.noconvert())
      .def("see", &see_on_host, "ids"_a.noconvert())
      .def("serve", &serve_on_host)
      .def("content", [](row_cache const& cache) { return give_vector(cache.content()); });
  nb::class_<gpu_cache_step>(module, "GpuCacheStep").def("counts", &counts_of);
  nb::class_<gpu_row_counts>(module, "GpuRowCounts")
      .def(
          "__init__",
          [](gpu_row_counts* made, std::int64_t num_rows, int device, std::uintptr_t stream) {
            new (made) gpu_row_counts(num_rows, make_gpu_exec(device, stream));
          },
          "num_rows"_a, "device"_a, "stream"_a)
      .def("add", &count_ids, "device"_a, "ids"_a, "stream"_a)
      .def("add_at", &count_at, "device"_a, "ids"_a, "count"_a, "stream"_a);
  nb::class_<cached_tables>(module, "CachedTables")
      .def(
          "__init__",
          [](cached_tables* made, std::int64_t num_rows, std::int64_t num_slots, std::string const& policy, int window,
             int device, std::uintptr_t stream) {
            new (made) cached_tables(params_of(num_rows, num_slots, policy, window), device, stream);
          },
          "num_rows"_a, "num_slots"_a, "policy"_a, "window"_a, "device"_a, "stream"_a)
      .def_prop_ro("num_bytes", &cached_tables::num_bytes)
      .def("add", &cached_tables::add, "table"_a, "stream"_a)
      .def("fill", &cached_tables::fill, "rows"_a.noconvert(), "stream"_a)
      .def("fill_best", &cached_tables::fill_best, "counts"_a, "stream"_a)
      .def("rank", &cached_tables::rank, "counts"_a, "stream"_a)
      .def("empty", &cached_tables::empty, "stream"_a)
      .def("see", &cached_tables::see, "ids"_a, "stream"_a)
      .def("see_at", &cached_tables::see_at, "ids"_a, "count"_a, "stream"_a)
      .def("serve", &cached_tables::serve, "stream"_a)
      .def("gather_at", &cached_tables::gather_at, "table"_a, "step"_a, "out"_a, "stream"_a, "share"_a, "num_threads"_a,
           "gpu_part"_a, "meter"_a.none())
      .def("gather_new", &cached_tables::gather_new, "table"_a, "step"_a, "stream"_a, "share"_a, "num_threads"_a,
           "gpu_part"_a, "meter"_a.none())
      .def("content", &cached_tables::content, "stream"_a);
  module.def("best_rows", &best_of, "scores"_a.noconvert(), "count"_a);
  module.def("neighbor_counts", &neighbor_counts_of, "graph"_a, "num_threads"_a);
  module.def("pageranks", &pageranks_of, "graph"_a, "iterations"_a, "num_threads"_a);
}

}  // namespace tendril::python
