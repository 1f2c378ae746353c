#include "convert/merged_rows.hpp"

#include <algorithm>
#include <numeric>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "build/expects.hpp"  // throw_too_many_edges
#include "build/sort.hpp"     // label_set

namespace tendril::convert {
namespace {

/// The first row from `from` on whose source is not below `id`; near rows are found in few steps.
std::int64_t find_row(mapped_run const& run, std::int64_t from, std::uint64_t id)
{
  auto const& sources = run.sources;
  auto const size = static_cast<std::int64_t>(sources.size());
  std::int64_t step = 1, low = from;
  while (low + step < size && sources[static_cast<std::size_t>(low + step)] < id) {
    low += step;
    step *= 2;
  }
  auto const end = sources.begin() + std::min(size, low + step + 1);
  return std::lower_bound(sources.begin() + low, end, id) - sources.begin();
}

/// All arcs of the runs, as the builder of compact ids reads edges.
class run_arcs {
 public:
  explicit run_arcs(std::vector<mapped_run> const& runs) : runs_(runs)
  {
    for (auto const& run : runs) { size_ += static_cast<std::int64_t>(run.targets.size()); }
  }

  [[nodiscard]] std::int64_t size() const { return size_; }

  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, F&& f) const
  {
    std::int64_t before = 0;
    for (auto const& run : runs_) {
      auto const size = static_cast<std::int64_t>(run.targets.size());
      std::int64_t k = std::max<std::int64_t>(begin - before, 0);
      std::int64_t const last = std::min(end - before, size);
      auto row = std::upper_bound(run.ends.begin(), run.ends.end(), k) - run.ends.begin();
      for (; k < last; ++row) {
        std::int64_t const stop = std::min(last, run.ends[static_cast<std::size_t>(row)]);
        for (; k < stop; ++k) {
          f(before + k, run.sources[static_cast<std::size_t>(row)], run.targets[static_cast<std::size_t>(k)]);
        }
      }
      before += size;
      if (before >= end) { return; }
    }
  }

 private:
  std::vector<mapped_run> const& runs_;
  std::int64_t size_ = 0;
};

/// Sorted parts of `keys`, from parts[i] to parts[i + 1], become one; of equal keys those of earlier parts come first.
template <class Key>
void merge_parts(std::vector<Key>& keys, std::vector<std::int64_t>& parts)
{
  std::vector<Key> other(keys.size());
  while (parts.size() > 2) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
      std::int64_t const begin = parts[i], middle = parts[i + 1];
      std::int64_t const end = i + 2 < parts.size() ? parts[i + 2] : middle;
      std::merge(keys.begin() + begin, keys.begin() + middle, keys.begin() + middle, keys.begin() + end,
                 other.begin() + begin);
      parts[kept++] = begin;
    }
    std::int64_t const end = static_cast<std::int64_t>(keys.size());
    parts.resize(kept);
    parts.push_back(end);
    keys.swap(other);
  }
}

/// The elements from `begin` on in another order.
template <class T>
void reorder(std::vector<T>& column, std::int64_t begin, std::vector<std::uint64_t> const& keys)
{
  if (column.empty()) { return; }
  std::vector<T> sorted(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    sorted[i] = column[static_cast<std::size_t>(begin) + static_cast<std::uint32_t>(keys[i])];
  }
  std::copy(sorted.begin(), sorted.end(), column.begin() + begin);
}

}  // namespace

merged_rows::merged_rows(workspace const& space, arc_kinds const& kinds, build_options const& build,
                         std::int64_t num_ids, std::int64_t memory_bytes, cpu_exec const& exec)
    : kinds_(kinds), build_(build)
{
  for (auto const& run : space.record.runs) { runs_.emplace_back(space, run, kinds); }
  if (build.num_vertices >= 0) { num_ids = build.num_vertices; }
  num_vertices_ = num_ids;
  if (build.compact) { number_ids(num_ids, memory_bytes, exec); }
}

