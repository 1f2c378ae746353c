// Samplers of mini-batches. A batch: src/cpu/batches/maker.hpp. Where there are batches for all threads, each thread
// makes whole ones; else all threads work on one batch after the other.

#include <tendril/minibatch.hpp>

#include <algorithm>
#include <atomic>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // exception_keeper
#include "cpu/arguments.hpp"
#include "cpu/batches/maker.hpp"
#include "graph/places.hpp"
#include "plan/planner.hpp"
#include "samplers/batches/checks.hpp"
#include "samplers/batches/labor_sample.hpp"
#include "samplers/batches/plan.hpp"
#include "samplers/batches/state.hpp"

namespace tendril {
namespace {

/// Whether a sampler will see many batches, so that tables pay.
enum class lifetime { one_batch, many_batches };

samplers::batches_plan make_plan(hetero_graph const& graph, minibatch_params const& params, cpu_exec const& exec)
{
  return samplers::plan_batches(graph, params, [&](tendril::graph const& edges, table_limit limit) {
    return plan::context_of(edges, limit, exec);
  });
}

/// The tables of each edge type, if its choice takes any: built for many batches, taken for one where they are.
std::vector<plan::pick_tables> tables_for(hetero_graph const& graph, minibatch_params const& params, lifetime how_long,
                                          cpu_exec const& exec)
{
  auto const& types = graph.edge_types();
  std::vector<plan::pick_tables> out(types.size());
  std::vector<sampling_plan> plans;
  if (how_long == lifetime::many_batches) { plans = make_plan(graph, params, exec).edges; }
  for (std::size_t t = 0; t < types.size(); ++t) {
    tendril::graph const& edges = types[t].edges;
    if (how_long == lifetime::many_batches) {
      out[t] = plan::make_pick_tables(edges, plans[t], exec);
    } else if (samplers::choice_of(types[t], params) == samplers::edge_choice::alias) {
      out[t].alias = edges.derived().find(plan::alias_buckets_table());
      if (!out[t].alias) { out[t].sums = edges.derived().find(plan::weight_sums_table()); }
    }
  }
  return out;
}

template <class Key>
class cpu_state final : public minibatch_sampler::state {
 public:
  cpu_state(hetero_graph graph, minibatch_params the_params, cpu_exec const& exec, lifetime how_long)
      : state(std::move(graph), std::move(the_params)),
        exec_(exec),
        job_{params, input.num_vertices(), {}, {}},
        pool_(std::make_shared<cpu::block_pool>(*exec.memory))
  {
    samplers::check_neighbor_types(input, exec);
    tables_ = tables_for(input, params, how_long, exec);
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      auto const& type = input.edge_types()[t];
      job_.edge_ends.push_back({static_cast<std::size_t>(type.from), static_cast<std::size_t>(type.to)});
      cpu::edge_source source{type.edges.view(), 0, nullptr, nullptr, samplers::choice_of(type, params), {}};
      if (!type.order.empty()) {
        source.times = type.order.times.data();
        source.ordinal = type.order.ordinal.data();
      }
      bool const weighted =
          source.choice == samplers::edge_choice::race || source.choice == samplers::edge_choice::alias;
      source.rule = {params.replace, weighted, sampling_rule::uniform, &tables_[t]};
      if (weighted) { source.rule.rule = params.replace ? sampling_rule::alias : sampling_rule::scan; }
      job_.sources.push_back(source);
    }
  }
  cpu_state(cpu_state const&) = delete;
  cpu_state& operator=(cpu_state const&) = delete;
  ~cpu_state() override { pool_->close(); }

  minibatch sample(batch_seeds const& seeds, std::uint64_t batch) override
  {
    for (std::size_t t = 0; t < seeds.vertices.size(); ++t) {
      samplers::check_seed_range(input, static_cast<std::int32_t>(t), seeds.vertices[t]);
    }
    return maker(0).make(seeds, batch, exec_);
  }

