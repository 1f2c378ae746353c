// Which lists a job reads, found out by making a part of it with the CPU's executors.

#include <tendril/place.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

#include <tendril/checked.hpp>
#include <tendril/starts.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "graph/places.hpp"

namespace tendril {
namespace {

constexpr std::int64_t sector_bytes = 32;  // what a GPU reads at once
constexpr std::int64_t vertices_a_range = std::int64_t{1} << 14U;
constexpr std::int64_t least_parents = std::int64_t{1} << 16U,
                       most_parents = std::int64_t{1} << 23U;  // that are counted
constexpr std::int64_t least_batches = 4;                      // mini-batches
constexpr std::int64_t slots_a_call = std::int64_t{1} << 22U;
constexpr std::int64_t longest_walk = std::int64_t{1} << 16U;  // its later steps read what earlier ones read
constexpr std::int64_t all_neighbors = 32;                     // a guess at how many a fan-out of -1 takes

/// Vertices that a sample reads the lists of, and picks that it makes, at most.
struct sample_size {
  std::int64_t parents = 0;
  std::int64_t slots = 0;
};

sample_size size_of(std::span<std::int64_t const> fanouts)
{
  constexpr std::int64_t many = std::int64_t{1} << 40U;
  sample_size out;
  std::int64_t width = 1;
  for (std::int64_t const fanout : fanouts) {
    out.parents = std::min(out.parents + width, many);
    width = std::min(width * std::clamp(fanout < 0 ? all_neighbors : fanout, std::int64_t{0}, many / width + 1), many);
    width = std::max<std::int64_t>(width, 1);
    out.slots = std::min(out.slots + width, many);
  }
  return out;
}

/// Counts the reads of a graph's lists, whoever reads them.
class read_counter {
 public:
  read_counter(graph const& input, cpu_exec const& exec) : view_(input.view()), exec_(exec), counts_(view_.num_vertices)
  {
    std::fill(counts_.begin(), counts_.end(), std::uint64_t{0});
    auto const& lists = input.arrays().compressed;
    double const bytes = input.form() == graph_form::csr ? 4.0 * static_cast<double>(input.num_edges())
                                                         : 4.0 * static_cast<double>(lists.words.size());
    bytes_an_edge_ = input.num_edges() == 0 ? 0 : bytes / static_cast<double>(input.num_edges());
  }

  /// Vertices whose lists are read for `picks` neighbours each, -1 for all; `no_vertex` doesn't count.
  void add(std::span<vertex_id const> vertices, std::int64_t picks)
  {
    base::parallel_ranges(exec_, std::ssize(vertices), vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        vertex_id const v = vertices[static_cast<std::size_t>(i)];
        if (v == no_vertex) { continue; }
        std::atomic_ref(counts_[v]).fetch_add(reads_of(v, picks), std::memory_order_relaxed);
      }
    });
  }

  /// The estimate of each vertex's reads, as count_visits.
  [[nodiscard]] buffer<float> estimate() const
  {
    struct vertices_of_a_size {
      double num_vertices = 0, reads = 0;
    };
    std::array<vertices_of_a_size, 33> sizes{};
    for (std::int64_t v = 0; v < counts_.size(); ++v) {
      auto& size = sizes[digits_of(v)];
      size.num_vertices += 1;
      size.reads += static_cast<double>(counts_[v]);
    }
    buffer<float> out(counts_.size(), *exec_.memory);
    base::parallel_ranges(exec_, counts_.size(), vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        auto const& size = sizes[digits_of(v)];
        double const mean = size.reads / size.num_vertices;
        out[v] = static_cast<float>((static_cast<double>(counts_[v]) + 1) / (mean + 1) * mean);
      }
    });
    return out;
  }

 private:
  [[nodiscard]] std::uint64_t reads_of(vertex_id v, std::int64_t picks) const
  {
    double const bytes = bytes_an_edge_ * static_cast<double>(view_.degree(v));
    auto const sectors = static_cast<std::int64_t>(std::ceil(bytes / static_cast<double>(sector_bytes)));
    return static_cast<std::uint64_t>(picks < 0 ? sectors : std::min(picks, sectors));
  }
  [[nodiscard]] std::size_t digits_of(std::int64_t v) const
  {
    return static_cast<std::size_t>(std::bit_width(view_.degree(v)));
  }

  graph_view view_;
  cpu_exec exec_;
  buffer<std::uint64_t> counts_;
  double bytes_an_edge_ = 0;
};

/// Counts the reads of part of a job.
class job_counter {
 public:
  job_counter(graph const& input, place_params const& params, cpu_exec const& exec)
      : input_(input), params_(params), exec_(exec), reads_(input, exec)
  {
    exec_.on_progress = {};
  }

