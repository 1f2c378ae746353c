// Which lists a job reads, found out by making a part of it with the CPU's executors.

#include <tendril/place.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include <tendril/checked.hpp>
#include <tendril/starts.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "graph/places.hpp"
#include "place/degree_classes.hpp"

namespace tendril {
namespace {

constexpr std::int64_t sector_bytes = 32;  // what a GPU reads at once
constexpr std::int64_t visited_a_range = std::int64_t{1} << 14U;
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

/// The reads of a vertex's list by each half of the samples that are counted.
struct halves {
  std::uint32_t counts[2] = {0, 0};
};

/// What a class of vertices of about the same degree tells about one of them. The halves of the samples are independent,
/// so what they differ by is chance, however reads come in bunches; what the counts of vertices differ by beyond that is
/// their own. The estimate is the best that is linear in the count (credibility; Buehlmann, ASTIN Bulletin 4, 1967).
/// Vertices that both halves read far more often than the class are left alone: their counts are certain, and no line that
/// fits them fits the others.
class degree_class_reads {
 public:
  /// First each vertex of the class.
  void add_to_mean(halves const& vertex)
  {
    all_.num_vertices += 1;
    all_.sum += sum_of(vertex);
  }

  /// Then each again.
  void add(halves const& vertex)
  {
    if (is_apart(vertex)) { return; }
    double const sum = sum_of(vertex), difference = static_cast<double>(vertex.counts[0]) - vertex.counts[1];
    others_.num_vertices += 1;
    others_.sum += sum;
    squares_ += sum * sum;
    differences_ += difference;
    squares_of_differences_ += difference * difference;
  }

  [[nodiscard]] double expected(halves const& vertex) const
  {
    if (is_apart(vertex)) { return sum_of(vertex); }
    double const mean = others_.mean(), mean_difference = differences_ / others_.num_vertices;
    double const all = squares_ / others_.num_vertices - mean * mean;
    // One read more: no class is so small that its counts are taken as certain.
    double const chance = (squares_of_differences_ + 1) / others_.num_vertices - mean_difference * mean_difference;
    double const own = std::max(all - chance, 0.0);
    return mean + own / (own + chance) * (sum_of(vertex) - mean);
  }

 private:
  // Reads by each half. One tree makes several of a list, but rarely in both halves.
  static constexpr double least_apart = 8;

  struct counted {
    double num_vertices = 0, sum = 0;
    [[nodiscard]] double mean() const { return sum / num_vertices; }
  };
  static double sum_of(halves const& vertex) { return static_cast<double>(vertex.counts[0]) + vertex.counts[1]; }
  [[nodiscard]] bool is_apart(halves const& vertex) const
  {
    // At least four times what a half read of a vertex on average.
    return std::min(vertex.counts[0], vertex.counts[1]) >= least_apart + 2 * all_.mean();
  }

  counted all_, others_;
  double squares_ = 0, differences_ = 0, squares_of_differences_ = 0;
};

/// Counts the reads of a graph's lists, whoever reads them.
class read_counter {
 public:
  read_counter(graph const& input, cpu_exec const& exec) : view_(input.view()), exec_(exec), counts_(view_.num_vertices)
  {
    std::fill(counts_.begin(), counts_.end(), halves{});
    auto const& lists = input.arrays().compressed;
    double const bytes = input.form() == graph_form::csr ? 4.0 * static_cast<double>(input.num_edges())
                                                         : 4.0 * static_cast<double>(lists.words.size());
    bytes_an_edge_ = input.num_edges() == 0 ? 0 : bytes / static_cast<double>(input.num_edges());
  }

  /// Vertices whose lists are read for `picks` neighbours each, -1 for all; `no_vertex` doesn't count.
  /// @param half  Of the samples.
  void add(int half, std::span<vertex_id const> vertices, std::int64_t picks)
  {
    base::parallel_ranges(exec_, std::ssize(vertices), visited_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        vertex_id const v = vertices[static_cast<std::size_t>(i)];
        if (v != no_vertex) { add_up_to_the_most(counts_[v].counts[half], reads_of(v, picks)); }
      }
    });
  }

