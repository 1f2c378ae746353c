// tendril sample --app khop: a tree of sampled neighbours from every seed.

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/sample.hpp>
#include <tendril/sharded_khop.hpp>

#include "common.hpp"
#include "sample_file.hpp"
#include "sample_request.hpp"
#include "share_samples.hpp"

namespace tendril::cli {
namespace {

constexpr std::int64_t batch_bytes = std::int64_t{64} << 20;  // of one batch of trees

using file_sampler = std::optional<khop_file_sampler>;  // with --memory

/// What makes trees, besides samplers that need no state.
struct tree_makers {
  tree_makers(request const& what, khop_params const& params, cpu_exec const& exec)
  {
    if (!what.on.part) { return; }
    if (gpu_set const gpus = parse_devices(what.job.device); !gpus.empty()) {
      gpu.emplace(gpus);
      in_parts.emplace(*what.on.part, params, *what.ranks, *gpu);
    } else {
      in_parts.emplace(*what.on.part, params, *what.ranks, exec);
    }
  }

  file_sampler in_file;
  std::optional<sharded_khop_sampler> in_parts;
  std::optional<gpu_exec> gpu;  // of in_parts
};

/// Copies trees of a GPU to the host.
khop_trees fetched(khop_trees trees, gpu_exec const& gpu)
{
  for (auto& hop : trees.hops) {
    hop = {hop.fanout, host_copy(hop.vertices, gpu), host_copy(hop.edges, gpu), host_copy(hop.offsets, gpu)};
  }
  return trees;
}

/// The trees of n seeds from `first` on, in host memory, wherever they are made.
khop_trees make_trees(request const& what, khop_params const& params, tree_makers& makers, int place,
                      std::int64_t first, std::int64_t n, cpu_exec const& exec)
{
  auto const seeds = what.seeds.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(n));
  std::int64_t const root = what.job.first_root + first;
  if (makers.gpu) {
    auto const there = copy_to_gpu(seeds, *makers.gpu);
    return fetched(makers.in_parts->sample(there.span(), *makers.gpu, root, what.job.edges), *makers.gpu);
  }
  if (makers.in_parts) { return makers.in_parts->sample(seeds, root, what.job.edges); }
  if (makers.in_file) { return makers.in_file->sample(seeds, exec, root, what.job.edges); }
  if (!what.on_gpu()) { return khop_sample(what.whole(), seeds, params, exec, root, what.job.edges); }
  gpu_exec const gpu = what.exec(place);
  auto const there = copy_to_gpu(seeds, gpu);
  graph const& copy = what.copies[static_cast<std::size_t>(place)];
  return fetched(khop_sample(copy, there.span(), params, gpu, root, what.job.edges), gpu);
}

std::int64_t count_filled(khop_trees const& trees)
{
  std::int64_t filled = 0;
  for (auto const& hop : trees.hops) {
    filled += hop.vertices.size() - std::count(hop.vertices.begin(), hop.vertices.end(), no_vertex);
  }
  return filled;
}

std::string hop_name(std::size_t hop, char const* suffix = "") { return fmt::format("hop{}{}", hop + 1, suffix); }

/// Seeds of a batch of trees, of which one is made while another is written.
std::int64_t batch_rows(sample_job const& job, std::int64_t slots_of_tree, std::int64_t parents_of_tree)
{
  std::int64_t const bytes_of_tree = checked_product("--fanouts: bytes of a tree", slots_of_tree, job.edges ? 12 : 4);
  std::int64_t const memory = job.host_bytes();
  if (memory == 0) { return batch_bytes / bytes_of_tree; }
  // Half is the graph's, and a quarter the tables' of weights. The order of a hop takes 12 bytes for each vertex of it.
  std::int64_t const room = job.weighted ? memory / 4 : memory / 2;
  return room / checked_sum("--fanouts: bytes of a tree",
                            checked_product("--fanouts: bytes of a tree", 2, bytes_of_tree),
                            checked_product("--fanouts: bytes of a tree", 12, parents_of_tree));
}

/// Trees of fixed shape: arrays [seeds, fanout, …] of known sizes, made and written batch by batch.
outcome sample_trees(request const& what, khop_params const& params, cpu_exec const& exec, progress_bar& bar)
{
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  std::vector<array_spec> arrays{{"seeds", what.vertices, {num_seeds}}};
  std::vector<std::int64_t> shape{num_seeds};
  std::int64_t slots = 1, slots_of_tree = 0, parents_of_tree = 0;
  for (std::size_t hop = 0; hop < params.fanouts.size(); ++hop) {
    shape.push_back(params.fanouts[hop]);
    parents_of_tree = slots;
    slots = checked_product("--fanouts: slots of a hop", slots, params.fanouts[hop]);
    slots_of_tree = checked_sum("--fanouts: slots of a tree", slots_of_tree, slots);
    arrays.push_back({hop_name(hop), what.vertices, shape});
    if (what.job.edges) { arrays.push_back({hop_name(hop, "_edges"), element_type::int64, shape}); }
  }
  sample_file file(what.writers(), what.output, arrays, what.about);
  if (what.tells()) { file.put(0, 0, what.seeds, exec); }

  std::int64_t const rows =
      what.piece(num_seeds, std::max<std::int64_t>(batch_rows(what.job, slots_of_tree, parents_of_tree), 1));
  cpu_exec quiet = exec;
  quiet.on_progress = {};  // the bar belongs to this thread
  tree_makers makers(what, params, quiet);
  if (what.job.host_bytes() > 0) {
    makers.in_file.emplace(what.whole(), params, std::max<std::int64_t>(what.job.host_bytes() / 2, 2));
  }
  outcome result;
  place_seconds sampled(what.num_places);
  share_samples(
      what, num_seeds, rows,
      [&](int place, std::int64_t first, std::int64_t n) {
        stopwatch const sampling;
        khop_trees trees = make_trees(what, params, makers, place, first, n, quiet);
        sampled.add(place, sampling.seconds());
        return trees;
      },
      [&](std::int64_t first, std::int64_t, khop_trees const& trees) {
        stopwatch const writing;
        result.edges += count_filled(trees);
        std::size_t array = 1;    // after the seeds
        std::int64_t at = first;  // of the hop's first slot
        for (tree_hop const& hop : trees.hops) {
          at *= hop.fanout;
          file.put(array++, at, hop.vertices.span(), quiet);
          if (what.job.edges) { file.put(array++, at, hop.edges.span()); }
        }
        result.write_seconds += writing.seconds();
      },
      [&](std::int64_t done) { bar.update("sampling", done, num_seeds, "seeds"); });
  result.sample_seconds = sampled.longest();
  stopwatch const committing;
  file.commit();
  result.write_seconds += committing.seconds();
  if (makers.in_file) { result.read_bytes = makers.in_file->read_bytes(); }
  return result;
}

template <class T>
buffer<T> joined(buffer<T> const& first, buffer<T> const& second)
{
  buffer<T> out(first.size() + second.size());
  std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), out.begin()));
  return out;
}

