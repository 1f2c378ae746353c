// Builds a CSR from edges in any order. One scan checks the edges, one counts arcs by bucket (build_buckets.hpp), then
// in one or more passes over ranges of buckets the arcs are scattered to their buckets in input order, and each bucket
// is sorted in cache by (source, target) and written out. Chunks of the input keep their order within a bucket and every
// sort is stable, so the result doesn't depend on threads. When duplicates are dropped the size of the result is
// unknown, and a pass holds no more arcs than the promised peak of memory allows. A build that owns its edges always
// takes several passes, and each takes its edges out of the list: they are not in memory twice.

#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/graph.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "build/arcs.hpp"     // for_each_arc
#include "build/buckets.hpp"  // bucket_plan
#include "build/expects.hpp"  // expect_edge, id_limit
#include "build/ids.hpp"      // id_map
#include "build/offsets.hpp"  // sum_up
#include "build/owned_edges.hpp"
#include "build/sort.hpp"  // bucket_sorter, sorter_pool

namespace tendril::build {

inline constexpr std::int64_t build_grain = std::int64_t{1} << 18U;
inline constexpr std::int64_t unbounded_bytes = std::int64_t{1} << 20U;  // however small the input is
inline constexpr std::int64_t spare_arcs = 64;                           // threads that write there share no cache line
inline constexpr std::int64_t owned_passes = 3;      // of a build that owns its edges and makes two arcs of each
inline constexpr std::int64_t first_pass_share = 7;  // of one that makes one arc: the first pass holds a seventh
inline constexpr std::int64_t least_pass_arcs = std::int64_t{1} << 17U;
inline constexpr std::int64_t least_window_bytes = std::int64_t{8} << 20U;

/// The sorted arcs of one pass.
struct built_piece {
  std::int64_t size = 0;
  buffer<vertex_id> indices;
  arc_column_buffers columns;

  built_piece() = default;
  built_piece(column_kinds const& kinds, std::int64_t num_arcs, memory_resource& memory)
      : size(num_arcs), indices(num_arcs, memory), columns(kinds, num_arcs, memory)
  {
  }
};

/// What stays of edges that are only viewed: all.
struct all_edges_stay {
  template <class Edges>
  all_edges_stay(Edges const& /*edges*/, std::int64_t begin) : end_(begin)
  {
  }
  void keep(std::int64_t /*k*/, std::int64_t /*stays*/) {}
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  std::int64_t end_;
};

template <class Edges>
struct keeper_of {
  using type = all_edges_stay;
};
template <>
struct keeper_of<owned_edges> {
  using type = owned_edges::keeper;
};

template <class Edges>
class csr_builder {
  using kept_edges = typename keeper_of<Edges>::type;

 public:
  csr_builder(Edges& edges, edge_columns_view const& columns, build_options const& options, std::int64_t input_bytes,
              cpu_exec const& exec)
      : edges_(edges),
        columns_(columns),
        options_(options),
        input_bytes_(input_bytes),
        exec_(exec),
        kinds_{columns.weights != nullptr, columns.labels.bytes_per_label, options.keep_edge_ids}
  {
  }

