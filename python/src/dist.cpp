// Ranks of one job, and what they share: parts of a graph, walks, mini-batches and features.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tendril/compress.hpp>  // names of forms
#include <tendril/partition.hpp>
#include <tendril/rank_service.hpp>
#include <tendril/sharded_features.hpp>
#include <tendril/sharded_khop.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/tcp.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "features.hpp"
#include "gpu.hpp"
#include "minibatch.hpp"
#include "names.hpp"
#include "ranks.hpp"
#include "results.hpp"
#include "sample.hpp"
#include "walk_counts.hpp"

namespace tendril::python {
namespace {

std::shared_ptr<ranks> connect(tcp_listener const& listener, int rank, std::vector<std::string> const& addresses,
                               std::string const& secret, double patience, double deadline)
{
  cpu_exec const exec = make_exec(1);
  nb::gil_scoped_release const no_gil;
  return std::make_shared<ranks>(
      listener.connect(rank, addresses, secret, std::chrono::duration<double>(patience), 2, exec.check_cancel),
      transport::seconds(deadline));
}

std::vector<nb::bytes> all_gather(ranks& all, nb::bytes const& given)
{
  std::string const mine(given.c_str(), given.size());
  std::vector<std::string> texts;
  {
    nb::gil_scoped_release const no_gil;
    texts = all.in_call([&](transport& calls) { return calls.all_gather("all_gather", mine); });
  }
  std::vector<nb::bytes> out;
  for (std::string const& text : texts) { out.emplace_back(text.data(), text.size()); }
  return out;
}

graph_part read(std::string const& folder, std::int64_t index, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return read_part(folder, index, exec);
}

graph_part cut(graph const& input, std::int64_t num_parts, std::string const& method, std::int64_t index,
               int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return part_of(input, {.num_parts = num_parts, .method = parse_option<partition_method>("method", method)}, index,
                 exec);
}

/// Mini-batches, for one call at a time: others wait, without the GIL.
class bound_batches {
 public:
  bound_batches(std::shared_ptr<ranks> all, graph_part part, minibatch_params params, bool as_int32, int num_threads)
      : all_(std::move(all)), as_int32_(as_int32), num_threads_(num_threads)
  {
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    all_->told([&] {
      sampler_ =
          std::make_unique<sharded_minibatch_sampler>(std::move(part), std::move(params), all_->questions(), exec);
    });
  }

  /// On a GPU, where this rank's part is copied to; calls are then those of all ranks.
  bound_batches(std::shared_ptr<ranks> all, graph_part part, minibatch_params params, bool as_int32, int device,
                std::uintptr_t stream)
      : all_(std::move(all)), as_int32_(as_int32), num_threads_(0), num_vertices_(part.info.num_vertices)
  {
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    all_->in_call([&](transport& calls) {
      sampler_ = std::make_unique<sharded_minibatch_sampler>(std::move(part), std::move(params), calls, exec);
    });
  }

  std::vector<batch_out<array_out>> sample_batches(array_in const& seeds, std::int64_t batch_size,
                                                   std::uint64_t first_batch, std::uint64_t batch_step)
  {
    std::vector<minibatch> made;
    {
      nb::gil_scoped_release const no_gil;
      std::lock_guard const one_at_a_time(mutex_);
      shared_array<vertex_id> const ids = import_ids(seeds, "seeds", num_threads_);
      made = sampler_->sample_batches(ids.span(), batch_size, {first_batch, batch_step});
    }
    std::vector<batch_out<array_out>> out;
    out.reserve(made.size());
    for (minibatch const& one : made) {
      out.push_back(give_batch(one, sampler_->params(), host_batches(as_int32_, num_threads_)));
    }
    return out;
  }

