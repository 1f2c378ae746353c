#include "build/sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace tendril::build {
namespace {

constexpr unsigned digit_bits = 8;
constexpr std::int64_t small = 192;  // below, a comparison sort is faster

template <class T>
void copy_array(T* to, T const* from, std::int64_t size)
{
  if (to != nullptr && size > 0) { std::memcpy(to, from, static_cast<std::size_t>(size) * sizeof(T)); }
}

/// Sorts by the bits [low, high), stably, between `a` and `b`; returns the one that holds the result.
std::uint64_t* radix_sort(std::uint64_t* a, std::uint64_t* b, std::int64_t size, unsigned low, unsigned high)
{
  constexpr unsigned radix = 1U << digit_bits;
  unsigned const num_digits = (high - low + digit_bits - 1) / digit_bits;
  std::array<std::array<std::uint32_t, radix>, 64 / digit_bits> counts;
  std::memset(counts.data(), 0, num_digits * sizeof(counts[0]));
  for (std::int64_t i = 0; i < size; ++i) {
    std::uint64_t key = a[i] >> low;
    for (unsigned d = 0; d < num_digits; ++d, key >>= digit_bits) { ++counts[d][key & (radix - 1)]; }
  }
  for (unsigned d = 0; d < num_digits; ++d) {
    unsigned const shift = low + d * digit_bits;
    auto& offsets = counts[d];
    if (offsets[(a[0] >> shift) & (radix - 1)] == static_cast<std::uint64_t>(size)) { continue; }  // all alike
    std::uint32_t sum = 0;
    for (auto& offset : offsets) { sum += std::exchange(offset, sum); }
    for (std::int64_t i = 0; i < size; ++i) { b[offsets[(a[i] >> shift) & (radix - 1)]++] = a[i]; }
    std::swap(a, b);
  }
  return a;
}

}  // namespace

void arc_columns::copy_range(arc_columns const& source, std::int64_t size) const
{
  copy_array(weights, source.weights, size);
  copy_array(narrow_labels, source.narrow_labels, size);
  copy_array(wide_labels, source.wide_labels, size);
  copy_array(edge_ids, source.edge_ids, size);
}

label_set::label_set(int bytes_per_label, memory_resource& memory)
    : bits_(bytes_per_label == 0   ? 0
            : bytes_per_label == 1 ? 4
                                   : 1024,
            memory)
{
  std::fill(bits_.begin(), bits_.end(), 0);
}

bucket_sorter::bucket_sorter(column_kinds const& columns, std::int64_t max_arcs, bool drop_duplicates,
                             memory_resource& memory)
    : kinds_(columns),
      a_(max_arcs, memory),
      b_(max_arcs, memory),
      staged_(columns, drop_duplicates ? max_arcs : 0, memory),
      labels_(drop_duplicates ? columns.bytes_per_label : 0, memory)
{
}

bucket_sorter::sorted_arcs bucket_sorter::sort(bucket const& range, std::uint64_t const* keys, std::int64_t size)
{
  if (range.one_key() || size == 0) { return {nullptr, range.lo, 0, size}; }
  auto const position_bits =
      kinds_.any() ? static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(size - 1))) : 0U;
  std::uint64_t const position_step = kinds_.any() ? 1 : 0;
  auto* packed = a_.data();
  bool ascending = true;
  std::uint64_t previous = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    std::uint64_t const key = keys[i] - range.lo;
    ascending &= previous <= key;
    previous = key;
    packed[i] = (key << position_bits) | (static_cast<std::uint64_t>(i) * position_step);
  }
  if (!ascending) {
    if (size < small) {
      std::sort(packed, packed + size);  // positions make equal keys different, and keep their order
    } else {
      auto const key_bits = static_cast<unsigned>(std::bit_width(range.hi - range.lo));
      packed = radix_sort(packed, b_.data(), size, position_bits, position_bits + key_bits);
    }
  }
  return {packed, range.lo, position_bits, size};
}

std::int64_t bucket_sorter::sort_unique(bucket const& range, std::uint64_t* keys, arc_columns const& columns,
                                        std::int64_t size)
{
  auto const arcs = sort(range, keys, size);
  auto const staged = staged_.view();
  bool const in_place = arcs.packed == nullptr;  // one key: positions ascend, so nothing is overwritten too early
  std::int64_t out = 0;
  auto const keep = [&](std::int64_t i, std::uint64_t key) {
    keys[out] = key;
    if (in_place) {
      columns.copy(out, columns, arcs.position(i));
    } else {
      staged.copy(out, columns, arcs.position(i));
    }
    ++out;
  };
  for (std::int64_t i = 0; i < size;) {
    std::uint64_t const key = arcs.key(i);
    std::int64_t end = i + 1;
    while (end < size && arcs.key(end) == key) { ++end; }
    std::int64_t const first_out = out;
    keep(i, key);
    if (columns.has_labels() && end > i + 1) {
      labels_.insert(columns.label(arcs.position(i)));
      for (std::int64_t j = i + 1; j < end; ++j) {
        if (labels_.insert(columns.label(arcs.position(j)))) { keep(j, key); }
      }
      arc_columns const& kept = in_place ? columns : staged;
      for (std::int64_t j = first_out; j < out; ++j) { labels_.erase(kept.label(j)); }
    }
    i = end;
  }
  if (!in_place) { columns.copy_range(staged, out); }
  return out;
}

sorter_pool::sorter_pool(std::int64_t size, column_kinds const& columns, std::int64_t max_arcs, bool drop_duplicates,
                         memory_resource& memory)
{
  for (std::int64_t i = 0; i < size; ++i) { sorters_.emplace_back(columns, max_arcs, drop_duplicates, memory); }
  for (auto& sorter : sorters_) { free_.push_back(&sorter); }
}

std::unique_ptr<bucket_sorter, sorter_pool::give_back> sorter_pool::borrow()
{
  std::lock_guard const lock(mutex_);
  auto* const sorter = free_.back();
  free_.pop_back();
  return {sorter, give_back{this}};
}

void sorter_pool::put(bucket_sorter* sorter)
{
  std::lock_guard const lock(mutex_);
  free_.push_back(sorter);  // the room it had is still there
}

}  // namespace tendril::build
