#include <tendril/sharded_khop.hpp>

#include <array>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "dist/agreement.hpp"
#include "dist/trees/asked_neighbors.hpp"
#include "dist/trees/trees_of_ranks.hpp"
#include "plan/planner.hpp"
#include "samplers/trees/gpu_ranks.hpp"
#include "samplers/trees/khop_checks.hpp"

namespace tendril {
namespace dist {
namespace {

/// What all ranks must agree on.
std::array<job_line, 3> description_of(partition_info const& whole, khop_params const& p)
{
  return {wire_line(), graph_line("samples from", whole),
          job_line{"makes", fmt::format("trees of fan-outs {}, replace {}, weighted {}, rule {}, seed {}",
                                        fmt::join(p.fanouts, ","), p.replace, p.weighted, to_string(p.rule), p.seed)}};
}

/// @throws argument_error  as samplers::check_khop. @return the parameters without weights that nothing has.
khop_params checked(partition_info const& whole, khop_params params)
{
  validate(params);
  TENDRIL_EXPECTS(!params.weighted || whole.has_weights || whole.num_edges == 0,
                  "weighted: the graph has no weights, expected one an edge");
  if (whole.num_edges == 0) { params.weighted = false; }
  return params;
}

/// A rank's part, ready to sample from. It stays as long as anybody asks for it.
struct part_of_trees {
  part_of_trees(graph_part the_part, khop_params the_params, cpu_exec const& exec)
      : params(std::move(the_params)), here(std::move(the_part))
  {
    constexpr std::int64_t many = std::int64_t{1} << 32;  // roots: what a sampler is for
    sampling_plan const plan = plan::make_khop_plan(here.rows, params, many, exec);
    tables = plan::make_pick_tables(here.rows, plan, exec);
    rule = {params.replace, params.weighted, plan.rule, &tables};
  }
  part_of_trees(part_of_trees const&) = delete;
  part_of_trees& operator=(part_of_trees const&) = delete;

  khop_params params;
  shard here;
  plan::pick_tables tables;
  cpu::pick_rule rule;
};

}  // namespace
}  // namespace dist

struct sharded_khop_sampler::state {
  state(std::shared_ptr<dist::part_of_trees const> the_part, cpu_exec const& the_exec)
      : exec(the_exec), part(std::move(the_part)), own(std::in_place, part->here, part->params, part->rule)
  {
  }
  state(std::unique_ptr<samplers::trees_on_gpu_ranks> the_trees, transport& all)
      : calls(&all), on_gpu(std::move(the_trees))
  {
  }
  state(state const&) = delete;
  state& operator=(state const&) = delete;
  ~state()
  {
    if (withdraw) { withdraw(); }
  }