  /// The arrays that follow from edges: indptr, indices, what comes with them, and compact ids.
  graph_arrays build()
  {
    report(0);
    num_ids_ = check_edges();
    report(1);
    if (options_.compact) {
      std::int64_t const window = std::max(input_bytes_, least_window_bytes);
      ids_ = id_map::of(edges_, options_, num_ids_, window, exec_);
    }
    num_vertices_ = ids_ ? ids_->size() : num_ids_;
    target_bits_ =
        static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(num_ids_ - 1, 0))));
    auto const source_bits = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(num_vertices_ - 1, 0)));
    report(2);

    // Few enough for a thread to be worth waking, and at most 2^31 arcs each: the plan counts in 32 bits.
    int const chunks = static_cast<int>(std::max(
        std::clamp<std::int64_t>(edges_.size() / 8192, 1, base::num_threads(exec_)), (edges_.size() >> 30U) + 1));
    bucket_plan const plan(
        source_bits + static_cast<int>(target_bits_), max_arcs(), chunks,
        [&](int chunk, auto&& f) { scan(chunk, chunks, [&](std::uint64_t key, auto) { f(key); }); }, exec_);
    report(3);

    indptr_ = buffer<edge_id>(num_vertices_ + 1, *exec_.memory);
    base::parallel_ranges(exec_, num_vertices_ + 1, build_grain,
                          [&](auto begin, auto end) { std::fill(indptr_.data() + begin, indptr_.data() + end, 0); });
    auto pieces = run_passes(plan);
    sum_degrees();
    return assemble(std::move(pieces));
  }

 private:
  [[nodiscard]] std::int64_t max_arcs() const { return edges_.size() * (options_.symmetrize ? 2 : 1); }

  void report(std::int64_t done) const
  {
    if (exec_.on_progress) { exec_.on_progress({"building", done, 5}); }
  }

  [[nodiscard]] std::int64_t chunk_begin(int chunk, int chunks) const
  {
    std::int64_t const length = (edges_.size() + chunks - 1) / chunks;
    return std::min(length * chunk, edges_.size());
  }

  /// Whether passes take out of the list the edges that no later pass needs: where no edge's number is kept.
  [[nodiscard]] bool consumes() const { return std::is_same_v<Edges, owned_edges> && !options_.keep_edge_ids; }

  /// Whether each pass may hold half as many arcs again as the one before: all arcs that it took are out of the list.
  [[nodiscard]] bool passes_grow() const { return consumes() && !options_.symmetrize; }

  /// f(key, k) for each arc of a chunk that is left.
  template <class F>
  void scan(int chunk, int chunks, F&& f) const
  {
    std::int64_t const begin = chunk_begin(chunk, chunks);
    std::int64_t const end =
        chunk_ends_.empty() ? chunk_begin(chunk + 1, chunks) : chunk_ends_[static_cast<std::size_t>(chunk)];
    auto const bits = target_bits_;
    if (ids_) {
      auto const& ids = *ids_;
      for_each_arc(edges_, options_, begin, end,
                   [&](vertex_id u, vertex_id v, std::int64_t k) { f((std::uint64_t{ids.rank(u)} << bits) | v, k); });
    } else {
      for_each_arc(edges_, options_, begin, end,
                   [&](vertex_id u, vertex_id v, std::int64_t k) { f((std::uint64_t{u} << bits) | v, k); });
    }
  }

  std::int64_t check_edges() const;
  [[noreturn]] void throw_bad_edge(std::int64_t begin, std::int64_t end) const;
  std::vector<built_piece> run_passes(bucket_plan const& plan);
  struct pass {
    std::int64_t first, last;          // buckets
    std::vector<std::int64_t> begins;  // where each one's arcs are held, and the end
  };
  std::vector<pass> plan_passes(bucket_plan const& plan, std::int64_t capacity) const;
  /// What a pass works on: its buckets, and the arcs that it holds, partitioned.
  struct partition {
    bucket_plan const& plan;
    pass const& buckets;
    std::uint64_t* keys;
    arc_columns columns;
    std::int64_t spare;  // positions from here on are unused, spare_arcs for each chunk
    sorter_pool& sorters;
  };
  std::vector<std::int64_t> scatter(partition const& held);
  void give_back_taken(std::vector<std::int64_t> const& ends);
  template <class F>
  void for_each_bucket(partition const& held, std::vector<std::int64_t> const& sizes, F&& f) const;
  void run_pass(partition const& held, built_piece& whole, std::int64_t begin);
  built_piece run_unique_pass(partition const& held);
  [[nodiscard]] std::int64_t stored(bucket_plan const& plan, int chunk, std::int64_t b) const;
  [[nodiscard]] std::int64_t pass_capacity(std::int64_t overhead) const;
  void write_sorted(bucket_sorter::sorted_arcs const& arcs, arc_columns const& from, vertex_id* indices,
                    arc_columns const& to);
  void add_degree(std::uint64_t vertex, std::int64_t degree)
  {
    // A vertex can have arcs in several buckets.
    std::atomic_ref(indptr_[static_cast<std::int64_t>(vertex) + 1]).fetch_add(degree, std::memory_order_relaxed);
  }
  [[nodiscard]] vertex_id target_of(std::uint64_t key) const
  {
    auto const id = static_cast<vertex_id>(key & ((std::uint64_t{1} << target_bits_) - 1));
    return ids_ ? ids_->rank(id) : id;
  }
  void sum_degrees();
  graph_arrays assemble(std::vector<built_piece> pieces);

  Edges& edges_;
  edge_columns_view columns_;
  build_options const& options_;
  std::int64_t input_bytes_;
  cpu_exec const& exec_;
  column_kinds kinds_;
  std::int64_t num_ids_ = 0;       // ids are below
  std::int64_t num_vertices_ = 0;  // the same, or fewer if compact
  unsigned target_bits_ = 0;
  std::optional<id_map> ids_;
  buffer<edge_id> indptr_;
  std::vector<std::int64_t> chunk_ends_;  // where the edges that are left of each chunk end, once some are taken out
};