  std::vector<batch_out<gpu_array>> sample_batches_gpu(gpu_ids const& seeds, std::int64_t batch_size,
                                                       std::uint64_t first_batch, std::uint64_t batch_step, int device,
                                                       std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    std::vector<minibatch> made;
    all_->in_call([&](transport& calls) {
      std::lock_guard const one_at_a_time(mutex_);  // report() asks at any time
      gpu_starts const from = calls.or_refuse([&] { return bring(seeds, num_vertices_, exec); });
      run_with(seeds, exec, [&] {
        made = sampler_->sample_batches(from.ids, batch_size, {first_batch, batch_step}, exec);
      });
    });
    std::vector<batch_out<gpu_array>> out;
    out.reserve(made.size());
    for (minibatch const& one : made) {
      out.push_back(give_batch(one, sampler_->params(), gpu_batches(as_int32_, exec)));
    }
    return gpu_results(as_int32_, exec).finished(std::move(out));
  }

  [[nodiscard]] sharded_minibatch_report report()
  {
    nb::gil_scoped_release const no_gil;
    std::lock_guard const one_at_a_time(mutex_);
    return sampler_->report();
  }

 private:
  std::shared_ptr<ranks> all_;  // outlives the sampler
  std::unique_ptr<sharded_minibatch_sampler> sampler_;
  bool as_int32_;
  int num_threads_;
  std::int64_t num_vertices_ = 0;  // of the whole graph, on a GPU
  std::mutex mutex_;
};

/// k-hop trees, likewise.
class bound_trees {
 public:
  bound_trees(std::shared_ptr<ranks> all, graph_part part, khop_params params, bool as_int32, int num_threads)
      : all_(std::move(all)), as_int32_(as_int32), num_threads_(num_threads)
  {
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    all_->told([&] {
      sampler_ = std::make_unique<sharded_khop_sampler>(std::move(part), std::move(params), all_->questions(), exec);
    });
  }

  /// On a GPU, where this rank's part is copied to; calls are then those of all ranks.
  bound_trees(std::shared_ptr<ranks> all, graph_part part, khop_params params, bool as_int32, int device,
              std::uintptr_t stream)
      : all_(std::move(all)), as_int32_(as_int32), num_threads_(0), num_vertices_(part.info.num_vertices)
  {
    sharded_khop_sampler::expect_gpus_take(params);
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    all_->in_call([&](transport& calls) {
      sampler_ = std::make_unique<sharded_khop_sampler>(std::move(part), std::move(params), calls, exec);
    });
  }

  std::vector<hop_out> sample(array_in const& seeds, std::int64_t first_root, bool with_edges)
  {
    khop_trees trees;
    {
      nb::gil_scoped_release const no_gil;
      std::lock_guard const one_at_a_time(mutex_);
      shared_array<vertex_id> const ids = import_ids(seeds, "seeds", num_threads_);
      trees = sampler_->sample(ids.span(), first_root, with_edges);
    }
    return give_trees(std::move(trees), as_int32_, with_edges, num_threads_);
  }

  std::vector<gpu_hop_out> sample_gpu(gpu_ids const& seeds, std::int64_t first_root, bool with_edges, int device,
                                      std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    khop_trees trees;
    all_->in_call([&](transport& calls) {
      gpu_starts const from = calls.or_refuse([&] { return bring(seeds, num_vertices_, exec); });
      run_with(seeds, exec, [&] { trees = sampler_->sample(from.ids, exec, first_root, with_edges); });
    });
    return give_gpu_trees(std::move(trees), as_int32_, with_edges, exec);
  }

 private:
  std::shared_ptr<ranks> all_;  // outlives the sampler
  std::unique_ptr<sharded_khop_sampler> sampler_;
  bool as_int32_;
  int num_threads_;
  std::int64_t num_vertices_ = 0;  // of the whole graph, on a GPU
  std::mutex mutex_;
};

/// Rows of features, likewise.
class bound_features {
 public:
  bound_features(std::shared_ptr<ranks> all, features const& rows, std::vector<std::int64_t> bounds, int num_threads)
      : all_(std::move(all))
  {
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    all_->told(
        [&] { rows_ = std::make_unique<sharded_features>(rows.table, std::move(bounds), all_->questions(), exec); });
  }