/// Offsets begin at 0 in both parts.
buffer<std::int64_t> joined_offsets(buffer<std::int64_t> const& first, buffer<std::int64_t> const& second)
{
  buffer<std::int64_t> out(first.size() + second.size() - 1);
  auto const at = std::copy(first.begin(), first.end(), out.begin());
  std::transform(second.begin() + 1, second.end(), at,
                 [base = first[first.size() - 1]](std::int64_t offset) { return base + offset; });
  return out;
}

/// Adds the trees of later seeds.
void join(khop_trees& all, khop_trees&& more)
{
  if (all.hops.empty()) {
    all = std::move(more);
    return;
  }
  for (std::size_t h = 0; h < all.hops.size(); ++h) {
    auto& hop = all.hops[h];
    auto const& part = more.hops[h];
    if (!hop.offsets.empty()) { hop.offsets = joined_offsets(hop.offsets, part.offsets); }
    hop.vertices = joined(hop.vertices, part.vertices);
    hop.edges = joined(hop.edges, part.edges);
  }
}

/// Trees with all neighbours of some hop, in a file: their sizes are known when all have been made.
class ragged_trees {
 public:
  /// @param made  Of this process.
  ragged_trees(request const& what, khop_params const& params, khop_trees made) : what_(what), made_(std::move(made))
  {
    num_hops_ = params.fanouts.size();
    auto const first = std::find(params.fanouts.begin(), params.fanouts.end(), -1);
    first_ragged_ = static_cast<std::size_t>(first - params.fanouts.begin());
    made_.hops.resize(num_hops_);  // of a rank without seeds, too
    std::vector<std::int64_t> own;
    for (tree_hop const& hop : made_.hops) {
      own.push_back(hop.vertices.size());
      own.push_back(std::max<std::int64_t>(hop.offsets.size() - 1, 0));
    }
    sizes_ = numbers_of_all(what.writers(), "sizes of trees", own);
  }

  void write(cpu_exec const& exec) const
  {
    sample_file file(what_.writers(), what_.output, arrays(), what_.about);
    if (what_.tells()) { file.put(0, 0, what_.seeds, exec); }
    std::size_t array = 1;
    for (std::size_t h = 0; h < num_hops_; ++h) {
      tree_hop const& hop = made_.hops[h];
      std::int64_t const slots = before(h, slots_of);
      file.put(array++, slots, hop.vertices.span(), exec);
      if (what_.job.edges) { file.put(array++, slots, hop.edges.span()); }
      if (!is_ragged(h)) { continue; }
      if (what_.tells()) { file.put(array, 0, std::span<std::int64_t const>(zero)); }
      file.put(array++, before(h, parents_of) + 1, std::span<std::int64_t const>(shifted(hop.offsets, slots)));
    }
    file.commit();
  }

