#include "place/placement.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/parallel.hpp"  // parallel_ranges
#include "graph/list_check.hpp"
#include "place/candidates.hpp"

namespace tendril::place {
namespace {

constexpr std::int64_t placed_a_range = std::int64_t{1} << 12U;
constexpr std::uint64_t least_cut = std::uint64_t{1} << 16U;

/// Calls f(i, byte) for the vertices of block b, numbered from 0: the byte where the list begins, its header included.
template <class F>
void for_each_start(compressed_lists const& lists, std::int64_t b, F&& f)
{
  list_block const& block = lists.blocks[b];
  std::int64_t const left = lists.num_vertices - b * list_block::vertices;
  auto const size = static_cast<std::uint32_t>(std::min<std::int64_t>(left, list_block::vertices));
  for (std::uint32_t i = 0; i < size; ++i) {
    half_place const at(i);
    list_half const& half = block.halves[at.half];
    std::uint32_t const share = half.shares[at.in_half];
    bool const wide = half.head.is(block_kind::wide);
    wide_list const entry = wide ? lists.wide[static_cast<std::int64_t>(half.head.base()) + at.in_half] : wide_list{};
    std::uint64_t const start = wide ? list_place{entry.at, 0, 0}.byte() : half.head.start(share);
    f(i, start, wide ? entry.degree : half.head.degree(share));
  }
}

/// Whether all lists of block b lie in [begin, end).
bool lies_within(compressed_lists const& lists, std::int64_t b, std::uint64_t begin, std::uint64_t end)
{
  if (begin > end) { return false; }
  for (list_half const& half : lists.blocks[b].halves) {
    std::uint64_t const base = half.head.base();
    if (!half.head.is(block_kind::wide) && (base < begin || base > end)) { return false; }
  }
  compressed_lists until = lists;  // what a list needs must lie before the end of its block
  auto const words = static_cast<std::size_t>(end / 4 + list_codes::words_beyond);
  until.words = shared_array<std::uint32_t>({lists.words.data(), words}, nullptr);
  bool within = true;
  for_each_start(lists, b, [&](std::uint32_t i, std::uint64_t start, std::uint32_t degree) {
    if (!within || degree == 0) { return; }  // an empty list may be where a list behind the last would begin
    within = start >= begin && start <= end && validation::list_problem(until, b * list_block::vertices + i).empty();
  });
  return within;
}

/// [blocks] the reads of the lists of each.
std::vector<double> reads_of_blocks(compressed_lists const& lists, std::span<float const> reads, cpu_exec const& exec)
{
  std::vector<double> out(static_cast<std::size_t>(lists.blocks.size()));
  base::parallel_ranges(exec, lists.blocks.size(), placed_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      std::int64_t const first = b * list_block::vertices;
      for (std::int64_t v = first; v < std::min(first + list_block::vertices, lists.num_vertices); ++v) {
        out[static_cast<std::size_t>(b)] += static_cast<double>(reads[static_cast<std::size_t>(v)]);
      }
    }
  });
  return out;
}

/// The reads of blocks that fall on edges [begin, end), if a block's reads spread over its edges evenly.
double reads_of_edges(compressed_lists const& lists, std::span<double const> reads, edge_id begin, edge_id end)
{
  list_directory const directory = lists.directory();
  std::int64_t const num_blocks = lists.blocks.size();
  auto const first_edge = [&](std::int64_t b) {
    return b == num_blocks ? lists.num_edges : directory.first_edge(b * list_block::vertices);
  };
  std::int64_t b = 0;  // the last that begins at or before `begin`
  for (std::int64_t beyond = num_blocks; beyond - b > 1;) {
    std::int64_t const middle = b + (beyond - b) / 2;
    (first_edge(middle) > begin ? beyond : b) = middle;
  }
  double sum = 0;
  for (edge_id first = first_edge(b); b < num_blocks && first < end; ++b) {
    edge_id const next = first_edge(b + 1);
    if (next > first) {
      edge_id const covered = std::min(next, end) - std::max(first, begin);
      sum += reads[static_cast<std::size_t>(b)] * static_cast<double>(covered) / static_cast<double>(next - first);
    }
    first = next;
  }
  return sum;
}

