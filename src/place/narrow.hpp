// Weights, labels and edge ids of a compressed graph in fewer bits, where they take fewer. What is chosen depends on the
// content alone. The readers: <tendril/weights.hpp>, <tendril/labels.hpp>, edge_id_view.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

#include "graph/check.hpp"  // edge_ids_of

namespace tendril::place {

/// The weights that differ, as bits, in ascending order, and the code of each: its position.
class weight_dictionary {
 public:
  static constexpr std::int64_t most_values = std::int64_t{1} << 16U;

  /// A place in a hash table: the first one of a value is slot_of(value), others are behind.
  struct slot {
    std::uint32_t value, code;
  };
  static constexpr std::uint32_t no_code = most_values;

  weight_dictionary() = default;  ///< Of no weight.
  /// @param values  That differ, at most most_values, in ascending order.
  explicit weight_dictionary(std::vector<std::uint32_t> values);

  /// Slots for at most `size` values: about a quarter of them is taken. A power of two.
  [[nodiscard]] static std::size_t slots_for(std::int64_t size)
  {
    return 4 * std::bit_ceil(static_cast<std::size_t>(std::min(size, most_values)) + 1);
  }
  [[nodiscard]] static TENDRIL_HD std::size_t slot_of(std::uint32_t value, std::size_t num_slots)
  {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;  // 2^64 divided by the golden ratio (Knuth)
    return static_cast<std::size_t>((value * odd) >> 32U) % num_slots;
  }
  /// The code of a value that the table has.
  [[nodiscard]] static TENDRIL_HD std::uint32_t find(slot const* slots, std::size_t num_slots, std::uint32_t value)
  {
    std::size_t i = slot_of(value, num_slots);
    while (slots[i].value != value || slots[i].code == no_code) { i = (i + 1) % num_slots; }
    return slots[i].code;
  }

  [[nodiscard]] std::span<slot const> slots() const { return slots_; }
  [[nodiscard]] std::span<std::uint32_t const> values() const { return values_; }
  /// As floats.
  [[nodiscard]] buffer<float> weights() const;

 private:
  std::vector<std::uint32_t> values_;
  std::vector<slot> slots_;
};

/// The least and the largest of some numbers.
struct extent {
  edge_id least = std::numeric_limits<edge_id>::max();
  edge_id most = std::numeric_limits<edge_id>::min();

  TENDRIL_HD void add(edge_id value)
  {
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  [[nodiscard]] int width() const { return std::bit_width(static_cast<std::uint64_t>(most - least)); }
};

/// What decides how edge arrays are written. Of arrays that are there.
struct edge_facts {
  weight_dictionary dictionary;
  extent labels;
  extent ids, ids_less_position;

  [[nodiscard]] static edge_facts of(graph_arrays const& arrays, cpu_exec const& exec);
};

/// How edge arrays are written in fewer bits; a width below 0: they stay as they are.
struct narrow_plan {
  weight_dictionary dictionary;
  int weight_width = -1;
  int label_width = -1;
  int id_width = -1;
  edge_id least_id = 0;
  bool ids_ascend = false;

  /// Those of the arrays that pay.
  [[nodiscard]] static narrow_plan of(graph_arrays const& arrays, edge_facts facts);
  /// All that can be, whether or not it pays.
  [[nodiscard]] static narrow_plan of_all(graph_arrays const& arrays, edge_facts facts);
};

/// Writes numbers [begin, end) at their place in `words`, whose first is that of number `begin`, a multiple of 32. The
/// word behind the last number is not written, unless the number ends in it.
/// @param number  number(i) < 2^width.
template <class Number>
TENDRIL_HD void pack_range(std::int64_t begin, std::int64_t end, std::uint32_t width, Number const& number,
                           std::uint32_t* words)
{
  std::uint64_t pending = 0;  // bits that don't fill a word yet
  std::uint32_t filled = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    std::uint64_t value = number(i);
    for (std::uint32_t left = width; left > 0;) {
      std::uint32_t const taken = left < 32U ? left : 32U;
      pending |= (value & ((std::uint64_t{1} << taken) - 1)) << filled;
      filled += taken;
      left -= taken;
      value >>= taken;
      if (filled >= 32) {
        *words++ = static_cast<std::uint32_t>(pending);
        pending >>= 32U;
        filled -= 32;
      }
    }
  }
  if (filled > 0) { *words = static_cast<std::uint32_t>(pending); }
}

inline constexpr std::int64_t packed_at_once = std::int64_t{1} << 16U;  // numbers that a thread takes

/// What is packed of edge e, and what is read of it again.
struct weight_code {
  float const* weights;
  weight_dictionary::slot const* slots;
  std::size_t num_slots;

