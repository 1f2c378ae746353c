#include <tendril/sharded_minibatch.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // num_threads
#include "dist/agreement.hpp"
#include "dist/batches/asked_edges.hpp"
#include "dist/batches/batches_of_ranks.hpp"
#include "dist/shard.hpp"
#include "plan/planner.hpp"
#include "samplers/batches/checks.hpp"
#include "samplers/batches/gpu_ranks.hpp"
#include "samplers/batches/plan.hpp"

namespace tendril {
namespace dist {
namespace {

/// What all ranks must agree on.
std::array<job_line, 3> description_of(partition_info const& whole, minibatch_params const& p)
{
  auto const& fanouts = p.num_neighbors_of_type.empty() ? p.num_neighbors : p.num_neighbors_of_type[0];
  return {
      wire_line(), graph_line("samples from", whole),
      job_line{"makes",
               fmt::format("batches of fan-outs {}, replace {}, weighted {}, disjoint {}, subgraph {}, frontier {}, "
                           "choice {}, normalize {}, layer dependency {}, batch dependency {}, seed {}",
                           fmt::join(fanouts, ","), p.replace, p.weighted, p.disjoint, to_string(p.subgraph),
                           to_string(p.frontier), to_string(p.choice), p.normalize, p.layer_dependency,
                           p.batch_dependency, p.seed)}};
}

/// @throws argument_error  as samplers::check_minibatch, for a graph of one type and without times.
void check(partition_info const& whole, minibatch_params const& params)
{
  validate(params);
  TENDRIL_EXPECTS(params.num_neighbors_of_type.size() <= 1,
                  "num_neighbors_of_type: {} lists, expected one: a graph in parts has one edge type",
                  params.num_neighbors_of_type.size());
  TENDRIL_EXPECTS(!params.weighted || whole.has_weights || whole.num_edges == 0,
                  "weighted: the graph has no weights, expected one an edge");
}

void expect_batch_size(std::int64_t batch_size)
{
  TENDRIL_EXPECTS(batch_size >= 1 && batch_size < 0xffffffffLL, "batch_size: {}, expected 1 to 4294967294", batch_size);
}

/// Batches that a rank makes at once: enough for its threads, and for messages that are worth sending.
std::int64_t batches_at_once(minibatch_params const& params, std::int64_t batch_size, int threads)
{
  constexpr std::int64_t slots_of_messages = std::int64_t{1} << 20;
  constexpr std::int64_t most = 64;
  std::int64_t slots = batch_size;
  for (std::int64_t h = 0; h < samplers::hops_of(params) && slots < slots_of_messages; ++h) {
    std::int64_t const fanout = samplers::fanout_of(params, 0, h);
    slots = fanout < 0 ? slots_of_messages : slots * (fanout + 1);
  }
  return threads * std::clamp<std::int64_t>(slots_of_messages / std::max<std::int64_t>(slots, 1), 1, most);
}

/// A rank's part, ready to sample from. It stays as long as anybody asks for it.
struct sampled_part {
  sampled_part(graph_part the_part, minibatch_params the_params, cpu_exec const& exec)
      : params(std::move(the_params)),
        here(std::move(the_part)),
        job{params, {here.part.info.num_vertices}, {{0, 0}}, {}}
  {
    edge_type const edges{0, 0, here.rows, {}};
    cpu::edge_source source{here.rows.view(), here.first(), nullptr, nullptr, samplers::choice_of(edges, params), {}};
    bool const weighted = source.choice == samplers::edge_choice::race || source.choice == samplers::edge_choice::alias;
    sampling_plan const plan =
        samplers::plan_edges(plan::context_of(here.rows, params.table_bytes, exec), source.choice, params.replace);
    tables = plan::make_pick_tables(here.rows, plan, exec);
    source.rule = {params.replace, weighted, sampling_rule::uniform, &tables};
    if (weighted) { source.rule.rule = params.replace ? sampling_rule::alias : sampling_rule::scan; }
    job.sources.push_back(source);
  }
  sampled_part(sampled_part const&) = delete;
  sampled_part& operator=(sampled_part const&) = delete;

