#include "bench/dist_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "dist/records.hpp"

namespace tendril::bench {
namespace {

constexpr auto chunk_bytes = static_cast<double>(dist::chunk_bytes);
constexpr double head_bytes = sizeof(message_header) + sizeof(dist::superstep_head);

/// Records of one kind that a host writes for all others in a superstep.
struct record_flow {
  double records, bytes;
};

double bytes_in_chunks(record_flow const& flow, double others, int writers)
{
  double const a_chunk = std::floor((chunk_bytes - sizeof(dist::chunk_head)) / flow.bytes);
  return others * chunk_bytes * expected_chunks(flow.records / others, a_chunk, writers);
}

}  // namespace

double expected_chunks(double records, double records_a_chunk, int writers)
{
  double const of_one = records / writers;
  return writers * std::ceil(of_one / records_a_chunk) *
         -std::expm1(-of_one);  // a writer without a record has no chunk
}

host_plan plan_hosts(walk_costs const& walk, network const& net, host_cut const& cut)
{
  auto const hosts = static_cast<double>(cut.hosts);
  double const others = hosts - 1;
  double const alone = walk.steps_a_superstep / walk.steps_per_second;
  double const of_host = std::min(walk.superstep_seconds, alone);  // a superstep was no longer than it was
  double const fixed = walk.host_beside ? 0 : of_host;
  double const step = (alone - fixed) / walk.steps_a_superstep;
  double const mean_steps = walk.steps_a_superstep / (1 + cut.crossing * walk.supersteps_a_move);
  double const steps = mean_steps * cut.busiest;

  double bytes = 0;
  if (others > 0) {
    double const moves = steps * cut.crossing;
    double const home =
        walk.homecoming_tells ? cut.crossing / others : 0;  // of walkers that are away, those that go home
    std::array const flows{record_flow{moves, walk.walker_bytes},
                           record_flow{steps * others / hosts * (1 - home), walk.visit_bytes},
                           record_flow{moves * walk.questions_a_move, sizeof(dist::question)},
                           record_flow{moves * walk.questions_a_move, sizeof(dist::answer)}};
    bytes = others * head_bytes;
    for (record_flow const& f : flows) {
      bytes += walk.in_chunks ? bytes_in_chunks(f, others, walk.writers) : f.records * f.bytes;
    }
  }

  double const compute = fixed + steps * step * (1 + cut.crossing * walk.work_a_move);
  double const sending = (walk.host_beside ? of_host : 0) + others * walk.message_seconds;
  double const busy = walk.host_beside ? std::max(compute, sending) : compute + sending;
  double const flight = bytes / net.bandwidth;
  double const turn = others > 0 ? (compute + sending + flight + net.latency) / 2 : 0;
  host_plan out;
  out.superstep_seconds = std::max({busy, flight, turn});
  out.steps_per_second = hosts * mean_steps / out.superstep_seconds;
  out.efficiency = out.steps_per_second / (hosts * walk.steps_per_second);
  out.bytes_a_step = bytes / steps;
  out.limit = turn > std::max(busy, flight) ? "latency"
              : flight > busy               ? "bandwidth"
              : sending > compute           ? "messages"
                                            : "compute";
  return out;
}

}  // namespace tendril::bench