void merged_rows::number_ids(std::int64_t num_ids, std::int64_t memory_bytes, cpu_exec const& exec)
{
  run_arcs const arcs(runs_);
  std::int64_t const bits = num_ids / 8 + num_ids / 16;  // a bitmap, and ranks of its words
  std::int64_t const needed = bits + 4 * std::min(num_ids, 2 * arcs.size());
  TENDRIL_EXPECTS(needed <= std::max(memory_bytes / 2, std::int64_t{1} << 23U),
                  "compact: ids up to {} take up to {} bytes, expected at most half of the {} bytes of memory",
                  num_ids - 1, needed, memory_bytes);
  // Loops are dropped already where they should be.
  ids_ = build::id_map::of(arcs, build_options{}, num_ids, bits, exec);
  num_vertices_ = ids_->size();
  release_pages();
}

row_cut merged_rows::first_cut() const { return {0, 0, std::vector<std::int64_t>(runs_.size(), 0)}; }

row_cut merged_rows::cut_at(row_cut const& from, std::int64_t vertex) const
{
  row_cut out{vertex, 0, from.rows};
  std::uint64_t const id = vertex == num_vertices_ ? ~std::uint64_t{0} : id_of(vertex);
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    out.rows[r] = find_row(runs_[r], from.rows[r], id);
    out.num_arcs += runs_[r].begin_of(out.rows[r]);
  }
  return out;
}

void merged_rows::read(row_cut const& from, row_cut const& to, row_batch& out) const
{
  auto const num_rows = static_cast<std::size_t>(to.vertex - from.vertex);
  auto const row_of = [&](vertex_id source) {
    return static_cast<std::size_t>((ids_ ? ids_->rank(source) : source) - from.vertex);
  };
  std::vector<edge_id>& offsets = out.offsets;
  offsets.assign(num_rows + 1, 0);
  std::vector<std::uint32_t> num_parts(num_rows, 0);
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    for (std::int64_t i = from.rows[r]; i < to.rows[r]; ++i) {
      std::size_t const row = row_of(runs_[r].sources[static_cast<std::size_t>(i)]);
      offsets[row + 1] += runs_[r].begin_of(i + 1) - runs_[r].begin_of(i);
      ++num_parts[row];
    }
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  auto const num_arcs = static_cast<std::size_t>(offsets.back());
  out.targets.resize(num_arcs);
  out.weights.resize(kinds_.weights ? num_arcs : 0);
  out.labels.resize(kinds_.labels ? num_arcs : 0);
  out.ids.resize(kinds_.ids ? num_arcs : 0);

  // Parts of a row lie one after the other, in the order of the runs, and then become one.
  std::vector<edge_id> next(offsets.begin(), offsets.end() - 1);
  std::vector<std::size_t> first_part(num_rows + 1, 0);
  std::partial_sum(num_parts.begin(), num_parts.end(), first_part.begin() + 1);
  std::vector<edge_id> part_begins(first_part.back());
  std::vector<std::size_t> next_part(first_part.begin(), first_part.end() - 1);
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    mapped_run const& run = runs_[r];
    for (std::int64_t i = from.rows[r]; i < to.rows[r]; ++i) {
      std::size_t const row = row_of(run.sources[static_cast<std::size_t>(i)]);
      std::int64_t const begin = run.begin_of(i), end = run.begin_of(i + 1), at = next[row];
      std::copy(run.targets.begin() + begin, run.targets.begin() + end, out.targets.begin() + at);
      if (kinds_.weights) {
        std::copy(run.weights.begin() + begin, run.weights.begin() + end, out.weights.begin() + at);
      }
      if (kinds_.labels) { std::copy(run.labels.begin() + begin, run.labels.begin() + end, out.labels.begin() + at); }
      if (kinds_.ids) { std::copy(run.ids.begin() + begin, run.ids.begin() + end, out.ids.begin() + at); }
      part_begins[next_part[row]++] = at;
      next[row] = at + end - begin;
    }
  }
  std::vector<std::int64_t> parts;
  for (std::size_t row = 0; row < num_rows; ++row) {
    if (num_parts[row] < 2) { continue; }
    parts.assign(part_begins.begin() + static_cast<std::ptrdiff_t>(first_part[row]),
                 part_begins.begin() + static_cast<std::ptrdiff_t>(first_part[row + 1]));
    merge_row(parts, out, static_cast<std::int64_t>(row));
  }
  if (build_.drop_duplicates) { drop_duplicates(out); }
  if (ids_) {
    for (vertex_id& target : out.targets) { target = ids_->rank(target); }
  }
  for (std::size_t row = 0; row < num_rows; ++row) {
    edge_id const degree = offsets[row + 1] - offsets[row];
    if (degree > std::int64_t{0xffffffff}) {
      build::throw_too_many_edges(from.vertex + static_cast<std::int64_t>(row), degree);
    }
  }
}

