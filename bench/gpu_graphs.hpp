#pragma once

#include <string>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::bench {

/// A graph of the benchmarks in GPU memory, by name, the same for everyone who names it: symmetrised, without duplicates
/// and self loops, weights uniform in [1, 5), edge labels 0 to 4.
///
/// R-MAT (a .57, b .19, c .19), edges a vertex before building:
///   g1      scale 20, 16, without isolated vertices; g1l: the same with lognormal(0, 3) weights
///   g2      scale 22, 32, without isolated vertices
///   rmat24  scale 24, 16
///
/// Power laws of the size and largest degree of graphs that papers on GPU walks measure (FlowWalker, VLDB'24, table 1).
/// The mean degree over edges is what a step of a walk meets.
///   name         vertices  edges    largest degree  mean degree over edges
///   youtube       1.1 M     6.0 M    28.7 K            770
///   patents       3.8 M    33 M         793             15
///   livejournal   4.8 M    86 M      20 K              210
///   orkut         3.07 M  234 M      33.3 K            370
///   twitter      42 M     2.4 G       3 M           72,000
///   friendster   65.6 M   3.6 G       5.2 K            330
///
/// The same for the graphs that GNNs are trained on (edges in both directions):
///   products      2.4 M   124 M      17.5 K            430
///   reddit        233 K   115 M      21.7 K          1,700
///   papers100m    111 M   3.2 G       251 K            850
///
/// rmat:SCALE[:EDGE_FACTOR] is the graph that the benchmarks of the CPU make of this specification.
///
/// web:VERTICES[xEDGE_FACTOR][:FORM] is a web-like graph (generate_web), without weights and labels, made in its form.
///
/// Any other name is a file: it is read, and copied to the GPU as it is. Synchronises.
/// @throws what reading throws; device_error; memory_error, before anything starts, where the GPU has no room.
[[nodiscard]] graph make_bench_graph(std::string const& name, gpu_exec const& exec);

/// [num_vertices + 1]: the number of each vertex' first edge, and the number of edges, in host memory. Synchronises.
[[nodiscard]] std::vector<edge_id> first_edges_of(graph const& graph, gpu_exec const& exec);

}  // namespace tendril::bench