  /// For a GPU, where the rows are; calls are then those of all ranks.
  bound_features(std::shared_ptr<ranks> all, features const& rows, std::vector<std::int64_t> bounds, int device,
                 std::uintptr_t stream)
      : all_(std::move(all))
  {
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    all_->in_call([&](transport& calls) {
      rows_ = std::make_unique<sharded_features>(rows.table, std::move(bounds), calls, exec);
    });
  }

  gpu_array gather_gpu(gpu_ids const& ids, int device, std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    return all_->in_call([&](transport& calls) {
      std::lock_guard const one_at_a_time(mutex_);  // report() asks at any time
      return new_rows(rows_->here(), ids.view.num_rows, exec, [&](std::span<std::byte> out) {
        if (ids.view.data != nullptr) { return rows_->gather(ids.view, out, exec); }
        gpu_starts const there = calls.or_refuse([&] { return bring(ids, rows_->num_rows(), exec); });
        rows_->gather({there.ids.data(), id_type::uint32, std::ssize(there.ids)}, out, exec);
      });
    });
  }

  void gather_into(array_in const& ids, rows_out const& out, int num_threads)
  {
    std::span<std::byte> const bytes = host_bytes_for_rows(rows_->here(), ids.size(), out);
    shared_array<std::int64_t> const wanted = share<std::int64_t>(ids);
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    std::lock_guard const one_at_a_time(mutex_);
    rows_->gather(wanted.span(), bytes, exec);
  }

  void keep(array_in const& ids, int num_threads)
  {
    shared_array<std::int64_t> const wanted = share<std::int64_t>(ids);
    cpu_exec const exec = make_exec(num_threads);
    nb::gil_scoped_release const no_gil;
    std::lock_guard const one_at_a_time(mutex_);
    rows_->keep(wanted.span(), exec);
  }

  void keep_gpu(array_in const& ids, int device, std::uintptr_t stream)
  {
    shared_array<std::int64_t> const wanted = share<std::int64_t>(ids);
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    all_->in_call([&](transport&) {
      std::lock_guard const one_at_a_time(mutex_);
      rows_->keep(wanted.span(), exec);
    });
  }

  [[nodiscard]] std::vector<std::int64_t> shape() const { return rows_->shape(); }
  [[nodiscard]] std::string type() const { return rows_->type(); }
  [[nodiscard]] sharded_features_report report()
  {
    nb::gil_scoped_release const no_gil;
    std::lock_guard const one_at_a_time(mutex_);
    return rows_->report();
  }

 private:
  std::shared_ptr<ranks> all_;
  std::unique_ptr<sharded_features> rows_;
  std::mutex mutex_;
};

/// The rows of a part's vertices, of a table of the whole graph.
features part_rows(features const& whole, graph_part const& part, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return {rows_of_part(whole.table, part, exec)};
}

array_out hot(ranks& all, graph_part const& part, std::int64_t count)
{
  std::vector<std::int64_t> found;
  {
    nb::gil_scoped_release const no_gil;
    found = all.in_call([&](transport& calls) { return hot_vertices(part, count, calls); });
  }
  buffer<std::int64_t> out(std::ssize(found));
  std::copy(found.begin(), found.end(), out.begin());
  std::int64_t const size = out.size();
  return give(std::move(out), {size});
}

/// Walks, in calls of all ranks.
class bound_walker {
 public:
  bound_walker(std::shared_ptr<ranks> all, graph_part part, walk_params const& params, std::int64_t expected_walks,
               int num_threads)
      : bound_walker(std::move(all), params.length, num_threads)
  {
    make(std::move(part), params, expected_walks);
  }

  /// On a GPU, where this rank's part is copied to.
  bound_walker(std::shared_ptr<ranks> all, graph_part part, walk_params const& params, std::int64_t expected_walks,
               int device, std::uintptr_t stream)
      : bound_walker(std::move(all), params.length, 0)
  {
    make_on_gpu(std::move(part), device, stream, params, expected_walks);
  }
  bound_walker(std::shared_ptr<ranks> all, graph_part part, custom_walk const& walk, dynamic_walk_params const& params,
               int device, std::uintptr_t stream)
      : bound_walker(std::move(all), params.length, 0)
  {
    make_on_gpu(std::move(part), device, stream, walk, params);
  }