  minibatch_params params;
  shard here;
  plan::pick_tables tables;
  cpu::minibatch_job job;
};

}  // namespace
}  // namespace dist

struct sharded_minibatch_sampler::state {
  state(std::shared_ptr<dist::sampled_part const> the_part, cpu_exec const& the_exec)
      : exec(the_exec),
        part(std::move(the_part)),
        own(dist::make_asked_edges(part->job, part->here)),
        pool(std::make_shared<cpu::block_pool>(*exec.memory))
  {
  }
  /// On a GPU, which has all else.
  state(minibatch_params the_params, std::unique_ptr<samplers::batches_on_gpu_ranks> the_batches, transport& all)
      : calls(&all), gpu_params(std::move(the_params)), on_gpu(std::move(the_batches))
  {
  }
  state(state const&) = delete;
  state& operator=(state const&) = delete;
  ~state()
  {
    if (withdraw) { withdraw(); }
    if (pool) { pool->close(); }
  }

  /// @param ranks  Makes the exchange of each of two halves.
  template <class MakeExchange>
  void connect(MakeExchange make)
  {
    for (auto& one : in_turn) {
      one = dist::make_batches_of_ranks({part->here, part->job, exec}, make(), pool, counts);
    }
    rounds = make();
  }

  std::vector<minibatch> sample(std::span<vertex_id const> seeds, std::int64_t batch_size, batch_numbers numbers);

  /// What `make` makes, in the report.
  template <class Make>
  std::vector<minibatch> reported(Make make)
  {
    transport_report const before = told();
    std::vector<minibatch> out = make();
    transport_report const after = told();
    report.num_batches += std::ssize(out);
    report.sent_bytes += after.sent_bytes - before.sent_bytes;
    report.waited_seconds += after.waited_seconds - before.waited_seconds;
    return out;
  }