  void operator()(walk_params const& job)
  {
    walk_params walk = job;
    walk.dead_ends = dead_end::stop;
    walk.length = std::min(job.length, longest_walk);
    std::int64_t const row = walk.length + 1;
    for_each_call({walk.length, row}, 1, [&](std::span<vertex_id const> starts, std::int64_t first) {
      walks const made = random_walk(input_, starts, walk, exec_, first);
      buffer<vertex_id> left(made.vertices.size());  // each vertex but the last of its walk
      base::parallel_ranges(exec_, made.num_walks, vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t w = begin; w < end; ++w) {
          std::int64_t const at = w * row;
          std::copy_n(made.vertices.data() + at, row, left.data() + at);
          left[at + made.lengths[w]] = no_vertex;
        }
      });
      reads_.add(left.span(), 1);
    });
  }

  void operator()(khop_params const& job)
  {
    for_each_call(size_of(job.fanouts), 1, [&](std::span<vertex_id const> roots, std::int64_t first) {
      khop_trees const trees = khop_sample(input_, roots, job, exec_, first);
      for (std::size_t h = 0; h < job.fanouts.size(); ++h) {
        reads_.add(h == 0 ? roots : trees.hops[h - 1].vertices.span(), job.fanouts[h]);
      }
    });
  }

  void operator()(minibatch_params const& job)
  {
    TENDRIL_EXPECTS(job.num_neighbors_of_type.empty(),
                    "place: the job has fan-outs of edge types, expected those of a graph with one type");
    std::int64_t const batch = params_.batch_size;
    std::uint64_t number = 0;
    minibatch_sampler sampler(hetero_graph(input_), job, exec_);
    for_each_call(size_of(job.num_neighbors), batch, [&](std::span<vertex_id const> seeds, std::int64_t) {
      auto const made = sampler.sample_batches(0, seeds, batch, number);
      number += made.size();
      for (minibatch const& one : made) { add(one.vertices.at(0), job); }
    });
  }

  [[nodiscard]] buffer<float> estimate() const { return reads_.estimate(); }

 private:
  void add(minibatch_vertices const& batch, minibatch_params const& job)
  {
    std::span<vertex_id const> left = batch.node.span();
    for (std::size_t h = 0; h < job.num_neighbors.size(); ++h) {
      auto const fresh = left.first(static_cast<std::size_t>(batch.num_sampled[h]));
      left = left.subspan(fresh.size());
      // Hop h expands what hop h - 1 reached first, or all that there is.
      std::size_t const until = job.frontier == batch_frontier::all ? job.num_neighbors.size() : h + 1;
      for (std::size_t k = h; k < until; ++k) { reads_.add(fresh, job.num_neighbors[k]); }
    }
  }

  /// Calls f(starts, first) until enough samples are counted. @param unit  Samples come in multiples of it, if they can.
  template <class F>
  void for_each_call(sample_size one, std::int64_t unit, F&& f)
  {
    std::int64_t const parents = std::clamp(input_.num_vertices(), least_parents, most_parents);
    std::int64_t const enough = std::max(parents / std::max<std::int64_t>(one.parents, 1), least_batches * unit);
    std::int64_t const wanted = params_.num_samples > 0 ? params_.num_samples : enough;
    std::int64_t const all = (wanted + unit - 1) / unit * unit;
    std::int64_t const a_call =
        std::max(slots_a_call / std::max<std::int64_t>(one.slots, 1) / unit, std::int64_t{1}) * unit;
    auto const among = params_.starts.empty() ? input_.num_vertices() : std::ssize(params_.starts);
    for (std::int64_t first = 0; first < all; first += a_call) {
      // What is drawn depends on the call, which depends on the job alone.
      buffer<vertex_id> starts = random_vertices(among, std::min(a_call, all - first),
                                                 params_.seed + static_cast<std::uint64_t>(first / a_call), exec_);
      if (!params_.starts.empty()) {
        for (vertex_id& v : starts) { v = params_.starts[v]; }
      }
      f(std::span<vertex_id const>(starts.span()), first);
    }
  }

  graph const& input_;
  place_params const& params_;
  cpu_exec exec_;
  read_counter reads_;
};

}  // namespace

void validate(place_params const& params)
{
  TENDRIL_EXPECTS(params.gpu_bytes >= 0, "gpu_bytes: {}, expected 0 or more", params.gpu_bytes);
  TENDRIL_EXPECTS(params.num_samples >= 0 && params.num_samples <= std::int64_t{1} << 40U,
                  "num_samples: {}, expected 0 to 2^40", params.num_samples);
  TENDRIL_EXPECTS(params.batch_size >= 1 && params.batch_size <= std::int64_t{1} << 32U,
                  "batch_size: {}, expected 1 to 2^32", params.batch_size);
  std::visit([](auto const& job) { validate(job); }, params.job);
  TENDRIL_EXPECTS(params.scores.empty() || params.policy == placement_policy::scores,
                  "scores: given, but the policy is {}, expected scores", to_string(params.policy));
}

buffer<float> count_visits(graph const& input, place_params const& params, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  validate(params);
  validation::expect_vertices("start", params.starts, input.num_vertices());
  if (input.num_vertices() == 0) { return {}; }
  job_counter counter(input, params, exec);
  std::visit(counter, params.job);
  return counter.estimate();
}

}  // namespace tendril