/// @param parts  Where each part of the row begins.
void merged_rows::merge_row(std::vector<std::int64_t>& parts, row_batch& rows, std::int64_t row) const
{
  edge_id const begin = rows.offsets[static_cast<std::size_t>(row)];
  edge_id const end = rows.offsets[static_cast<std::size_t>(row) + 1];
  for (std::int64_t& part : parts) { part -= begin; }
  parts.push_back(end - begin);
  if (!kinds_.any()) {  // equal targets are not told apart
    std::vector<vertex_id> keys(rows.targets.begin() + begin, rows.targets.begin() + end);
    merge_parts(keys, parts);
    std::copy(keys.begin(), keys.end(), rows.targets.begin() + begin);
    return;
  }
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(end - begin));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = std::uint64_t{rows.targets[static_cast<std::size_t>(begin) + i]} << 32U | i;
  }
  merge_parts(keys, parts);
  reorder(rows.weights, begin, keys);
  reorder(rows.labels, begin, keys);
  reorder(rows.ids, begin, keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    rows.targets[static_cast<std::size_t>(begin) + i] = static_cast<vertex_id>(keys[i] >> 32U);
  }
}

/// Of arcs with equal ends and label the first one stays.
void merged_rows::drop_duplicates(row_batch& rows) const
{
  build::label_set seen(kinds_.labels ? 2 : 0, host_memory());
  std::size_t kept = 0;
  edge_id begin = 0;
  for (std::size_t row = 0; row + 1 < rows.offsets.size(); ++row) {
    edge_id const end = rows.offsets[row + 1];
    for (edge_id first = begin; first < end;) {
      vertex_id const target = rows.targets[static_cast<std::size_t>(first)];
      std::size_t const kept_before = kept;
      edge_id i = first;
      for (; i < end && rows.targets[static_cast<std::size_t>(i)] == target; ++i) {
        auto const from = static_cast<std::size_t>(i);
        if (kinds_.labels ? !seen.insert(rows.labels[from]) : i > first) { continue; }
        rows.targets[kept] = target;
        if (kinds_.weights) { rows.weights[kept] = rows.weights[from]; }
        if (kinds_.labels) { rows.labels[kept] = rows.labels[from]; }
        if (kinds_.ids) { rows.ids[kept] = rows.ids[from]; }
        ++kept;
      }
      for (std::size_t k = kept_before; kinds_.labels && k < kept; ++k) { seen.erase(rows.labels[k]); }
      first = i;
    }
    rows.offsets[row + 1] = static_cast<edge_id>(kept);
    begin = end;
  }
  rows.targets.resize(kept);
  rows.weights.resize(kinds_.weights ? kept : 0);
  rows.labels.resize(kinds_.labels ? kept : 0);
  rows.ids.resize(kinds_.ids ? kept : 0);
}

void merged_rows::release_pages() const
{
  for (auto const& run : runs_) { run.file->release_pages(); }
}

}  // namespace tendril::convert