  transport* calls = nullptr;  // null by a service, whose calls are each rank's own
  cpu_exec exec;
  std::shared_ptr<dist::sampled_part const> part;
  std::unique_ptr<dist::answerer> own;
  std::shared_ptr<cpu::block_pool> pool;
  dist::batch_counts counts;
  std::array<std::unique_ptr<dist::batches_of_ranks>, 2> in_turn;
  std::unique_ptr<dist::exchange> rounds;  // which only counts
  std::function<transport_report()> told;  // by what carries the messages
  std::function<void()> withdraw;
  minibatch_params gpu_params;
  std::unique_ptr<samplers::batches_on_gpu_ranks> on_gpu;  // instead of all of these but calls and told
  sharded_minibatch_report report;
};

std::vector<minibatch> sharded_minibatch_sampler::state::sample(std::span<vertex_id const> seeds,
                                                                std::int64_t batch_size, batch_numbers numbers)
{
  std::int64_t const num_batches = (std::ssize(seeds) + batch_size - 1) / batch_size;
  std::int64_t const at_once = dist::batches_at_once(part->params, batch_size, base::num_threads(exec));
  std::int64_t const num_rounds = rounds->rounds((num_batches + at_once - 1) / at_once);
  std::vector<minibatch> out;
  out.reserve(static_cast<std::size_t>(num_batches));
  std::vector<dist::wanted_batch> wanted;
  auto const begin = [&](dist::batches_of_ranks& some, std::int64_t round) {
    wanted.clear();
    for (std::int64_t b = round * at_once; b < std::min((round + 1) * at_once, num_batches); ++b) {
      wanted.push_back({samplers::cut_batch(seeds, batch_size, b), numbers.of(b)});
    }
    some.begin(wanted);
  };
  for (std::int64_t round = 0; round < num_rounds; round += 2) {
    auto const some = std::span(in_turn).first(static_cast<std::size_t>(std::min<std::int64_t>(num_rounds - round, 2)));
    for (std::size_t k = 0; k < some.size(); ++k) { begin(*some[k], round + static_cast<std::int64_t>(k)); }
    for (bool goes_on = true; goes_on;) {
      for (auto const& one : some) { one->serve(); }
      for (auto const& one : some) { goes_on = one->take(); }
    }
    for (auto const& one : some) {
      for (minibatch& made : one->finish()) { out.push_back(std::move(made)); }
    }
    if (exec.on_progress) { exec.on_progress({"sampling", std::ssize(out), num_batches}); }
  }
  return out;
}

sharded_minibatch_sampler::sharded_minibatch_sampler(graph_part part, minibatch_params params, transport& ranks,
                                                     cpu_exec const& exec)
{
  ranks.or_refuse([&] {
    dist::expect_own_part(ranks.rank(), ranks.size(), part);
    dist::check(part.info, params);
  });
  dist::expect_same(ranks, "what is sampled", dist::description_of(part.info, params));
  cpu_exec planning = exec;
  planning.on_progress = [&](progress const& done) {
    if (exec.on_progress) { exec.on_progress(done); }
    ranks.beat();
  };
  state_ = std::make_unique<state>(
      std::make_shared<dist::sampled_part const>(std::move(part), std::move(params), planning), exec);
  state_->connect([&] { return dist::exchange_in_calls(ranks, *state_->own, state_->exec); });
  state_->calls = &ranks;
  state_->told = [&ranks] { return ranks.report(); };
}

sharded_minibatch_sampler::sharded_minibatch_sampler(graph_part part, minibatch_params params, rank_service& ranks,
                                                     cpu_exec const& exec)
{
  dist::expect_own_part(ranks.rank(), ranks.size(), part);
  dist::check(part.info, params);
  auto const lines = dist::description_of(part.info, params);
  auto const here = std::make_shared<dist::sampled_part const>(std::move(part), std::move(params), exec);
  std::shared_ptr<dist::answerer> const for_others = dist::make_asked_edges(here->job, here->here);
  cpu_exec serving;
  serving.num_threads = exec.num_threads;
  int const service =
      ranks.offer(dist::text_of(lines), dist::verbs_of(lines), [=](message const& asked, message_pool& pool) {
        (void)here;  // which the answers come from
        return std::move(for_others->answer(std::span(&asked, 1), pool, serving)[0]);
      });
  state_ = std::make_unique<state>(here, exec);
  state_->connect([&] { return dist::exchange_by_service(ranks, service, *state_->own, state_->exec); });
  state_->told = [&ranks] { return transport_report{.sent_bytes = ranks.sent_bytes()}; };
  state_->withdraw = [&ranks, service] { ranks.withdraw(service); };
}

sharded_minibatch_sampler::sharded_minibatch_sampler(graph_part part, minibatch_params params, transport& ranks,
                                                     gpu_exec const& exec)
{
  ranks.or_refuse([&] {
    dist::expect_own_part(ranks.rank(), ranks.size(), part);
    dist::check(part.info, params);
  });
  dist::expect_same(ranks, "what is sampled", dist::description_of(part.info, params));
  dist::shard const here(std::move(part));
  auto batches = samplers::make_batches_on_gpu_ranks(here.part, here.rows, params, ranks, exec);
  state_ = std::make_unique<state>(std::move(params), std::move(batches), ranks);
  state_->told = [&ranks] { return ranks.report(); };
}

sharded_minibatch_sampler::~sharded_minibatch_sampler() = default;
sharded_minibatch_sampler::sharded_minibatch_sampler(sharded_minibatch_sampler&&) noexcept = default;
sharded_minibatch_sampler& sharded_minibatch_sampler::operator=(sharded_minibatch_sampler&&) noexcept = default;

minibatch_params const& sharded_minibatch_sampler::params() const noexcept
{
  return state_->on_gpu ? state_->gpu_params : state_->part->params;
}
sharded_minibatch_report const& sharded_minibatch_sampler::report() const noexcept { return state_->report; }

std::vector<minibatch> sharded_minibatch_sampler::sample_batches(std::span<vertex_id const> seeds,
                                                                 std::int64_t batch_size, batch_numbers numbers)
{
  std::vector<minibatch> out = dist::checked_call(
      state_->calls,
      [&] {
        TENDRIL_EXPECTS(!state_->on_gpu, "sharded_minibatch_sampler: it was made for a GPU, expected a gpu_exec");
        dist::expect_batch_size(batch_size);
        dist::expect_vertices("seed", seeds, state_->part->here.part.info);
      },
      [&] { return state_->reported([&] { return state_->sample(seeds, batch_size, numbers); }); });
  state_->report.edges = state_->counts.edges;
  state_->report.asked = state_->counts.asked;
  state_->report.asked_away = state_->counts.asked_away;
  return out;
}

std::vector<minibatch> sharded_minibatch_sampler::sample_batches(std::span<vertex_id const> seeds,
                                                                 std::int64_t batch_size, batch_numbers numbers,
                                                                 gpu_exec const& exec)
{
  return dist::checked_call(
      state_->calls,
      [&] {
        TENDRIL_EXPECTS(state_->on_gpu, "sharded_minibatch_sampler: it was made for CPUs, expected a cpu_exec");
        dist::expect_batch_size(batch_size);
      },
      [&] {
        return state_->reported(
            [&] { return state_->on_gpu->sample_batches(seeds, batch_size, numbers, state_->report, exec); });
      });
}

minibatch sharded_minibatch_sampler::sample(std::span<vertex_id const> seeds, std::uint64_t batch)
{
  TENDRIL_EXPECTS(!seeds.empty(), "seeds: none, expected at least one");
  return std::move(sample_batches(seeds, std::ssize(seeds), {batch, 1})[0]);
}

}  // namespace tendril
