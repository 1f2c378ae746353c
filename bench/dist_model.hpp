// How fast walks on more hosts than there are would be: a model whose inputs are measured on one host.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tendril::bench {

/// What walks on one host cost, measured.
struct walk_costs {
  double steps_per_second = 0;    ///< Of one rank that has the whole graph, with all threads of the host.
  double steps_a_superstep = 0;   ///< Of the same run: the walkers of one batch.
  double superstep_seconds = 0;   ///< Of a superstep, without its steps.
  double message_seconds = 0;     ///< Time of a core to send a message and to take in another.
  int writers = 1;                ///< Of each kind of record in a superstep: each begins chunks of its own.
  double walker_bytes = 8;        ///< A record of a walker that moves.
  double visit_bytes = 8;         ///< A record of a visited vertex, which goes to the host that asked for the walk.
  double questions_a_move = 0;    ///< Edges that a walker asks of another host, for each move to another host.
  double supersteps_a_move = 0;   ///< That a walker loses for each move, since it waits for answers.
  double work_a_move = 0;         ///< Of a move, in steps: records, questions, steps that are taken again.
  bool in_chunks = true;          ///< Records go in chunks of 4 KiB; else as they are, as those of GPUs do.
  bool homecoming_tells = false;  ///< A walker that moves to its home is its own visit.
  bool host_beside = false;       ///< GPUs take the steps while their hosts begin supersteps and send messages.
};

struct network {
  double bandwidth = 12.5e9;  ///< Bytes a second that a host sends, while it receives as many.
  double latency = 20e-6;     ///< Seconds that a message is on its way, beside its bytes.
};

/// How a graph is cut.
struct host_cut {
  std::int64_t hosts = 1;
  double crossing = 0;  ///< Share of the edges that lead to another host.
  double busiest = 1;   ///< Edges of the host that has the most, over the mean.
};

struct host_plan {
  double steps_per_second = 0;  ///< Of all hosts.
  double efficiency = 0;        ///< steps_per_second over hosts times the rate of one.
  double superstep_seconds = 0;
  double bytes_a_step = 0;  ///< That a host sends.
  std::string limit;        ///< "compute", "messages", "bandwidth" or "latency".
};

/// Chunks that one message has on average: writers share the records, and each one begins chunks of its own.
[[nodiscard]] double expected_chunks(double records, double records_a_chunk, int writers);

/// The model. All hosts take as long as the busiest one, whose share of the steps is its share of the edges: it takes
/// S = steps_a_superstep * busiest / (1 + crossing * supersteps_a_move) steps a superstep.
///
///     step    = seconds a step of one host, without superstep_seconds
///     compute = superstep_seconds + S * step * (1 + crossing * work_a_move)
///     sending = (hosts - 1) * message_seconds                     each host sends a message to each other host
///     busy    = compute + sending
///     flight  = bytes / bandwidth                                 whole chunks of 4 KiB, as the engine sends them on CPUs
///     time    = max(busy, flight, (compute + sending + flight + latency) / 2)
///
/// Where GPUs take the steps (host_beside), superstep_seconds is no part of compute but of sending, and busy is the larger of both.
///
/// The last term is that of two batches in turn: a batch can't take its next step before its messages are there, and
/// meanwhile the host has one step of the other batch to take. Messages of one superstep fly at the same time, so a
/// superstep waits for one latency. Walkers cross with the share of crossing edges; a visit leaves its host with
/// probability 1 - 1/hosts, since walks are asked for anywhere, unless its walker moves there itself.
///
/// The network has no shared links, hosts are alike, and every host asks for many batches of walks.
[[nodiscard]] host_plan plan_hosts(walk_costs const& walk, network const& net, host_cut const& cut);

}  // namespace tendril::bench
