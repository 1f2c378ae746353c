#include "place/narrow.hpp"

#include <atomic>
#include <bit>
#include <limits>
#include <utility>

#include <tendril/compress.hpp>

#include "graph/places.hpp"        // expect_in_host_memory
#include "place/list_encoder.hpp"  // for_each_range

namespace tendril {
namespace place {
namespace {

progress told(std::int64_t size) { return {"compressing", 0, size}; }

/// Values that threads put in side by side.
class value_set {
 public:
  explicit value_set(std::int64_t most) : slots_(weight_dictionary::slots_for(most)) {}

  [[nodiscard]] bool is_full() const { return size_.load(std::memory_order_relaxed) > weight_dictionary::most_values; }
  /// Unless it is full. There is room for what threads insert that have not seen it yet.
  void insert(std::uint32_t value)
  {
    std::uint64_t const taken = is_taken | value;
    for (std::size_t i = weight_dictionary::slot_of(value, slots_.size());; i = (i + 1) % slots_.size()) {
      std::uint64_t there = slots_[i].load(std::memory_order_relaxed);
      if (there == 0 && slots_[i].compare_exchange_strong(there, taken, std::memory_order_relaxed)) {
        size_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      if (there == taken) { return; }
    }
  }
  [[nodiscard]] std::vector<std::uint32_t> values() const
  {
    std::vector<std::uint32_t> out;
    for (auto const& slot : slots_) {
      if (std::uint64_t const there = slot.load(std::memory_order_relaxed); there != 0) {
        out.push_back(static_cast<std::uint32_t>(there));
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  static constexpr std::uint64_t is_taken = std::uint64_t{1} << 32U;

  std::vector<std::atomic<std::uint64_t>> slots_;
  std::atomic<std::int64_t> size_{0};
};

/// Of number(i) for all i in [0, size).
template <class Number>
extent extent_of(std::int64_t size, Number const& number, cpu_exec const& exec)
{
  std::int64_t const num_ranges = (size + packed_at_once - 1) / packed_at_once;
  std::vector<extent> parts(static_cast<std::size_t>(num_ranges));
  for_each_range(size, packed_at_once, told(size), exec, [&](std::int64_t begin, std::int64_t end) {
    extent& part = parts[static_cast<std::size_t>(begin / packed_at_once)];
    for (std::int64_t i = begin; i < end; ++i) { part.add(number(i)); }
  });
  extent all;
  for (extent const& part : parts) {
    all.add(part.least);
    all.add(part.most);
  }
  return all;
}

/// Bytes of `size` numbers of a width; 0 of none.
std::int64_t packed_bytes(std::int64_t size, int width)
{
  if (width < 0) { return 0; }
  return 4 * packed_numbers::num_words(size, static_cast<std::uint32_t>(width));
}

}  // namespace

weight_dictionary::weight_dictionary(std::vector<std::uint32_t> values)
    : values_(std::move(values)), slots_(slots_for(std::ssize(values_)), slot{0, no_code})
{
  for (std::size_t code = 0; code < values_.size(); ++code) {
    std::size_t i = slot_of(values_[code], slots_.size());
    while (slots_[i].code != no_code) { i = (i + 1) % slots_.size(); }
    slots_[i] = {values_[code], static_cast<std::uint32_t>(code)};
  }
}

buffer<float> weight_dictionary::weights() const
{
  buffer<float> out(std::ssize(values_));
  std::transform(values_.begin(), values_.end(), out.begin(),
                 [](std::uint32_t value) { return std::bit_cast<float>(value); });
  return out;
}

namespace {

/// Of all weights; of none if more than most_values differ.
weight_dictionary dictionary_of(std::span<float const> weights, cpu_exec const& exec)
{
  value_set seen(std::ssize(weights));
  for_each_range(std::ssize(weights), packed_at_once, told(std::ssize(weights)), exec,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t e = begin; e < end; ++e) {
                     if (seen.is_full()) { return; }
                     seen.insert(std::bit_cast<std::uint32_t>(weights[static_cast<std::size_t>(e)]));
                   }
                 });
  return seen.is_full() ? weight_dictionary() : weight_dictionary(seen.values());
}

}  // namespace

edge_facts edge_facts::of(graph_arrays const& arrays, cpu_exec const& exec)
{
  edge_facts out;
  if (!arrays.weights.empty()) { out.dictionary = dictionary_of(arrays.weights.span(), exec); }
  label_view const labels = arrays.edge_labels.view();
  out.labels = extent_of(
      arrays.edge_labels.size(), [=](edge_id e) { return edge_id{labels[e]}; }, exec);
  edge_id const* const ids = arrays.edge_ids.data();
  out.ids = extent_of(
      arrays.edge_ids.size(), [=](edge_id e) { return ids[e]; }, exec);
  out.ids_less_position = extent_of(
      arrays.edge_ids.size(), [=](edge_id e) { return ids[e] - e; }, exec);
  return out;
}

narrow_plan narrow_plan::of_all(graph_arrays const& arrays, edge_facts facts)
{
  narrow_plan out;
  if (std::int64_t const values = std::ssize(facts.dictionary.values()); values > 0) {
    out.weight_width = std::bit_width(static_cast<std::uint64_t>(values - 1));
    out.dictionary = std::move(facts.dictionary);
  }
  if (arrays.edge_labels.size() > 0) {
    out.label_width = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(facts.labels.most))));
  }
  constexpr edge_id most_id = edge_id{1} << 62U;  // <tendril/packed_numbers.hpp>
  if (!arrays.edge_ids.empty() && facts.ids.least >= 0 && facts.ids.most < most_id) {
    extent const& ascending = facts.ids_less_position;
    out.ids_ascend = ascending.least >= 0 && ascending.width() < facts.ids.width();
    extent const& chosen = out.ids_ascend ? ascending : facts.ids;
    out.least_id = chosen.least;
    out.id_width = chosen.width();
  }
  return out;
}

narrow_plan narrow_plan::of(graph_arrays const& arrays, edge_facts facts)
{
  narrow_plan out = of_all(arrays, std::move(facts));
  auto const drop_unless = [](bool pays, int& width) {
    if (!pays) { width = -1; }
  };
  // Samplers read weights and labels, which takes longer where they are packed: they must save half.
  std::int64_t const weights = arrays.weights.size(), labels = arrays.edge_labels.size(), ids = arrays.edge_ids.size();
  std::int64_t const values = std::ssize(out.dictionary.values());
  int const label_bytes = arrays.edge_labels.bytes_per_label();
  constexpr std::int64_t most_weight_bits = 17;  // codes of 16, and their dictionary
  drop_unless(weights * out.weight_width + 32 * values <= most_weight_bits * weights &&
                  packed_bytes(weights, out.weight_width) + 4 * values < 4 * weights,
              out.weight_width);
  drop_unless(out.label_width <= 4 * label_bytes && packed_bytes(labels, out.label_width) < label_bytes * labels,
              out.label_width);
  drop_unless(packed_bytes(ids, out.id_width) < 8 * ids, out.id_width);
  return out;
}

void narrow(graph_arrays& arrays, cpu_exec const& exec)
{
  narrow(arrays, narrow_plan::of(arrays, edge_facts::of(arrays, exec)), exec);
}

void narrow(graph_arrays& arrays, narrow_plan const& plan, cpu_exec const& exec)
{
  narrow(arrays, plan, plan.dictionary.slots().data(),
         [&](char const*, std::int64_t size, int width, auto const& number) -> packed_array {
           auto const bits = static_cast<std::uint32_t>(width);
           buffer<std::uint32_t> words(packed_numbers::num_words(size, bits), *exec.memory);
           std::fill(words.end() - 2, words.end(), 0U);
           for_each_range(size, packed_at_once, told(size), exec, [&](std::int64_t begin, std::int64_t end) {
             pack_range(begin, end, bits, number, words.data() + (begin / 32) * width);
           });
           return {std::move(words), size, bits};
         });
}

void widen(graph_arrays& arrays, cpu_exec const& exec)
{
  widen(arrays, [&]<class T>(T, char const*, std::int64_t size, auto const& number) {
    buffer<T> out(size, *exec.memory);
    for_each_range(size, packed_at_once, {"unpacking", 0, size}, exec, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) { out[i] = static_cast<T>(number(i)); }
    });
    return shared_array<T>(std::move(out));
  });
}

}  // namespace place