/// Throws for the first bad edge; returns how many ids there are.
template <class Edges>
std::int64_t csr_builder<Edges>::check_edges() const
{
  std::int64_t const limit = id_limit(options_);
  std::atomic<std::uint32_t> largest{0};
  std::atomic<std::int64_t> first_bad{edges_.size()};
  base::parallel_ranges(exec_, edges_.size(), build_grain, [&](std::int64_t begin, std::int64_t end) {
    vertex_id top = 0;
    edges_.for_each(begin, end, [&](std::int64_t, vertex_id u, vertex_id v) { top = std::max({top, u, v}); });
    bool bad = top >= limit;
    if (columns_.weights != nullptr) {
      // Not one comparison of a NaN is true; infinity minus itself is a NaN.
      for (std::int64_t k = begin; k < end; ++k) {
        bad |= !(columns_.weights[k] - columns_.weights[k] == 0.0F && columns_.weights[k] >= 0.0F);
      }
    }
    for (auto seen = largest.load(); top > seen && !largest.compare_exchange_weak(seen, top);) {}
    if (bad) {
      for (auto seen = first_bad.load(); begin < seen && !first_bad.compare_exchange_weak(seen, begin);) {}
    }
  });
  if (auto const begin = first_bad.load(); begin < edges_.size()) {
    throw_bad_edge(begin, std::min(begin + build_grain, edges_.size()));
  }
  if (options_.num_vertices >= 0) { return options_.num_vertices; }
  return edges_.size() == 0 ? 0 : std::int64_t{largest} + 1;
}

template <class Edges>
void csr_builder<Edges>::throw_bad_edge(std::int64_t begin, std::int64_t end) const
{
  edges_.for_each(begin, end, [&](std::int64_t k, vertex_id u, vertex_id v) {
    expect_edge(k, u, v, columns_.weights == nullptr ? nullptr : columns_.weights + k, options_);
  });
  throw format_error("build_graph: the edges changed while they were read");
}

/// Arcs of a chunk that get a place in bucket b: of a heavy key whose duplicates go, one for each label will do.
template <class Edges>
std::int64_t csr_builder<Edges>::stored(bucket_plan const& plan, int chunk, std::int64_t b) const
{
  std::int64_t const count = plan.count(chunk, b);
  if (!options_.drop_duplicates || !plan.buckets()[static_cast<std::size_t>(b)].one_key()) { return count; }
  return std::min(count, std::int64_t{1} << static_cast<unsigned>(8 * kinds_.bytes_per_label));
}

/// The most arcs a pass holds.
template <class Edges>
std::int64_t csr_builder<Edges>::pass_capacity(std::int64_t overhead) const
{
  if constexpr (std::is_same_v<Edges, owned_edges>) {
    return std::max(max_arcs() / (passes_grow() ? first_pass_share : owned_passes) + 1, least_pass_arcs);
  }
  // Arcs that all stay are in the result too, and so twice in the bound: they fit at once.
  if (!options_.drop_duplicates) { return max_arcs(); }
  std::int64_t const budget = std::max(input_bytes_ + input_bytes_ / 8 - overhead, unbounded_bytes);
  return std::max<std::int64_t>(budget / (8 + kinds_.bytes_per_arc()), 1);
}

