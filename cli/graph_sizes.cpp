#include "graph_sizes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "text.hpp"

namespace tendril::cli {

double graph_sizes::bits_per_edge(form_size const& size) const
{
  return num_edges == 0 ? 0 : 8 * static_cast<double>(size.bytes()) / static_cast<double>(num_edges);
}

bool fits(std::int64_t bytes, std::int64_t gpu_bytes) { return bytes <= gpu_bytes / 10 * 9; }

gpu_part part_on_gpu(graph_sizes const& sizes, std::int64_t bytes)
{
  form_size const& placed = sizes.placed();
  gpu_part part;
  std::int64_t const left = bytes - placed.directory_bytes;
  if (left < 0) { return part; }
  part.has_directory = true;
  std::int64_t const movable = placed.list_bytes + sizes.other_bytes;
  part.lists = movable == 0 ? 1 : std::min(1.0, static_cast<double>(left) / static_cast<double>(movable));
  auto const lists = static_cast<std::int64_t>(part.lists * static_cast<double>(placed.list_bytes));
  part.walk_reads = sizes.profile.walks.share_at(lists);
  part.batch_reads = sizes.profile.batches.share_at(lists);
  return part;
}

graph_sizes measure_sizes(graph const& g, std::optional<std::int64_t> gpu_memory, cpu_exec const& exec)
{
  graph_sizes sizes;
  sizes.profile = profile_graph(g, {sizes.fanout}, exec);
  sizes.num_edges = g.num_edges();
  sizes.other_bytes = std::max<std::int64_t>(0, g.num_bytes() - sizes.profile.size_of(g.form()).bytes());
  sizes.gpu_memory = gpu_memory;
  return sizes;
}

std::string size_lines(graph_sizes const& sizes)
{
  std::string text = "in each form\n";
  for (form_size const& size : sizes.profile.sizes) {
    text += fmt::format("  {:<15} {}, {:.1f} bits an edge\n", to_string(size.form), bytes_text(size.bytes()),
                        sizes.bits_per_edge(size));
  }
  if (!sizes.gpu_memory) { return text; }
  gpu_part const part = part_on_gpu(sizes, *sizes.gpu_memory);
  if (!part.has_directory) {
    return text + fmt::format("{:<17} {}, too little for the directory of {} in the form {}\n", "gpu memory",
                              bytes_text(*sizes.gpu_memory), bytes_text(sizes.placed().directory_bytes),
                              to_string(sizes.profile.placed_form));
  }
  return text + fmt::format(
                    "{:<17} {}: {:.0f}% of the lists in the form {}; walks read {:.0f}% there, mini-batches "
                    "{:.0f}% (estimated)\n",
                    "gpu memory", bytes_text(*sizes.gpu_memory), 100 * part.lists, to_string(sizes.profile.placed_form),
                    100 * part.walk_reads, 100 * part.batch_reads);
}

}  // namespace tendril::cli