  bound_walker(std::shared_ptr<ranks> all, graph_part part, custom_walk const& walk, dynamic_walk_params const& params,
               int num_threads)
      : bound_walker(std::move(all), params.length, num_threads)
  {
    make(std::move(part), walk, params);
  }

  std::pair<array_out, array_out> run(array_in const& starts, bool as_int32, std::int64_t first_walk)
  {
    cpu_exec const exec = make_exec(num_threads_);
    walks made;
    {
      nb::gil_scoped_release const no_gil;
      made = all_->in_call([&](transport& calls) {
        auto const ids = calls.or_refuse([&] { return import_ids(starts, "starts", num_threads_); });
        return walker_->run(ids.span(), first_walk, exec);
      });
    }
    std::int64_t const n = made.lengths.size();
    array_out vertices = give_ids(std::move(made.vertices), {n, length_ + 1}, as_int32, num_threads_);
    return {std::move(vertices), give(std::move(made.lengths), {n})};
  }

  std::tuple<gpu_array, gpu_array> run_gpu(gpu_ids const& starts, bool as_int32, std::int64_t first_walk, int device,
                                           std::uintptr_t stream)
  {
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    walks made;
    all_->in_call([&](transport& calls) {
      gpu_starts const from = calls.or_refuse([&] { return bring(starts, num_vertices_, exec); });
      run_with(starts, exec, [&] { made = walker_->run(from.ids, first_walk, exec); });
    });
    std::int64_t const n = made.lengths.size();
    gpu_results const results(as_int32, exec);
    return results.finished(std::tuple(results.ids(std::move(made.vertices), {n, length_ + 1}),
                                       results.numbers(std::move(made.lengths), {n})));
  }

  /// Of the vertices of this rank's part.
  array_out count(array_in const& starts, std::string const& what, std::int64_t first_walk)
  {
    cpu_exec const exec = make_exec(num_threads_);
    walk_count wanted{};
    buffer<std::int64_t> counts;
    {
      nb::gil_scoped_release const no_gil;
      all_->in_call([&](transport& calls) {
        auto const ids = calls.or_refuse([&] {
          wanted = parse_count(what);
          counts = zero_counts(part_vertices_);
          return vertices_of(starts);
        });
        (void)walker_->stream(counting_job(ids.span(), 1, first_walk, wanted, counts.span(), exec), exec);
      });
    }
    return give(std::move(counts), {part_vertices_});
  }

  [[nodiscard]] std::vector<std::string> reasons() const { return walker_->plan().reasons; }

 private:
  /// Starts that are looked at before a stream begins, which a rank can't refuse later.
  [[nodiscard]] shared_array<vertex_id> vertices_of(array_in const& starts) const
  {
    shared_array<vertex_id> ids = import_ids(starts, "starts", num_threads_);
    for (std::size_t i = 0; i < ids.span().size(); ++i) {
      if (ids.span()[i] < num_vertices_) { continue; }
      throw argument_error(fmt::format("start {}: vertex {} is out of range, the graph has {} vertices", i,
                                       ids.span()[i], num_vertices_));
    }
    return ids;
  }

  bound_walker(std::shared_ptr<ranks> all, std::int64_t length, int num_threads)
      : all_(std::move(all)), length_(length), num_threads_(num_threads)
  {
  }

  template <class... Job>
  void make_on_gpu(graph_part part, int device, std::uintptr_t stream, Job const&... job)
  {
    num_vertices_ = part.info.num_vertices;
    part_vertices_ = part.num_vertices();
    nb::gil_scoped_release const no_gil;
    gpu_exec const exec = make_gpu_exec(device, stream);
    all_->in_call(
        [&](transport& calls) { walker_ = std::make_unique<sharded_walker>(std::move(part), job..., calls, exec); });
  }