  std::vector<minibatch> sample_batches(std::int32_t vertex_type, std::span<vertex_id const> seeds,
                                        std::int64_t batch_size, batch_numbers numbers,
                                        std::span<std::int64_t const> times) override
  {
    samplers::check_seed_range(input, vertex_type, seeds);
    std::int64_t const batches = (std::ssize(seeds) + batch_size - 1) / batch_size;
    std::vector<minibatch> out(static_cast<std::size_t>(batches));
    int const threads = base::num_threads(exec_);
    cpu_exec quiet = exec_;  // progress counts batches
    quiet.on_progress = {};
    auto const make = [&](std::int64_t b, cpu::minibatch_maker<Key>& by, batch_seeds& own, cpu_exec const& exec) {
      own.vertices.assign(input.num_vertices().size(), {});
      own.vertices[static_cast<std::size_t>(vertex_type)] = samplers::cut_batch(seeds, batch_size, b);
      if (!times.empty()) {
        own.times.assign(input.num_vertices().size(), {});
        own.times[static_cast<std::size_t>(vertex_type)] = samplers::cut_batch(times, batch_size, b);
      }
      out[static_cast<std::size_t>(b)] = by.make(own, numbers.of(b), exec);
    };
    if (batches < threads || threads == 1) {
      batch_seeds own;
      for (std::int64_t b = 0; b < batches; ++b) {
        base::check_cancel(exec_);
        if (exec_.on_progress) { exec_.on_progress({"sampling", b, batches}); }
        make(b, maker(0), own, quiet);
      }
      return out;
    }
    (void)maker(threads - 1);
    if (exec_.on_progress) { exec_.on_progress({"sampling", 0, batches}); }
    quiet.num_threads = 1;
    base::exception_keeper keeper;
    std::atomic<std::int64_t> next{0}, done{0};
    base::run_team(threads, [&](int member) {
      keeper.run([&] {
        batch_seeds own;
        for (std::int64_t b = next++; b < batches && !keeper.failed(); b = next++) {
          base::check_cancel(exec_);
          if (exec_.on_progress && member == 0) { exec_.on_progress({"sampling", done, batches}); }
          make(b, maker(member), own, quiet);
          ++done;
        }
      });
    });
    keeper.rethrow();
    return out;
  }

 private:
  /// That of a thread. Those up to the largest thread asked for come to be at once.
  cpu::minibatch_maker<Key>& maker(int thread)
  {
    while (std::ssize(makers_) <= thread) {
      makers_.push_back(std::make_unique<cpu::minibatch_maker<Key>>(job_, pool_));
    }
    return *makers_[static_cast<std::size_t>(thread)];
  }

  cpu_exec exec_;
  std::vector<plan::pick_tables> tables_;
  cpu::minibatch_job job_;
  std::shared_ptr<cpu::block_pool> pool_;
  std::vector<std::unique_ptr<cpu::minibatch_maker<Key>>> makers_;
};

std::unique_ptr<minibatch_sampler::state> make_state(hetero_graph graph, minibatch_params params, cpu_exec const& exec,
                                                     lifetime how_long)
{
  validation::expect_in_host_memory(graph, ", or a gpu_exec");
  samplers::check_minibatch(graph, params);
  if (params.disjoint) {
    return std::make_unique<cpu_state<std::uint64_t>>(std::move(graph), std::move(params), exec, how_long);
  }
  return std::make_unique<cpu_state<std::uint32_t>>(std::move(graph), std::move(params), exec, how_long);
}

}  // namespace

minibatch_sampler::minibatch_sampler(hetero_graph graph, minibatch_params params, cpu_exec const& exec)
    : state_(make_state(std::move(graph), std::move(params), exec, lifetime::many_batches))
{
}

sampling_plan plan_minibatch(hetero_graph const& graph, minibatch_params const& params, cpu_exec const& exec)
{
  validation::expect_in_host_memory(graph, ", or a gpu_exec");
  samplers::check_minibatch(graph, params);
  return make_plan(graph, params, exec).whole;
}

minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds, minibatch_params const& params,
                          cpu_exec const& exec, std::uint64_t batch)
{
  auto const state = make_state(hetero_graph(graph), params, exec, lifetime::one_batch);
  batch_seeds const own{{seeds}};
  samplers::check_batch_seeds(state->input, own);
  return state->sample(own, batch);
}

labor_batch labor_sample(graph const& graph, std::span<vertex_id const> seeds, labor_params const& params,
                         cpu_exec const& exec)
{
  minibatch const made = neighbor_sample(graph, seeds, samplers::minibatch_of(params), exec, params.batch);
  return samplers::labor_batch_of(made, *exec.memory,
                                  [](auto const* from, auto* to, std::int64_t size) { std::copy_n(from, size, to); });
}

}  // namespace tendril
