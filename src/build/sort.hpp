// Sorts one bucket of arcs by (source, target), equal ones in input order, and drops duplicates.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/graph.hpp>

#include "build/buckets.hpp"  // bucket

namespace tendril::build {

/// What is kept along with the arcs, in arrays of one length; null where it is not kept.
struct arc_columns {
  float* weights = nullptr;
  std::uint8_t* narrow_labels = nullptr;
  std::uint16_t* wide_labels = nullptr;
  edge_id* edge_ids = nullptr;

  [[nodiscard]] bool any() const { return weights || narrow_labels || wide_labels || edge_ids; }
  [[nodiscard]] bool has_labels() const { return narrow_labels || wide_labels; }
  [[nodiscard]] label_id label(std::int64_t i) const { return narrow_labels ? narrow_labels[i] : wide_labels[i]; }

  [[nodiscard]] arc_columns at(std::int64_t offset) const
  {
    return {weights ? weights + offset : nullptr, narrow_labels ? narrow_labels + offset : nullptr,
            wide_labels ? wide_labels + offset : nullptr, edge_ids ? edge_ids + offset : nullptr};
  }

  /// Element `to` becomes element `from` of `source`.
  void copy(std::int64_t to, arc_columns const& source, std::int64_t from) const
  {
    if (weights) { weights[to] = source.weights[from]; }
    if (narrow_labels) { narrow_labels[to] = source.narrow_labels[from]; }
    if (wide_labels) { wide_labels[to] = source.wide_labels[from]; }
    if (edge_ids) { edge_ids[to] = source.edge_ids[from]; }
  }

  void copy_range(arc_columns const& source, std::int64_t size) const;
};

/// Memory for `arc_columns`.
struct arc_column_buffers {
  buffer<float> weights;
  buffer<std::uint8_t> narrow_labels;
  buffer<std::uint16_t> wide_labels;
  buffer<edge_id> edge_ids;

  arc_column_buffers() = default;
  /// Room for `size` of the columns that `like` says.
  struct kinds {
    bool weights = false;
    int bytes_per_label = 0;
    bool edge_ids = false;
    [[nodiscard]] std::int64_t bytes_per_arc() const { return 4 * weights + bytes_per_label + 8 * edge_ids; }
    [[nodiscard]] bool any() const { return bytes_per_arc() > 0; }
  };
  arc_column_buffers(kinds const& columns, std::int64_t size, memory_resource& memory)
      : weights(columns.weights ? size : 0, memory),
        narrow_labels(columns.bytes_per_label == 1 ? size : 0, memory),
        wide_labels(columns.bytes_per_label == 2 ? size : 0, memory),
        edge_ids(columns.edge_ids ? size : 0, memory)
  {
  }

  [[nodiscard]] arc_columns view()
  {
    return {weights.data(), narrow_labels.data(), wide_labels.data(), edge_ids.data()};
  }
};

using column_kinds = arc_column_buffers::kinds;

/// Distinct labels seen in a run of parallel edges.
class label_set {
 public:
  label_set(int bytes_per_label, memory_resource& memory);
  /// False if it was there already.
  bool insert(label_id label)
  {
    std::uint64_t const bit = std::uint64_t{1} << (label & 63U);
    auto& word = bits_[label >> 6U];
    bool const fresh = (word & bit) == 0;
    word |= bit;
    return fresh;
  }
  void erase(label_id label) { bits_[label >> 6U] &= ~(std::uint64_t{1} << (label & 63U)); }

 private:
  buffer<std::uint64_t> bits_;
};

/// One thread's memory for sorting buckets.
class bucket_sorter {
 public:
  /// @param max_arcs  Of the largest bucket with more than one key.
  bucket_sorter(column_kinds const& columns, std::int64_t max_arcs, bool drop_duplicates, memory_resource& memory);

  /// The arcs of a bucket in order: entry i has key `key(i)` and was arc number `position(i)` of the bucket.
  struct sorted_arcs {
    std::uint64_t const* packed;  // null: one key
    std::uint64_t lo;
    unsigned position_bits;
    std::int64_t size;

    [[nodiscard]] std::uint64_t key(std::int64_t i) const { return packed ? lo + (packed[i] >> position_bits) : lo; }
    [[nodiscard]] std::int64_t position(std::int64_t i) const
    {
      return packed ? static_cast<std::int64_t>(packed[i] & ((std::uint64_t{1} << position_bits) - 1)) : i;
    }
  };

  /// Valid until the next call. Positions are meaningful only if there are columns.
  sorted_arcs sort(bucket const& range, std::uint64_t const* keys, std::int64_t size);

  /// Sorts, drops duplicates (of equal key and label the first stays), and leaves the rest in order at the front of
  /// `keys` and `columns`. Returns how many.
  std::int64_t sort_unique(bucket const& range, std::uint64_t* keys, arc_columns const& columns, std::int64_t size);

 private:
  column_kinds kinds_;
  buffer<std::uint64_t> a_, b_;
  arc_column_buffers staged_;
  label_set labels_;
};

/// Sorters for as many threads as work at a time, whichever these are.
class sorter_pool {
 public:
  sorter_pool(std::int64_t size, column_kinds const& columns, std::int64_t max_arcs, bool drop_duplicates,
              memory_resource& memory);

  struct give_back {
    sorter_pool* pool;
    void operator()(bucket_sorter* sorter) const { pool->put(sorter); }
  };
  /// A sorter that no other borrower uses meanwhile. There must not be more borrowers than sorters.
  [[nodiscard]] std::unique_ptr<bucket_sorter, give_back> borrow();

 private:
  void put(bucket_sorter* sorter);

  std::vector<bucket_sorter> sorters_;
  std::mutex mutex_;
  std::vector<bucket_sorter*> free_;
};

}  // namespace tendril::build