  transport* calls = nullptr;  // null by a service, whose calls are each rank's own
  cpu_exec exec;
  std::shared_ptr<dist::part_of_trees const> part;
  std::optional<dist::asked_neighbors> own;
  std::unique_ptr<dist::exchange> ranks;
  std::function<void()> withdraw;
  std::unique_ptr<samplers::trees_on_gpu_ranks> on_gpu;  // instead of all of these but calls
};

sharded_khop_sampler::sharded_khop_sampler(graph_part part, khop_params params, transport& ranks, cpu_exec const& exec)
{
  ranks.or_refuse([&] {
    dist::expect_own_part(ranks.rank(), ranks.size(), part);
    params = dist::checked(part.info, std::move(params));
  });
  dist::expect_same(ranks, "what is sampled", dist::description_of(part.info, params));
  cpu_exec planning = exec;
  planning.on_progress = [&](progress const& done) {
    if (exec.on_progress) { exec.on_progress(done); }
    ranks.beat();
  };
  state_ = std::make_unique<state>(
      std::make_shared<dist::part_of_trees const>(std::move(part), std::move(params), planning), exec);
  state_->ranks = dist::exchange_in_calls(ranks, *state_->own, state_->exec);
  state_->calls = &ranks;
}

sharded_khop_sampler::sharded_khop_sampler(graph_part part, khop_params params, rank_service& ranks,
                                           cpu_exec const& exec)
{
  dist::expect_own_part(ranks.rank(), ranks.size(), part);
  params = dist::checked(part.info, std::move(params));
  auto const lines = dist::description_of(part.info, params);
  auto const here = std::make_shared<dist::part_of_trees const>(std::move(part), std::move(params), exec);
  auto const for_others = std::make_shared<dist::asked_neighbors>(here->here, here->params, here->rule);
  cpu_exec serving;
  serving.num_threads = exec.num_threads;
  int const service =
      ranks.offer(dist::text_of(lines), dist::verbs_of(lines), [=](message const& asked, message_pool& pool) {
        (void)here;  // which the answers come from
        return std::move(for_others->answer(std::span(&asked, 1), pool, serving)[0]);
      });
  state_ = std::make_unique<state>(here, exec);
  state_->ranks = dist::exchange_by_service(ranks, service, *state_->own, state_->exec);
  state_->withdraw = [&ranks, service] { ranks.withdraw(service); };
}

void sharded_khop_sampler::expect_gpus_take(khop_params const& params)
{
  validate(params);
  // Slots that a hop expands are numbered by 32 bits. Those of hops behind one of all neighbours are counted as they come.
  std::int64_t parents = 1;  // of a tree: no more than validate allows
  for (std::size_t h = 0; h + 1 < params.fanouts.size() && params.fanouts[h] != -1; ++h) {
    parents *= params.fanouts[h];
    TENDRIL_EXPECTS(parents < std::int64_t{1} << 31U,
                    "fan-outs: a tree has {} slots before hop {}, expected fewer than 2^31", parents, h + 2);
  }
}

sharded_khop_sampler::sharded_khop_sampler(graph_part part, khop_params params, transport& ranks, gpu_exec const& exec)
{
  ranks.or_refuse([&] {
    expect_gpus_take(params);
    dist::expect_own_part(ranks.rank(), ranks.size(), part);
    params = dist::checked(part.info, std::move(params));
  });
  dist::expect_same(ranks, "what is sampled", dist::description_of(part.info, params));
  dist::shard const here(std::move(part));
  state_ = std::make_unique<state>(samplers::make_trees_on_gpu_ranks(here.part, here.rows, params, ranks, exec), ranks);
}

sharded_khop_sampler::~sharded_khop_sampler() = default;
sharded_khop_sampler::sharded_khop_sampler(sharded_khop_sampler&&) noexcept = default;
sharded_khop_sampler& sharded_khop_sampler::operator=(sharded_khop_sampler&&) noexcept = default;

khop_trees sharded_khop_sampler::sample(std::span<vertex_id const> seeds, std::int64_t first_root, bool with_edges)
{
  return dist::checked_call(
      state_->calls,
      [&] {
        TENDRIL_EXPECTS(!state_->on_gpu, "sharded_khop_sampler: it was made for a GPU, expected a gpu_exec");
        samplers::check_first_root(first_root);
        dist::expect_vertices("seed", seeds, state_->part->here.part.info);
      },
      [&] {
        dist::trees_of_ranks source(state_->part->here, *state_->ranks);
        return cpu::grow_trees(seeds, {state_->part->params, std::ssize(seeds), first_root, with_edges, state_->exec},
                               source);
      });
}

khop_trees sharded_khop_sampler::sample(std::span<vertex_id const> seeds, gpu_exec const& exec, std::int64_t first_root,
                                        bool with_edges)
{
  return dist::checked_call(
      state_->calls,
      [&] {
        TENDRIL_EXPECTS(state_->on_gpu, "sharded_khop_sampler: it was made for CPUs, expected a cpu_exec");
        samplers::check_first_root(first_root);
      },
      [&] { return state_->on_gpu->sample(seeds, first_root, with_edges, exec); });
}

}  // namespace tendril
