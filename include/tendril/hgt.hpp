#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/batch_numbers.hpp>
#include <tendril/exec.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/minibatch.hpp>  // batch_seeds, minibatch

// HGSampling: mini-batches with as many vertices of each type as asked for, densely connected (Hu, Dong, Wang and Sun,
// "Heterogeneous graph transformer", WWW'20, section 4.3, algorithms 1 and 2).

namespace tendril {

struct hgt_params {
  /// [vertex types][hops]: the vertices that each hop adds, >= 0. Every vertex type has the same number of hops.
  std::vector<std::vector<std::int64_t>> num_samples;
  std::uint64_t seed = 0;
};

/// Checks the parameters, without a graph. @throws argument_error for a parameter out of range, as every call that takes
/// them.
void validate(hgt_params const& params);

/// Samples one batch. Every vertex outside of the batch has a budget: each edge v -> s of a vertex v of the batch adds
/// 1 / d to the budget of s, where d is the number of v's edges of that type. Hop h draws num_samples[t][h] vertices of
/// each type t, one after another without replacement, in proportion to the squares of their budgets, or all vertices
/// that have a budget, if there are no more. All types draw from the budgets that the earlier hops left. The drawn
/// vertices join the batch and add to the budgets for the next hop. The edges of the batch are all edges of the graph
/// between its vertices.
///
/// Vertices are numbered type by type: the seeds, then hop by hop in the order of the draws. A seed that is given twice is
/// one vertex. Edges are ordered by row, then by their position in the graph; `indptr` is their CSR, as in an induced
/// batch of a minibatch_sampler, and `num_sampled` of edges is empty. Parallel edges count as often as they are there;
/// weights have no effect.
///
/// The batch depends only on the graph, the parameters, the seeds and the batch number: every vertex has one random
/// number for each (batch, hop), so neither the threads nor the order of the seeds change the vertices that a hop draws.
/// Synchronous. A batch reads each list of its vertices twice (those of the last hop once), whole, at any degree.
/// @param seeds  Of each vertex type, without times.
/// @throws argument_error  a parameter out of range; not one list of num_samples, or of seeds, for each vertex type; a seed
///                         out of range; a graph with times; a graph that is elsewhere; more than 2^23 lists to add to
///                         budgets; memory_error.
[[nodiscard]] minibatch hgt_sample(hetero_graph const& graph, batch_seeds const& seeds, hgt_params const& params,
                                   cpu_exec const& exec = {}, std::uint64_t batch = 0);

/// Samples the batches of these numbers: each takes the next `batch_size` seeds, of type `vertex_type`; the last batch may
/// have fewer. The batches equal those of single calls. If there are batches for all threads, each thread makes whole ones.
/// @throws as above; a batch size < 1.
[[nodiscard]] std::vector<minibatch> hgt_sample_batches(hetero_graph const& graph, std::int32_t vertex_type,
                                                        std::span<vertex_id const> seeds, std::int64_t batch_size,
                                                        hgt_params const& params, cpu_exec const& exec = {},
                                                        batch_numbers numbers = {});

}  // namespace tendril
