// Whichever way records go between GPUs, walks, trees, mini-batches and rows are those of one process: on 2 ranks and more, up to as
// many as there are GPUs, so that each has one for itself, and on parts in CSR form and compressed ones. With fewer GPUs records go
// by way of host memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/sharded_features.hpp>
#include <tendril/sharded_khop.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/sharded_walk.hpp>
#include <tendril/walk_parts.hpp>  // walks_of

#include "gpu/batches/minibatch_support.hpp"
#include "gpu/device/check.hpp"
#include "gpu/features/matrix_of.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/nccl.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/scoped_variable.hpp"
#include "support/small_graphs.hpp"
#include "support/table_limits.hpp"
#include "support/walk_rows.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t first_logical_id = 0xfffffff0LL;  // logical ids cross 2^32
constexpr std::int64_t row_bytes = 36;

/// What a rank does on its part of a graph: everything is compared with the same job of one process.
class rank_jobs {
 public:
  rank_jobs(graph const& g, transport& ranks, gpu_exec const& exec)
      : g_(g),
        ranks_(ranks),
        exec_(exec),
        part_(part_of(g, {.num_parts = ranks.size()}, ranks.rank())),
        mine_(walks_of({ranks.rank(), ranks.size()}, g.num_vertices()))
  {
    for (std::int64_t i = 0; i < mine_.size; ++i) { own_.push_back(static_cast<vertex_id>(mine_.first + i)); }
  }

  void walks_equal(walk_params const& params) const
  {
    sharded_walker walk(part_, params, with_tables, ranks_, exec_);
    tendril::walks const made = walk.run(on_gpu(own_, exec_).span(), first_logical_id + mine_.first, exec_);
    rows const expected = copied_rows(walker(g_, params, with_tables).run(own_, first_logical_id + mine_.first));
    EXPECT_EQ((rows{copied(made.vertices), copied(made.lengths)}), expected);
  }

  void trees_equal(khop_params const& params) const
  {
    sharded_khop_sampler sampler(part_, params, ranks_, exec_);
    khop_trees const made = sampler.sample(on_gpu(own_, exec_).span(), exec_, first_logical_id + mine_.first, true);
    khop_trees const expected = khop_sample(g_, own_, params, {.num_threads = 1}, first_logical_id + mine_.first, true);
    ASSERT_EQ(made.hops.size(), expected.hops.size());
    for (std::size_t h = 0; h < expected.hops.size(); ++h) {
      EXPECT_EQ(copied(made.hops[h].vertices), copied(expected.hops[h].vertices)) << "hop " << h + 1;
      EXPECT_EQ(copied(made.hops[h].edges), copied(expected.hops[h].edges)) << "hop " << h + 1;
    }
  }

  void batches_equal(minibatch_params const& params) const
  {
    sharded_minibatch_sampler sampler(part_, params, ranks_, exec_);
    minibatch_sampler whole(hetero_graph(g_), params, {.num_threads = 1});
    batch_numbers const numbers{0xfffffffffULL + static_cast<std::uint64_t>(mine_.first), 3};
    auto const made = sampler.sample_batches(on_gpu(own_, exec_).span(), 50, numbers, exec_);
    EXPECT_EQ(difference(copied_lists(whole.sample_batches(0, own_, 50, numbers)), copied_lists(made)), "");
  }

  void rows_equal() const
  {
    std::vector<std::byte> bytes(static_cast<std::size_t>(g_.num_vertices() * row_bytes));
    for (std::size_t i = 0; i < bytes.size(); ++i) { bytes[i] = static_cast<std::byte>(i * 31 % 253); }
    feature_table const whole(bytes, {"uint8", {g_.num_vertices(), row_bytes}});
    std::vector<std::int64_t> bounds;
    for (int r = 0; r <= ranks_.size(); ++r) { bounds.push_back(g_.num_vertices() * r / ranks_.size()); }
    auto const r = static_cast<std::size_t>(ranks_.rank());
    feature_table const here = slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]);
    sharded_features table(to_gpu(here, exec_), bounds, ranks_, exec_);
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < 5000; ++i) { ids.push_back((i * 7919 + ranks_.rank()) % g_.num_vertices()); }
    auto const there = on_gpu(ids, exec_);
    buffer<std::byte> out(std::ssize(ids) * row_bytes, memory_of(exec_));
    table.gather(matrix_of(there), out.span(), exec_);
    std::vector<std::byte> expected(ids.size() * row_bytes);
    gather(whole, std::span<std::int64_t const>(ids), expected);
    EXPECT_EQ(copied(out), expected);
  }

 private:
  graph const& g_;
  transport& ranks_;
  gpu_exec exec_;
  graph_part part_;
  walk_range mine_;
  std::vector<vertex_id> own_;
};

class PartWays : public gpu_test {};

TEST_F(PartWays, MakeTheBytesOfOneProcess)
{
  graph const csr = generate_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, {.symmetrize = true},
                                  {.has_weights = true, .weight_sigma = 2});
  for (graph const& g : {csr, compress(csr, graph_form::best)}) {
    for (std::string const way : {"peers", "nccl", "host"}) {
      scoped_variable const wanted("TENDRIL_GPU_MESSAGES", way);
      for (int n = 2; n <= std::max(2, num_gpus()); ++n) {
        std::string name;
        run_ranks(
            n,
            [&](transport& ranks) {
              gpu_exec const exec(ranks.rank() % num_gpus());
              gpu::device_guard const guard(exec.device);
              auto const held = gpu::connect_gpus(ranks, exec.device);  // all jobs share it
              SCOPED_TRACE(held->name() + ", " + std::to_string(n) + " ranks, " +
                           (g.form() == graph_form::csr ? "CSR" : "compressed"));
              rank_jobs const jobs(g, ranks, exec);
              jobs.walks_equal({.length = 12});
              jobs.walks_equal({.length = 8, .weighted = true, .p = 2, .q = 0.5});
              jobs.trees_equal({.fanouts = {7, 3}, .weighted = true});
              jobs.batches_equal({.num_neighbors = {10, 5}});
              jobs.rows_equal();
              if (ranks.rank() == 0) { name = held->name(); }
            },
            transport::seconds(60));
        if (way == "host" || num_gpus() < n) { EXPECT_EQ(name, "host memory"); }
        if (way == "nccl" && num_gpus() >= n && gpu::nccl_library::get() != nullptr) {
          EXPECT_TRUE(name.starts_with("NCCL ")) << name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tendril::test
