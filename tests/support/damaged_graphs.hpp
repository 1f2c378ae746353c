// Arrays of graphs that are not what they should be, and what is said of them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/graph.hpp>

#include "support/to_array.hpp"

namespace tendril::test {

template <class T>
buffer<T> copy_of(shared_array<T> const& from)
{
  buffer<T> out(from.size());
  std::copy(from.begin(), from.end(), out.begin());
  return out;
}

/// What a call says is wrong; nothing if it accepts everything.
template <class F>
std::string complaint_of(F&& call)
{
  try {
    call();
    return {};
  } catch (format_error const& e) {
    return e.what();
  }
}

/// A ring of n vertices with weights and ids of edges: edges 2 v and 2 v + 1 leave vertex v.
inline graph_arrays ring_with_ids(std::int64_t n)
{
  edge_attributes extra;
  extra.has_weights = true;
  graph_arrays arrays = generate_regular(regular_graph::ring, n, 1, extra).arrays();
  buffer<edge_id> ids(arrays.indices.size());
  std::fill(ids.begin(), ids.end(), 1);
  arrays.edge_ids = std::move(ids);
  arrays.symmetric = false;
  return arrays;
}

/// `arrays` with one element of one array changed.
template <class T>
graph_arrays changed(graph_arrays arrays, shared_array<T> graph_arrays::*array, std::int64_t at, T value)
{
  buffer<T> elements = copy_of(arrays.*array);
  elements[at] = value;
  arrays.*array = std::move(elements);
  return arrays;
}

/// Flips a random bit of the lists of a compressed graph.
template <class Random>
void damage_words(graph_arrays& arrays, Random& random)
{
  buffer<std::uint32_t> words = copy_of(arrays.compressed.words);
  auto& word = words[static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(words.size()))];
  word ^= 1U << (random() % 32);
  arrays.compressed.words = std::move(words);
}

/// Flips a random bit of its directory: of a block or, if there is one, of a wide entry.
template <class Random>
void damage_directory(graph_arrays& arrays, Random& random)
{
  auto const flip = [&](auto& array) {
    auto entries = copy_of(array);
    auto& entry = entries[static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(entries.size()))];
    auto* const words = reinterpret_cast<std::uint32_t*>(&entry);
    words[random() % (sizeof(entry) / sizeof(std::uint32_t))] ^= 1U << (random() % 32);
    array = std::move(entries);
  };
  if (!arrays.compressed.wide.empty() && random() % 2 == 0) { return flip(arrays.compressed.wide); }
  flip(arrays.compressed.blocks);
}

}  // namespace tendril::test