template <class Edges>
std::vector<built_piece> csr_builder<Edges>::run_passes(bucket_plan const& plan)
{
  auto const num_buckets = static_cast<std::int64_t>(plan.buckets().size());
  std::int64_t largest = 0;
  for (auto const& b : plan.buckets()) { largest = std::max(largest, b.one_key() ? 0 : b.num_arcs); }
  auto const num_sorters = std::min<std::int64_t>(base::num_threads(exec_), num_buckets);
  sorter_pool sorters(num_sorters, kinds_, largest, options_.drop_duplicates, *exec_.memory);
  std::int64_t const overhead =
      num_sorters * largest * (16 + kinds_.bytes_per_arc()) + plan.num_bytes() + (ids_ ? ids_->num_table_bytes() : 0);
  auto const passes = plan_passes(plan, pass_capacity(overhead));
  std::int64_t held = 0;
  for (auto const& p : passes) { held = std::max(held, p.begins.back()); }
  std::int64_t const room = checked_sum("arcs", held, checked_product("spare arcs", plan.num_chunks(), spare_arcs));
  buffer<std::uint64_t> keys(room, *exec_.memory);
  arc_column_buffers columns(kinds_, room, *exec_.memory);
  std::vector<built_piece> pieces;
  if (!options_.drop_duplicates) { pieces.emplace_back(kinds_, plan.num_arcs(), *exec_.memory); }  // all arcs stay
  std::int64_t done = 0;
  for (auto const& p : passes) {
    partition const part{plan, p, keys.data(), columns.view(), held, sorters};
    if (options_.drop_duplicates) {
      pieces.push_back(run_unique_pass(part));
    } else {
      run_pass(part, pieces.front(), done);
      done += p.begins.back();
    }
  }
  if constexpr (std::is_same_v<Edges, owned_edges>) { edges_.clear(); }
  report(4);
  return pieces;
}

/// Cuts the buckets into runs of at most `capacity` arcs, or a single bucket.
template <class Edges>
auto csr_builder<Edges>::plan_passes(bucket_plan const& plan, std::int64_t capacity) const -> std::vector<pass>
{
  auto const num_buckets = static_cast<std::int64_t>(plan.buckets().size());
  std::vector<pass> passes;
  for (std::int64_t b = 0; b < num_buckets; ++b) {
    std::int64_t held = 0;
    for (int chunk = 0; chunk < plan.num_chunks(); ++chunk) { held += stored(plan, chunk, b); }
    if (passes.empty() || passes.back().begins.back() + held > capacity) {
      if (!passes.empty() && passes_grow()) { capacity += capacity / 2; }
      passes.push_back({b, b, {0}});
    }
    auto& p = passes.back();
    p.last = b + 1;
    p.begins.push_back(p.begins.back() + held);
  }
  return passes;
}

