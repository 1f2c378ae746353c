// What the suites of placed graphs share: graphs without weights and labels in host memory, of whose lists a share lies on
// the GPU, for each share that is asked for.

#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/place.hpp>

#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"

namespace tendril::bench {

/// The graph of a name in host memory, without weights and labels.
inline graph bare_graph(std::string const& name, gpu_exec const& exec)
{
  graph const whole = to_host(make_bench_graph(name, exec), exec);
  graph_arrays arrays;
  arrays.indptr = whole.arrays().indptr;
  arrays.indices = whole.arrays().indices;
  arrays.compressed = whole.arrays().compressed;
  arrays.symmetric = whole.arrays().symmetric;
  return graph(std::move(arrays), whole.content());
}

/// The same in a compressed form: packed, if it has none.
inline graph in_lists(graph const& g, cpu_exec const& exec)
{
  return g.form() == graph_form::csr ? compress(g, graph_form::packed, exec) : g;
}

/// What the lists of a graph take.
struct list_bytes {
  std::int64_t directory = 0, lists = 0;

  explicit list_bytes(compressed_lists const& of)
      : directory(of.num_bytes() - 4 * of.words.size()), lists(4 * of.words.size())
  {
  }
  /// place_params::gpu_bytes for a share of the lists.
  [[nodiscard]] std::int64_t with_share(double share) const
  {
    return directory + static_cast<std::int64_t>(share * static_cast<double>(lists));
  }
};

/// The numbers of a list as `options::gpu_share`. @throws argument_error for anything but numbers from 0 to 1.
inline std::vector<double> shares_of(std::string const& list)
{
  std::vector<double> out;
  std::istringstream in(list);
  for (std::string text; std::getline(in, text, ',');) {
    double share = -1;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), share);
    if (failure != std::errc{} || end != text.data() + text.size() || !(share >= 0 && share <= 1)) {
      throw argument_error(fmt::format("--gpu-share: '{}', expected numbers from 0 to 1, as in 0,0.25,0.5,1", list));
    }
    out.push_back(share);
  }
  return out;
}

/// Makes a Bed of each graph, and for each share a session of its own: add_jobs(session, bed, share, is_first_share).
/// @param name_of  Of a session: name_of(graph, share).
template <class Bed, class Name, class Add>
std::vector<row> for_each_share(options const& o, Name name_of, Add add_jobs)
{
  std::vector<double> const shares = shares_of(o.gpu_share);
  std::vector<row> rows;
  std::istringstream names(o.graph);
  for (std::string name; std::getline(names, name, ',');) {
    auto const b = std::make_shared<Bed>(name, o);
    for (double const share : shares) {
      session s(name_of(name, share), o.repeats);
      add_jobs(s, b, share, &share == &shares.front());
      auto const made = s.run();
      rows.insert(rows.end(), made.begin(), made.end());
    }
  }
  return rows;
}

}  // namespace tendril::bench