  [[nodiscard]] TENDRIL_HD std::uint64_t operator()(edge_id e) const
  {
    return weight_dictionary::find(slots, num_slots, std::bit_cast<std::uint32_t>(weights[e]));
  }
};
struct label_code {
  label_view labels;

  [[nodiscard]] TENDRIL_HD std::uint64_t operator()(edge_id e) const { return labels[e]; }
};
struct id_code {
  edge_id const* ids;
  edge_id least;
  bool ascend;

  [[nodiscard]] TENDRIL_HD std::uint64_t operator()(edge_id e) const
  {
    return static_cast<std::uint64_t>(ids[e] - least - (ascend ? e : 0));
  }
};
template <class View>
struct plain_element {
  View view;

  [[nodiscard]] TENDRIL_HD auto operator()(edge_id e) const { return view[e]; }
};

/// Puts edge arrays into fewer bits as planned: packed_array pack(name, size, width, number) writes number(e) for each
/// edge. The arrays must be sound.
/// @param slots  Of the plan's dictionary, where the arrays lie.
template <class Pack>
void narrow(graph_arrays& arrays, narrow_plan const& plan, weight_dictionary::slot const* slots, Pack const& pack)
{
  narrow_edges& to = arrays.narrow;
  if (plan.weight_width >= 0) {
    to.weight_codes = pack("weight_codes", arrays.weights.size(), plan.weight_width,
                           weight_code{arrays.weights.data(), slots, plan.dictionary.slots().size()});
    to.weight_values = plan.dictionary.weights();
    arrays.weights = {};
  }
  if (plan.label_width >= 0) {
    label_view const labels = arrays.edge_labels.view();
    to.labels = pack("edge_label_codes", arrays.edge_labels.size(), plan.label_width, label_code{labels});
    to.bytes_per_label = labels.bytes_per_label;
    arrays.edge_labels = {};
  }
  if (plan.id_width >= 0) {
    to.ids = pack("edge_id_codes", arrays.edge_ids.size(), plan.id_width,
                  id_code{arrays.edge_ids.data(), plan.least_id, plan.ids_ascend});
    to.least_id = plan.least_id;
    to.ids_ascend = plan.ids_ascend;
    arrays.edge_ids = {};
  }
}

/// Puts them back: shared_array<T> unpack(T(), name, size, number) gives an array of number(e) for each edge.
template <class Unpack>
void widen(graph_arrays& arrays, Unpack const& unpack)
{
  narrow_edges const& from = arrays.narrow;
  if (!from.weight_codes.empty()) {
    weight_view const weights(from.weight_codes.view(), from.weight_values.data());
    arrays.weights = unpack(float{}, "weights", from.weight_codes.size, plain_element<weight_view>{weights});
  }
  if (!from.labels.empty()) {
    plain_element<packed_numbers> const label{from.labels.view()};
    if (from.bytes_per_label == 1) {
      arrays.edge_labels = unpack(std::uint8_t{}, "edge_labels", from.labels.size, label);
    } else {
      arrays.edge_labels = unpack(std::uint16_t{}, "edge_labels", from.labels.size, label);
    }
  }
  if (!from.ids.empty()) {
    plain_element<edge_id_view> const ids{validation::edge_ids_of(arrays)};
    arrays.edge_ids = unpack(edge_id{}, "edge_ids", from.ids.size, ids);
  }
  arrays.narrow = {};
}

/// The same in memory.
void narrow(graph_arrays& arrays, narrow_plan const& plan, cpu_exec const& exec);
void narrow(graph_arrays& arrays, cpu_exec const& exec);
void widen(graph_arrays& arrays, cpu_exec const& exec);

}  // namespace tendril::place