/// Puts the arcs of a pass into their buckets, each in input order. Returns each bucket's size.
template <class Edges>
std::vector<std::int64_t> csr_builder<Edges>::scatter(partition const& held)
{
  auto const& plan = held.plan;
  auto const& begins = held.buckets.begins;
  auto const& columns = held.columns;
  auto* const keys = held.keys;
  auto const first = held.buckets.first, last = held.buckets.last;
  auto const width = static_cast<std::uint64_t>(last - first);
  auto const row = last - first + 1;
  int const chunks = plan.num_chunks();
  buffer<std::int64_t> next(checked_product("ends of buckets", row, chunks), *exec_.memory);
  for (int chunk = 0; chunk < chunks; ++chunk) { next[chunk * row + row - 1] = held.spare + chunk * spare_arcs; }
  bool has_heavy_keys = false;
  for (std::int64_t b = first; b < last; ++b) {
    std::int64_t at = begins[static_cast<std::size_t>(b - first)];
    for (int chunk = 0; chunk < chunks; ++chunk) {
      next[chunk * row + b - first] = at;
      at += stored(plan, chunk, b);
      has_heavy_keys = has_heavy_keys || stored(plan, chunk, b) < plan.count(chunk, b);
    }
  }
  auto const put = [&](std::int64_t at, std::uint64_t key, std::int64_t k) {
    keys[at] = key;
    if (columns.weights) { columns.weights[at] = columns_.weights[k]; }
    if (columns.narrow_labels) { columns.narrow_labels[at] = static_cast<std::uint8_t>(columns_.labels[k]); }
    if (columns.wide_labels) { columns.wide_labels[at] = columns_.labels[k]; }
    if (columns.edge_ids) { columns.edge_ids[at] = k; }
  };
  std::vector<std::int64_t> left(static_cast<std::size_t>(chunks));
  /// Whether bucket first + b, for an earlier one a number below 0, is of a later pass.
  auto const is_later = [width](std::uint64_t b) {
    return static_cast<std::int64_t>(b) >= static_cast<std::int64_t>(width);
  };
  base::parallel_ranges(exec_, chunks, 1, [&](std::int64_t chunk, std::int64_t) {
    auto* const mine = next.data() + chunk * row;
    kept_edges kept(edges_, chunk_begin(static_cast<int>(chunk), chunks));
    bool const consumes = this->consumes();
    if (!has_heavy_keys) {
      // Arcs of other passes go to a spare place: which arcs those are can't be predicted, so a branch costs more.
      scan(static_cast<int>(chunk), chunks, [&](std::uint64_t key, std::int64_t k) {
        std::uint64_t const b = std::uint64_t{plan.find(key)} - static_cast<std::uint64_t>(first);
        std::uint64_t const inside = b < width;
        auto& slot = mine[width ^ ((b ^ width) & (0 - inside))];
        std::int64_t const at = slot;
        slot = at + static_cast<std::int64_t>(inside);
        put(at, key, k);
        if (consumes) { kept.keep(k, is_later(b)); }
      });
      left[static_cast<std::size_t>(chunk)] = kept.end();
      return;
    }
    std::vector<std::unique_ptr<label_set>> seen(width);
    /// False for an arc of a one-key bucket whose label this chunk has put there already.
    auto const is_new = [&](std::uint64_t b, std::int64_t k) {
      if (!plan.buckets()[b + static_cast<std::uint64_t>(first)].one_key()) { return true; }
      bool const fresh = seen[b] == nullptr;
      if (fresh) { seen[b] = std::make_unique<label_set>(kinds_.bytes_per_label, *exec_.memory); }
      return kinds_.bytes_per_label == 0 ? fresh : seen[b]->insert(columns_.labels[k]);
    };
    scan(static_cast<int>(chunk), chunks, [&](std::uint64_t key, std::int64_t k) {
      std::uint64_t const b = std::uint64_t{plan.find(key)} - static_cast<std::uint64_t>(first);
      bool const inside = b < width;
      if (inside && is_new(b, k)) { put(mine[b]++, key, k); }
      if (consumes) { kept.keep(k, is_later(b)); }
    });
    left[static_cast<std::size_t>(chunk)] = kept.end();
  });
  if (consumes()) { give_back_taken(left); }

  // Where arcs were left out, a chunk may have filled less than its part: close the gaps.
  std::vector<std::int64_t> sizes;
  for (std::int64_t b = first; b < last; ++b) {
    std::int64_t const begin = begins[static_cast<std::size_t>(b - first)];
    std::int64_t end = begin, part = begin;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      std::int64_t const filled = next[chunk * row + b - first];
      if (part == end) {
        end = filled;
      } else {
        for (std::int64_t i = part; i < filled; ++i, ++end) {
          keys[end] = keys[i];
          columns.copy(end, columns, i);
        }
      }
      part += stored(plan, chunk, b);
    }
    sizes.push_back(end - begin);
  }
  return sizes;
}

/// Takes over where the edges that are left of each chunk end.
template <class Edges>
void csr_builder<Edges>::give_back_taken(std::vector<std::int64_t> const& ends)
{
  if constexpr (std::is_same_v<Edges, owned_edges>) {
    auto const chunks = static_cast<int>(ends.size());
    for (int chunk = 0; chunk < chunks; ++chunk) {
      auto const c = static_cast<std::size_t>(chunk);
      std::int64_t const end = chunk_ends_.empty() ? chunk_begin(chunk + 1, chunks) : chunk_ends_[c];
      edges_.give_back(ends[c], end, *exec_.memory);
    }
    chunk_ends_ = ends;
  }
}

/// Writes arcs in order, and adds them to their sources' degrees.
template <class Edges>
void csr_builder<Edges>::write_sorted(bucket_sorter::sorted_arcs const& arcs, arc_columns const& from,
                                      vertex_id* indices, arc_columns const& to)
{
  bool const any = to.any();
  std::uint64_t source = 0;
  std::int64_t degree = 0;
  for (std::int64_t i = 0; i < arcs.size; ++i) {
    std::uint64_t const key = arcs.key(i);
    indices[i] = target_of(key);
    if (any) { to.copy(i, from, arcs.position(i)); }
    if (key >> target_bits_ != source) {
      if (degree > 0) { add_degree(source, degree); }
      source = key >> target_bits_;
      degree = 0;
    }
    ++degree;
  }
  if (degree > 0) { add_degree(source, degree); }
}