  /// The estimate of each vertex's reads, as count_visits.
  [[nodiscard]] buffer<float> estimate() const
  {
    std::array<degree_class_reads, place::degree_classes::count> classes{};
    for (std::int64_t v = 0; v < counts_.size(); ++v) { classes[class_of(v)].add_to_mean(counts_[v]); }
    for (std::int64_t v = 0; v < counts_.size(); ++v) { classes[class_of(v)].add(counts_[v]); }
    buffer<float> out(counts_.size(), *exec_.memory);
    base::parallel_ranges(exec_, counts_.size(), visited_a_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        out[v] = static_cast<float>(classes[class_of(v)].expected(counts_[v]));
      }
    });
    return out;
  }

 private:
  /// A count that stays at its largest value doesn't depend on the order of what is added.
  static void add_up_to_the_most(std::uint32_t& count, std::uint32_t more)
  {
    std::atomic_ref<std::uint32_t> const at(count);
    std::uint32_t before = at.load(std::memory_order_relaxed);
    while (!at.compare_exchange_weak(before,
                                     before + std::min(more, std::numeric_limits<std::uint32_t>::max() - before),
                                     std::memory_order_relaxed)) {}
  }

  [[nodiscard]] std::uint32_t reads_of(vertex_id v, std::int64_t picks) const
  {
    double const bytes = bytes_an_edge_ * static_cast<double>(view_.degree(v));
    auto const sectors = static_cast<std::int64_t>(std::ceil(bytes / static_cast<double>(sector_bytes)));
    return static_cast<std::uint32_t>(picks < 0 ? sectors : std::min(picks, sectors));
  }
  [[nodiscard]] std::size_t class_of(std::int64_t v) const { return place::degree_classes::of(view_.degree(v)); }

  graph_view view_;
  cpu_exec exec_;
  buffer<halves> counts_;
  double bytes_an_edge_ = 0;
};

/// Calls f(starts, first, half) with starts of samples until enough are counted, as often for one half as for the other.
/// @param num_vertices  Of the starts' type. @param counted  Vertices whose lists are read.
/// @param unit          Samples come in multiples of it, if they can.
template <class F>
void for_each_call(std::int64_t num_vertices, std::int64_t counted, sample_size one, std::int64_t unit,
                   place_params const& params, cpu_exec const& exec, F&& f)
{
  std::int64_t const parents = std::clamp(counted, least_parents, most_parents);
  std::int64_t const enough = std::max(parents / std::max<std::int64_t>(one.parents, 1), least_batches * unit);
  std::int64_t const wanted = params.num_samples > 0 ? params.num_samples : enough;
  std::int64_t const all = (wanted + unit - 1) / unit * unit;
  std::int64_t const units = all / unit;
  std::int64_t const most = std::max(slots_a_call / std::max<std::int64_t>(one.slots, 1) / unit, std::int64_t{1});
  std::int64_t const calls_a_half = (units + 2 * most - 1) / (2 * most);
  std::int64_t const a_call = (units + 2 * calls_a_half - 1) / (2 * calls_a_half) * unit;
  auto const among = params.starts.empty() ? num_vertices : std::ssize(params.starts);
  for (std::int64_t first = 0, call = 0; first < all; first += a_call, ++call) {
    // What is drawn depends on the call, which depends on the job alone.
    buffer<vertex_id> starts =
        random_vertices(among, std::min(a_call, all - first), params.seed + static_cast<std::uint64_t>(call), exec);
    if (!params.starts.empty()) {
      for (vertex_id& v : starts) { v = params.starts[v]; }
    }
    f(std::span<vertex_id const>(starts.span()), first, static_cast<int>(call % 2));
  }
}

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
    each_call({walk.length, row}, [&](std::span<vertex_id const> starts, std::int64_t first, int half) {
      walks const made = random_walk(input_, starts, walk, exec_, first);
      buffer<vertex_id> left(made.vertices.size());  // each vertex but the last of its walk
      base::parallel_ranges(exec_, made.num_walks, visited_a_range, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t w = begin; w < end; ++w) {
          std::int64_t const at = w * row;
          std::copy_n(made.vertices.data() + at, row, left.data() + at);
          left[at + made.lengths[w]] = no_vertex;
        }
      });
      reads_.add(half, left.span(), 1);
    });
  }

  void operator()(khop_params const& job)
  {
    each_call(size_of(job.fanouts), [&](std::span<vertex_id const> roots, std::int64_t first, int half) {
      khop_trees const trees = khop_sample(input_, roots, job, exec_, first);
      for (std::size_t h = 0; h < job.fanouts.size(); ++h) {
        reads_.add(half, h == 0 ? roots : trees.hops[h - 1].vertices.span(), job.fanouts[h]);
      }
    });
  }

  [[nodiscard]] buffer<float> estimate() const { return reads_.estimate(); }

 private:
  template <class F>
  void each_call(sample_size one, F&& f)
  {
    for_each_call(input_.num_vertices(), input_.num_vertices(), one, 1, params_, exec_, std::forward<F>(f));
  }

  graph const& input_;
  place_params const& params_;
  cpu_exec exec_;
  read_counter reads_;
};

/// Counts the reads of mini-batches of a graph of several types, or of one.
class batch_counter {
 public:
  batch_counter(hetero_graph const& input, minibatch_params const& job, place_params const& params,
                cpu_exec const& exec)
      : input_(without_times(input)), job_(job), params_(params), exec_(exec)
  {
    exec_.on_progress = {};
    job_.temporal = temporal_strategy::uniform;
    for (edge_type const& type : input_.edge_types()) { reads_.emplace_back(type.edges, exec); }
  }