  template <class... Job>
  void make(graph_part part, Job const&... job)
  {
    num_vertices_ = part.info.num_vertices;
    part_vertices_ = part.num_vertices();
    cpu_exec const exec = make_exec(num_threads_);
    nb::gil_scoped_release const no_gil;
    all_->in_call(
        [&](transport& calls) { walker_ = std::make_unique<sharded_walker>(std::move(part), job..., calls, exec); });
  }

  std::shared_ptr<ranks> all_;
  std::unique_ptr<sharded_walker> walker_;
  std::int64_t length_;
  std::int64_t num_vertices_ = 0;   // of the whole graph
  std::int64_t part_vertices_ = 0;  // of this rank's part
  int num_threads_;
};

}  // namespace

void bind_dist(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<ranks>(module, "Ranks")
      .def_prop_ro("rank", &ranks::rank)
      .def_prop_ro("size", &ranks::size)
      .def_prop_ro("sent_bytes", &ranks::sent_bytes)
      .def("all_gather", &all_gather, "given"_a)
      .def("fail", &ranks::fail, "why"_a)
      .def("refuse", &ranks::refuse, "why"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("close", [](ranks& all) {
        cpu_exec const exec = make_exec(1);
        nb::gil_scoped_release const no_gil;
        all.close(exec.check_cancel);
      });
  nb::class_<tcp_listener>(module, "TcpListener")
      .def(nb::init<std::string const&>(), "host"_a)
      .def_prop_ro("address", &tcp_listener::address)
      .def("connect", &connect, "rank"_a, "addresses"_a, "secret"_a, "patience"_a, "deadline"_a);

  nb::class_<graph_part>(module, "GraphPart")
      .def_static("read", &read, "folder"_a, "index"_a, "num_threads"_a)
      .def_static("of", &cut, "graph"_a, "num_parts"_a, "method"_a, "index"_a, "num_threads"_a)
      .def_ro("index", &graph_part::index)
      .def_prop_ro("bounds", [](graph_part const& p) { return p.info.bounds; })
      .def_prop_ro("num_parts", [](graph_part const& p) { return p.info.num_parts(); })
      .def_prop_ro("num_vertices", [](graph_part const& p) { return p.info.num_vertices; })
      .def_prop_ro("num_edges", [](graph_part const& p) { return p.info.num_edges; })
      .def_prop_ro("part_edges", [](graph_part const& p) { return p.info.part_edges; })
      .def_prop_ro("crossing_edges", [](graph_part const& p) { return p.info.crossing_edges; })
      .def_prop_ro("method", [](graph_part const& p) { return std::string(to_string(p.info.method)); })
      .def_prop_ro("form", [](graph_part const& p) { return std::string(to_string(p.info.form)); })
      .def_prop_ro("has_weights", [](graph_part const& p) { return p.info.has_weights; })
      .def_prop_ro("edge_label_names", [](graph_part const& p) { return p.info.edge_label_names; })
      .def_prop_ro("node_type_names", [](graph_part const& p) { return p.info.node_type_names; })
      .def_prop_ro("digest", [](graph_part const& p) { return p.info.digest; })
      .def_prop_ro("original_ids", [](graph_part const& p) -> std::optional<array_out> {
        if (p.original_ids.empty()) { return std::nullopt; }
        return look_at(p.original_ids);
      });

  nb::class_<bound_batches>(module, "ShardedMinibatchSampler")
      .def(nb::init<std::shared_ptr<ranks>, graph_part, minibatch_params, bool, int>(), "ranks"_a, "part"_a, "params"_a,
           "as_int32"_a, "num_threads"_a)
      .def(nb::init<std::shared_ptr<ranks>, graph_part, minibatch_params, bool, int, std::uintptr_t>(), "ranks"_a,
           "part"_a, "params"_a, "as_int32"_a, "device"_a, "stream"_a)
      .def("sample_batches", &bound_batches::sample_batches, "seeds"_a.noconvert(), "batch_size"_a, "first_batch"_a,
           "batch_step"_a)
      .def("sample_batches_gpu", &bound_batches::sample_batches_gpu, "seeds"_a, "batch_size"_a, "first_batch"_a,
           "batch_step"_a, "device"_a, "stream"_a)
      .def("report", [](bound_batches& b) {
        sharded_minibatch_report const r = b.report();
        return std::tuple(r.num_batches, r.edges, r.asked, r.asked_away, r.sent_bytes);
      });
  nb::class_<bound_trees>(module, "ShardedKhopSampler")
      .def(nb::init<std::shared_ptr<ranks>, graph_part, khop_params, bool, int>(), "ranks"_a, "part"_a, "params"_a,
           "as_int32"_a, "num_threads"_a)
      .def(nb::init<std::shared_ptr<ranks>, graph_part, khop_params, bool, int, std::uintptr_t>(), "ranks"_a, "part"_a,
           "params"_a, "as_int32"_a, "device"_a, "stream"_a)
      .def("sample", &bound_trees::sample, "seeds"_a.noconvert(), "first_root"_a, "with_edges"_a)
      .def("sample_gpu", &bound_trees::sample_gpu, "seeds"_a, "first_root"_a, "with_edges"_a, "device"_a, "stream"_a);
  nb::class_<bound_features>(module, "ShardedFeatures")
      .def(nb::init<std::shared_ptr<ranks>, features const&, std::vector<std::int64_t>, int>(), "ranks"_a, "rows"_a,
           "bounds"_a, "num_threads"_a)
      .def(nb::init<std::shared_ptr<ranks>, features const&, std::vector<std::int64_t>, int, std::uintptr_t>(),
           "ranks"_a, "rows"_a, "bounds"_a, "device"_a, "stream"_a)
      .def("keep", &bound_features::keep, "ids"_a.noconvert(), "num_threads"_a)
      .def("keep_gpu", &bound_features::keep_gpu, "ids"_a.noconvert(), "device"_a, "stream"_a)
      .def("gather_gpu", &bound_features::gather_gpu, "ids"_a, "device"_a, "stream"_a)
      .def_prop_ro("shape", &bound_features::shape)
      .def_prop_ro("dtype", &bound_features::type)
      .def("gather_into", &bound_features::gather_into, "ids"_a.noconvert(), "out"_a.noconvert(), "num_threads"_a)
      .def("report", [](bound_features& f) {
        sharded_features_report const r = f.report();
        return std::tuple(r.rows, r.rows_away, r.rows_kept, r.sent_bytes);
      });
  module.def("hot_vertices", &hot, "ranks"_a, "part"_a, "count"_a);
  module.def("rows_of_part", &part_rows, "whole"_a, "part"_a, "num_threads"_a);
  nb::class_<bound_walker>(module, "ShardedWalker")
      .def(nb::init<std::shared_ptr<ranks>, graph_part, walk_params const&, std::int64_t, int>(), "ranks"_a, "part"_a,
           "params"_a, "expected_walks"_a, "num_threads"_a)
      .def(nb::init<std::shared_ptr<ranks>, graph_part, custom_walk const&, dynamic_walk_params const&, int>(),
           "ranks"_a, "part"_a, "walk"_a, "params"_a, "num_threads"_a)
      .def(nb::init<std::shared_ptr<ranks>, graph_part, walk_params const&, std::int64_t, int, std::uintptr_t>(),
           "ranks"_a, "part"_a, "params"_a, "expected_walks"_a, "device"_a, "stream"_a)
      .def(nb::init<std::shared_ptr<ranks>, graph_part, custom_walk const&, dynamic_walk_params const&, int,
                    std::uintptr_t>(),
           "ranks"_a, "part"_a, "walk"_a, "params"_a, "device"_a, "stream"_a)
      .def("run", &bound_walker::run, "starts"_a.noconvert(), "as_int32"_a, "first_walk"_a)
      .def("run_gpu", &bound_walker::run_gpu, "starts"_a, "as_int32"_a, "first_walk"_a, "device"_a, "stream"_a)
      .def("count", &bound_walker::count, "starts"_a.noconvert(), "what"_a, "first_walk"_a)
      .def_prop_ro("reasons", &bound_walker::reasons);
}

}  // namespace tendril::python