/// f(b, range, begin, size, sorter) for each bucket of a pass, in parallel; its arcs are held at `begin`.
template <class Edges>
template <class F>
void csr_builder<Edges>::for_each_bucket(partition const& held, std::vector<std::int64_t> const& sizes, F&& f) const
{
  base::parallel_ranges(exec_, held.buckets.last - held.buckets.first, 1, [&](std::int64_t i, std::int64_t) {
    auto const b = static_cast<std::size_t>(i);
    auto const sorter = held.sorters.borrow();
    f(b, held.plan.buckets()[static_cast<std::size_t>(held.buckets.first) + b], held.buckets.begins[b], sizes[b],
      *sorter);
  });
}

/// Writes the arcs of a pass, in order, into the result from `begin` on.
template <class Edges>
void csr_builder<Edges>::run_pass(partition const& held, built_piece& whole, std::int64_t begin)
{
  auto const sizes = scatter(held);
  auto const to = whole.columns.view().at(begin);
  auto* const indices = whole.indices.data() + begin;
  for_each_bucket(held, sizes, [&](auto, bucket const& range, auto first, auto size, bucket_sorter& sorter) {
    auto const arcs = sorter.sort(range, held.keys + first, size);
    write_sorted(arcs, held.columns.at(first), indices + first, to.at(first));
  });
}

/// The arcs of a pass, in order and without duplicates.
template <class Edges>
built_piece csr_builder<Edges>::run_unique_pass(partition const& held)
{
  auto const sizes = scatter(held);
  std::vector<std::int64_t> ends(sizes.size() + 1, 0);  // of what is left of each bucket
  for_each_bucket(held, sizes, [&](auto b, bucket const& range, auto begin, auto size, bucket_sorter& sorter) {
    ends[b + 1] = sorter.sort_unique(range, held.keys + begin, held.columns.at(begin), size);
  });
  for (std::size_t b = 0; b + 1 < ends.size(); ++b) { ends[b + 1] += ends[b]; }
  built_piece out(kinds_, ends.back(), *exec_.memory);
  auto const to = out.columns.view();
  for_each_bucket(held, sizes, [&](auto b, bucket const&, auto begin, auto, bucket_sorter&) {
    auto const at = ends[b], size = ends[b + 1] - at;
    write_sorted({held.keys + begin, 0, 0, size}, {}, out.indices.data() + at, {});
    to.at(at).copy_range(held.columns.at(begin), size);
  });
  return out;
}

/// Degrees, each at the place of its vertex's end, become offsets.
template <class Edges>
void csr_builder<Edges>::sum_degrees()
{
  auto* const degrees = indptr_.data() + 1;
  base::parallel_ranges(exec_, num_vertices_, build_grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      if (degrees[v] > std::int64_t{0xffffffffLL}) { throw_too_many_edges(v, degrees[v]); }
    }
  });
  sum_up(indptr_.span().subspan(1), exec_);
}

template <class Edges>
graph_arrays csr_builder<Edges>::assemble(std::vector<built_piece> pieces)
{
  built_piece whole;
  if (pieces.size() == 1) {
    whole = std::move(pieces.front());
  } else {
    std::int64_t size = 0;
    for (auto const& p : pieces) { size += p.size; }
    whole = built_piece(kinds_, size, *exec_.memory);
    std::int64_t at = 0;
    for (auto& p : pieces) {
      std::copy(p.indices.begin(), p.indices.end(), whole.indices.data() + at);
      whole.columns.view().at(at).copy_range(p.columns.view(), p.size);
      at += p.size;
      p = {};
    }
  }
  graph_arrays arrays;
  arrays.indptr = std::move(indptr_);
  arrays.indices = std::move(whole.indices);
  if (kinds_.weights) { arrays.weights = std::move(whole.columns.weights); }
  if (kinds_.bytes_per_label == 1) { arrays.edge_labels = shared_array(std::move(whole.columns.narrow_labels)); }
  if (kinds_.bytes_per_label == 2) { arrays.edge_labels = shared_array(std::move(whole.columns.wide_labels)); }
  if (kinds_.edge_ids) { arrays.edge_ids = std::move(whole.columns.edge_ids); }
  if (ids_) { arrays.original_ids = ids_->take_ids(); }
  arrays.symmetric = options_.symmetrize;
  report(5);
  return arrays;
}

}  // namespace tendril::build