  /// Batches whose seeds are of one type.
  void count(std::int32_t seed_type)
  {
    std::int64_t const num_seeds = input_.num_vertices()[static_cast<std::size_t>(seed_type)];
    if (num_seeds == 0) { return; }
    std::int64_t counted = 0;
    for (std::int64_t const count : input_.num_vertices()) { counted += count; }
    minibatch_sampler sampler(input_, job_, exec_);
    for_each_call(num_seeds, counted, size_of(fanouts()), params_.batch_size, params_, exec_,
                  [&](std::span<vertex_id const> seeds, std::int64_t, int half) {
                    auto const made = sampler.sample_batches(seed_type, seeds, params_.batch_size, {.first = number_});
                    number_ += made.size();
                    for (minibatch const& one : made) { add(half, one); }
                  });
  }

  [[nodiscard]] std::vector<buffer<float>> estimates() const
  {
    std::vector<buffer<float>> out;
    for (read_counter const& reads : reads_) { out.push_back(reads.estimate()); }
    return out;
  }

 private:
  static hetero_graph without_times(hetero_graph const& input)
  {
    std::vector<edge_type> types;
    for (edge_type const& type : input.edge_types()) { types.push_back({type.from, type.to, type.edges}); }
    return hetero_graph(input.num_vertices(), std::move(types));
  }

  [[nodiscard]] std::vector<std::int64_t> const& fanouts_of(std::size_t edges) const
  {
    return job_.num_neighbors_of_type.empty() ? job_.num_neighbors : job_.num_neighbors_of_type.at(edges);
  }

  /// What a vertex of the type with the most neighbours is expanded to, at each hop.
  [[nodiscard]] std::vector<std::int64_t> fanouts() const
  {
    std::vector<std::int64_t> out(fanouts_of(0).size());
    for (std::size_t h = 0; h < out.size(); ++h) {
      std::vector<std::int64_t> of_type(input_.num_vertices().size());
      for (std::size_t e = 0; e < reads_.size(); ++e) {
        std::int64_t const fanout = fanouts_of(e)[h];
        of_type[static_cast<std::size_t>(input_.edge_types()[e].from)] += fanout < 0 ? all_neighbors : fanout;
      }
      out[h] = *std::max_element(of_type.begin(), of_type.end());
    }
    return out;
  }

  void add(int half, minibatch const& batch)
  {
    for (std::size_t e = 0; e < reads_.size(); ++e) {
      auto const& fanouts = fanouts_of(e);
      minibatch_vertices const& from = batch.vertices.at(static_cast<std::size_t>(input_.edge_types()[e].from));
      std::span<vertex_id const> left = from.node.span();
      for (std::size_t h = 0; h < fanouts.size(); ++h) {
        auto const fresh = left.first(static_cast<std::size_t>(from.num_sampled[h]));
        left = left.subspan(fresh.size());
        // Hop h expands what hop h - 1 reached first, or all that there is.
        std::size_t const until = job_.frontier == batch_frontier::all ? fanouts.size() : h + 1;
        for (std::size_t k = h; k < until; ++k) { reads_[e].add(half, fresh, fanouts[k]); }
      }
    }
  }

  hetero_graph input_;
  minibatch_params job_;
  place_params const& params_;
  cpu_exec exec_;
  std::vector<read_counter> reads_;
  std::uint64_t number_ = 0;
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
  if (auto const* const batches = std::get_if<minibatch_params>(&params.job)) {
    TENDRIL_EXPECTS(batches->num_neighbors_of_type.empty(),
                    "place: the job has fan-outs of edge types, expected those of a graph with one type");
    return std::move(count_visits(hetero_graph(input), params, exec).front());
  }
  job_counter counter(input, params, exec);
  if (auto const* const walk = std::get_if<walk_params>(&params.job)) { counter(*walk); }
  if (auto const* const khop = std::get_if<khop_params>(&params.job)) { counter(*khop); }
  return counter.estimate();
}

std::vector<buffer<float>> count_visits(hetero_graph const& input, place_params const& params, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  validate(params);
  auto const* const job = std::get_if<minibatch_params>(&params.job);
  TENDRIL_EXPECTS(job != nullptr, "place: the job is no mini-batches, expected them for a graph of several types");
  auto const num_types = static_cast<std::int32_t>(input.num_vertices().size());
  TENDRIL_EXPECTS(params.start_type >= -1 && params.start_type < num_types,
                  "start_type: {}, expected a vertex type below {}, or -1", params.start_type, num_types);
  bool const one_type = num_types == 1 || params.start_type >= 0;
  TENDRIL_EXPECTS(one_type || params.starts.empty(), "starts: given, but start_type is -1, expected their vertex type");
  if (input.edge_types().empty()) { return {}; }
  std::int32_t const first = std::max(params.start_type, 0);
  validation::expect_vertices("start", params.starts, input.num_vertices()[static_cast<std::size_t>(first)]);
  batch_counter counter(input, *job, params, exec);
  for (std::int32_t type = first; type < (one_type ? first + 1 : num_types); ++type) { counter.count(type); }
  return counter.estimates();
}

}  // namespace tendril