/// The blocks of a part that have lists, and the regions of its arrays.
void add_candidates(placed_part const& part, std::int32_t number, std::vector<candidate>& out, cpu_exec const& exec)
{
  std::vector<double> const of_block = reads_of_blocks(part.lists, part.reads, exec);
  auto const add = [&](std::int32_t array, std::int64_t index, std::int64_t bytes, double sum) {
    if (bytes > 0) {
      out.push_back({static_cast<float>(sum / static_cast<double>(bytes)), number, array, index, bytes});
    }
  };
  for (std::size_t b = 0; b < of_block.size(); ++b) {
    add(-1, static_cast<std::int64_t>(b), static_cast<std::int64_t>(part.starts[b + 1] - part.starts[b]), of_block[b]);
  }
  for (std::size_t a = 0; a < part.arrays.size(); ++a) {
    edge_array const& array = part.arrays[a];
    std::int64_t const elements = array.a_region();
    for (std::int64_t r = 0; r < array.num_regions(); ++r) {
      add(static_cast<std::int32_t>(a), r, array.bytes_of_region(r),
          array.reads > 0 ? array.reads * reads_of_edges(part.lists, of_block, r * elements, (r + 1) * elements) : 0);
    }
  }
}

/// The moves of blocks that are hot, or of those that are not, to the bytes from `to` on. @return the byte behind them.
std::uint64_t add_moves(std::span<std::uint64_t const> starts, placement& plan, bool hot, std::uint64_t to)
{
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    std::uint64_t const bytes = starts[b + 1] - starts[b];
    if ((plan.is_hot[b] != 0) != hot || bytes == 0) { continue; }
    bool const follows = !plan.moves.empty() && plan.moves.back().from + plan.moves.back().bytes == starts[b] &&
                         (hot || plan.moves.back().to >= static_cast<std::uint64_t>(plan.gpu_bytes));
    if (follows) {
      plan.moves.back().bytes += bytes;
    } else {
      plan.moves.push_back({starts[b], to, bytes});
    }
    to += bytes;
  }
  return to;
}

}  // namespace

buffer<std::uint64_t> block_starts(compressed_lists const& lists, cpu_exec const& exec)
{
  std::int64_t const blocks = lists.blocks.size();
  auto const all = 4 * static_cast<std::uint64_t>(lists.words.size() - list_codes::words_beyond);
  buffer<std::uint64_t> starts(blocks + 1, *exec.memory);
  base::parallel_ranges(exec, blocks, placed_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      std::uint64_t first = all;
      for_each_start(lists, b,
                     [&](std::uint32_t, std::uint64_t start, std::uint32_t) { first = std::min(first, start); });
      starts[b] = first & ~std::uint64_t{3};
    }
  });
  starts[blocks] = all;
  std::atomic<bool> in_order{true};
  base::parallel_ranges(exec, blocks, placed_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end && in_order.load(std::memory_order_relaxed); ++b) {
      if (!lies_within(lists, b, starts[b], starts[b + 1])) { in_order = false; }
    }
  });
  if (!in_order) { return {}; }
  return starts;
}

std::vector<placement> plan_placements(std::span<placed_part const> parts, std::int64_t budget, cpu_exec const& exec)
{
  std::vector<placement> plans(parts.size());
  std::vector<candidate> candidates;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    plans[p].is_hot.resize(static_cast<std::size_t>(parts[p].lists.blocks.size()));
    for (edge_array const& array : parts[p].arrays) {
      plans[p].regions_on_gpu.emplace_back(static_cast<std::size_t>(array.num_regions()));
    }
    add_candidates(parts[p], static_cast<std::int32_t>(p), candidates, exec);
  }
  take_densest(std::move(candidates), budget, [&](candidate const& c) {
    placement& plan = plans[static_cast<std::size_t>(c.part)];
    auto const index = static_cast<std::size_t>(c.index);
    (c.array < 0 ? plan.is_hot : plan.regions_on_gpu[static_cast<std::size_t>(c.array)])[index] = 1;
    (c.array < 0 ? plan.gpu_bytes : plan.gpu_edge_bytes) += c.bytes;
  });
  for (std::size_t p = 0; p < parts.size(); ++p) {
    std::uint64_t const end_of_hot = add_moves(parts[p].starts, plans[p], true, 0);
    plans[p].all_bytes = static_cast<std::int64_t>(add_moves(parts[p].starts, plans[p], false, end_of_hot));
  }
  return plans;
}

