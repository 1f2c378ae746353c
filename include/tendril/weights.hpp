// The weights of a compressed graph's edges: as floats, or as codes of a few bits that number the floats of a dictionary.
// A weight is the same float in both, bit for bit. Includes little, so that a program compiled at run time can include it
// too. A graph in CSR form has floats, so kernels on its view read a `float const*`; read_weight reads either.

#pragma once

#include <cstdint>

#include <tendril/packed_numbers.hpp>
#include <tendril/types.hpp>

namespace tendril {

class row_weights;

/// One weight an edge. Trivially copyable; owns nothing. Reads like a `float const*`.
class weight_view {
 public:
  weight_view() = default;                                                  // none
  TENDRIL_HD weight_view(float const* weights) : values_(weights) {}        // NOLINT(google-explicit-constructor)
  TENDRIL_HD weight_view(packed_numbers const& codes, float const* values)  // weight e is values[codes[e]]
      : values_(values), codes_(codes)
  {
  }

  [[nodiscard]] TENDRIL_HD bool operator==(decltype(nullptr)) const { return values_ == nullptr; }
  /// Read by load(address).
  template <class Load>
  [[nodiscard]] TENDRIL_HD float read(edge_id e, Load load) const
  {
    return load(values_ + (is_plain() ? e : static_cast<edge_id>(codes_.at(e, load))));
  }
  [[nodiscard]] TENDRIL_HD float operator[](edge_id e) const { return read(e, plain_load{}); }
  /// Those from edge `first` on.
  [[nodiscard]] TENDRIL_HD row_weights operator+(edge_id first) const;

  /// What is read first of the weight of edge e; for prefetching.
  [[nodiscard]] TENDRIL_HD void const* address(edge_id e) const
  {
    if (is_plain()) { return values_ + e; }
    return codes_.words + ((static_cast<std::uint64_t>(e) * codes_.width) >> 5U);
  }

 private:
  [[nodiscard]] TENDRIL_HD bool is_plain() const { return codes_.words == nullptr; }

  float const* values_ = nullptr;  // of each edge, or the dictionary
  packed_numbers codes_;           // without words: no dictionary
};

/// The weights from some edge on.
class row_weights {
 public:
  TENDRIL_HD row_weights(weight_view const& all, edge_id first) : all_(all), first_(first) {}

  template <class Load>
  [[nodiscard]] TENDRIL_HD float read(edge_id i, Load load) const
  {
    return all_.read(first_ + i, load);
  }
  [[nodiscard]] TENDRIL_HD float operator[](edge_id i) const { return all_[first_ + i]; }
  [[nodiscard]] TENDRIL_HD row_weights operator+(edge_id i) const { return {all_, first_ + i}; }

 private:
  weight_view all_;
  edge_id first_;
};

TENDRIL_HD row_weights weight_view::operator+(edge_id first) const { return {*this, first}; }

/// Weight i of any of these, read by load(address).
template <class Load>
[[nodiscard]] TENDRIL_HD float read_weight(float const* weights, edge_id i, Load load)
{
  return load(weights + i);
}
template <class Weights, class Load>
[[nodiscard]] TENDRIL_HD float read_weight(Weights const& weights, edge_id i, Load load)
{
  return weights.read(i, load);
}

}  // namespace tendril