 private:
  static constexpr std::array<std::int64_t, 1> zero{0};
  static constexpr std::size_t slots_of = 0, parents_of = 1, numbers_of_hop = 2;

  [[nodiscard]] bool is_ragged(std::size_t hop) const { return hop >= first_ragged_; }

  /// The offsets behind the first one, which is the last of the rank before.
  static std::vector<std::int64_t> shifted(buffer<std::int64_t> const& offsets, std::int64_t by)
  {
    std::vector<std::int64_t> out(offsets.begin() + std::min<std::int64_t>(1, offsets.size()), offsets.end());
    for (std::int64_t& offset : out) { offset += by; }
    return out;
  }

  /// Of the first `num_ranks` processes.
  [[nodiscard]] std::int64_t sum(std::size_t hop, std::size_t number, std::size_t num_ranks) const
  {
    std::int64_t total = 0;
    for (std::size_t rank = 0; rank < num_ranks; ++rank) {
      total += sizes_[(rank * num_hops_ + hop) * numbers_of_hop + number];
    }
    return total;
  }
  [[nodiscard]] std::int64_t before(std::size_t hop, std::size_t number) const
  {
    return sum(hop, number, what_.writers() == nullptr ? 0 : static_cast<std::size_t>(what_.writers()->rank()));
  }
  [[nodiscard]] std::int64_t in_all(std::size_t hop, std::size_t number) const
  {
    return sum(hop, number, sizes_.size() / (num_hops_ * numbers_of_hop));
  }

  [[nodiscard]] std::vector<array_spec> arrays() const
  {
    std::vector<array_spec> out{{"seeds", what_.vertices, {static_cast<std::int64_t>(what_.seeds.size())}}};
    for (std::size_t h = 0; h < num_hops_; ++h) {
      std::int64_t const slots = in_all(h, slots_of);
      out.push_back({hop_name(h), what_.vertices, {slots}});
      if (what_.job.edges) { out.push_back({hop_name(h, "_edges"), element_type::int64, {slots}}); }
      if (is_ragged(h)) { out.push_back({hop_name(h, "_offsets"), element_type::int64, {in_all(h, parents_of) + 1}}); }
    }
    return out;
  }

  request const& what_;
  khop_trees made_;
  std::size_t num_hops_ = 0, first_ragged_ = 0;
  std::vector<std::int64_t> sizes_;  // [processes, hops, slots and parents]
};

outcome sample_ragged_trees(request const& what, khop_params const& params, cpu_exec const& exec)
{
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  stopwatch const sampling;
  tree_makers makers(what, params, exec);
  khop_trees trees;
  share_samples(
      what, num_seeds, what.piece(num_seeds, num_seeds),  // a piece a rank, so that a rank's trees are one range
      [&](int place, std::int64_t first, std::int64_t n) {
        return make_trees(what, params, makers, place, first, n, exec);
      },
      [&](std::int64_t, std::int64_t, khop_trees&& part) { join(trees, std::move(part)); }, [](std::int64_t) {});
  outcome result;
  result.sample_seconds = sampling.seconds();
  result.edges = count_filled(trees);
  stopwatch const writing;
  ragged_trees(what, params, std::move(trees)).write(exec);
  result.write_seconds = writing.seconds();
  return result;
}

/// Empty of a graph in parts, whose sampler plans for itself.
std::string rule_of(request const& what, khop_params const& params, std::int64_t num_seeds, cpu_exec const& exec)
{
  if (what.on.part) { return {}; }
  return std::string(to_string((what.on_gpu() ? plan_khop(what.copies.front(), params, num_seeds, what.exec(0))
                                              : plan_khop(what.whole(), params, num_seeds, exec))
                                   .rule));
}

}  // namespace

outcome sample_khop(request const& what, cpu_exec const& exec, progress_bar& bar)
{
  khop_params const params = what.job.khop();
  // Says what is wrong, whatever the number of seeds, before a file is begun.
  auto const num_seeds = static_cast<std::int64_t>(what.seeds.size());
  (void)checked_sum("--first-root: ids of seeds", what.job.first_root, num_seeds);
  stopwatch const planning;
  std::string const rule = rule_of(what, params, num_seeds, exec);
  double const plan_seconds = planning.seconds();
  bool const ragged = std::count(params.fanouts.begin(), params.fanouts.end(), -1) > 0;
  if (ragged && what.job.host_bytes() > 0) {
    throw argument_error("--memory: --fanouts has -1, expected numbers of neighbours");
  }
  outcome result = ragged ? sample_ragged_trees(what, params, exec) : sample_trees(what, params, exec, bar);
  result.rule = rule;
  result.plan_seconds = plan_seconds;
  return result;
}

}  // namespace tendril::cli