placement plan_placement(compressed_lists const& lists, std::span<std::uint64_t const> starts,
                         std::span<float const> reads, std::span<edge_array const> arrays, std::int64_t budget,
                         cpu_exec const& exec)
{
  placed_part const part{lists, starts, reads, {arrays.begin(), arrays.end()}};
  return std::move(plan_placements({&part, 1}, budget, exec).front());
}

double share_on_gpu(compressed_lists const& lists, placement const& plan, std::span<float const> reads,
                    cpu_exec const& exec)
{
  if (plan.gpu_bytes == plan.all_bytes) { return 1; }
  double there = 0, all = 0;
  std::vector<double> const of_block = reads_of_blocks(lists, reads, exec);
  for (std::size_t b = 0; b < of_block.size(); ++b) {
    there += plan.is_hot[b] != 0 ? of_block[b] : 0;
    all += of_block[b];
  }
  return all > 0 ? there / all : 0;
}

moved_directory move_directory(compressed_lists const& lists, std::span<std::uint64_t const> starts,
                               placement const& plan)
{
  moved_directory out{buffer<list_block>(lists.blocks.size()), buffer<wide_list>(lists.wide.size())};
  std::copy(lists.wide.begin(), lists.wide.end(), out.wide.begin());
  std::uint64_t next_hot = 0;
  auto next_cold = static_cast<std::uint64_t>(plan.gpu_bytes);
  for (std::int64_t b = 0; b < lists.blocks.size(); ++b) {
    auto const i = static_cast<std::size_t>(b);
    std::uint64_t& next = plan.is_hot[i] != 0 ? next_hot : next_cold;
    std::uint64_t const to = next;
    next += starts[i + 1] - starts[i];
    list_block block = lists.blocks[b];
    for (std::uint32_t h = 0; h < 2; ++h) {
      half_head& head = block.halves[h].head;
      if (!head.is(block_kind::wide)) {
        head.bits = (head.bits & ~half_head::base_mask) | (head.base() - starts[i] + to);
        continue;
      }
      auto const first = static_cast<std::int64_t>(head.base());
      for (std::int64_t k = first; k < first + list_block::size_of(h); ++k) {
        // Entries beyond the graph's last vertex, and of empty lists, may point anywhere.
        list_place const at{out.wide[k].at, 0, 0};
        bool const moves = at.byte() >= starts[i] && at.byte() <= starts[i + 1];
        std::uint64_t const byte = moves ? at.byte() - starts[i] + to : 0;
        out.wide[k].at = list_place::of(byte, at.header(), 0, 0).at;
      }
    }
    out.blocks[b] = block;
  }
  return out;
}

void copy_moved(compressed_lists const& lists, placement const& plan, std::uint64_t begin, std::uint64_t end, void* to)
{
  auto* const bytes = static_cast<char*>(to);
  auto const* const from = reinterpret_cast<char const*>(lists.words.data());
  auto move = std::upper_bound(plan.moves.begin(), plan.moves.end(), begin,
                               [](std::uint64_t byte, list_move const& m) { return byte < m.to + m.bytes; });
  std::uint64_t at = begin;
  for (; move != plan.moves.end() && at < end; ++move) {
    std::uint64_t const skipped = at - move->to;
    std::uint64_t const size = std::min(end - at, move->bytes - skipped);
    std::memcpy(bytes + (at - begin), from + move->from + skipped, size);
    at += size;
  }
  std::memset(bytes + (at - begin), 0, end - at);
}

std::vector<std::uint64_t> cuts_of(std::span<std::uint64_t const> starts, placement const& plan)
{
  std::vector<std::uint64_t> cuts{static_cast<std::uint64_t>(plan.gpu_bytes)};
  std::uint64_t at = cuts.front();
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    if (plan.is_hot[b] != 0) { continue; }
    if (at >= cuts.back() + least_cut) { cuts.push_back(at); }
    at += starts[b + 1] - starts[b];
  }
  if (at > cuts.back()) { cuts.push_back(at); }
  return cuts;
}

}  // namespace tendril::place