namespace {

/// The edge arrays of a graph as they are before they are compressed.
graph_arrays plain_arrays(graph const& input, narrow_edges const& of, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  graph_arrays out = input.arrays();
  if (input.form() == graph_form::csr) { return out; }
  input.check(exec);  // codes are followed
  out.narrow = of;
  place::widen(out, exec);
  return out;
}

}  // namespace

shared_array<float> edge_weights(graph const& input, cpu_exec const& exec)
{
  narrow_edges weights = input.arrays().narrow;
  weights.labels = {};
  weights.ids = {};
  return plain_arrays(input, weights, exec).weights;
}

label_array edge_labels(graph const& input, cpu_exec const& exec)
{
  narrow_edges labels = input.arrays().narrow;
  labels.weight_codes = {};
  labels.ids = {};
  return plain_arrays(input, labels, exec).edge_labels;
}

shared_array<edge_id> edge_ids(graph const& input, cpu_exec const& exec)
{
  narrow_edges ids = input.arrays().narrow;
  ids.weight_codes = {};
  ids.labels = {};
  return plain_arrays(input, ids, exec).edge_ids;
}

std::vector<edge_array_size> edge_array_sizes(graph const& input)
{
  auto const& a = input.arrays();
  narrow_edges const& narrow = a.narrow;
  std::vector<edge_array_size> out;
  auto const add = [&](char const* name, bool is_there, packed_array const& packed, char const* form,
                       std::int64_t more_bytes, int plain_bytes) {
    if (!is_there) { return; }
    double const more = packed.empty() ? 0 : 8.0 * static_cast<double>(more_bytes) / static_cast<double>(packed.size);
    out.push_back(
        {name, packed.empty() ? "array" : form, packed.empty() ? 8.0 * plain_bytes : packed.bits_each() + more});
  };
  add("weights", input.has_weights(), narrow.weight_codes, "dictionary", 4 * narrow.weight_values.size(), 4);
  add("edge_labels", input.has_edge_labels(), narrow.labels, "narrow", 0, input.bytes_per_edge_label());
  add("edge_ids", input.has_edge_ids(), narrow.ids, narrow.ids.width == 0 ? "positions" : "narrow", 0, 8);
  return out;
}

}  // namespace tendril
