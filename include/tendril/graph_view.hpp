// What `graph::view` gives: the view of a graph whose form is known at run time. Executors and rules are templates over
// the view of one form; `visit` leads from one to the other.

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tendril/compressed_view.hpp>
#include <tendril/csr_view.hpp>

namespace tendril {

/// The forms in which the neighbours of a graph are stored (docs/compression.md). A sample never depends on the form. All
/// compressed ones have one view: each list says how it is written.
enum class graph_form : std::uint8_t {
  csr,     ///< 4 bytes a neighbour
  packed,  ///< Compressed: at a fixed width. The quickest to read.
  runs,    ///< Compressed: at a fixed width, or as runs of consecutive ids, whichever is smaller of a list.
  ef,      ///< Compressed: at a fixed width, or as Elias-Fano lists, whichever is smaller.
  vbyte,   ///< Compressed: gaps of whole bytes, as ScaleGPS has them. Slow to read; for comparison.
  best,    ///< Compressed: the smallest of fixed width, runs and Elias-Fano.
};

/// The view of a graph of any form. Trivially copyable; owns nothing.
class graph_view {
 public:
  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  label_view node_types;  ///< [num_vertices] or empty.

  graph_view() = default;
  graph_view(csr_view const& view)  // NOLINT(google-explicit-constructor)
      : num_vertices(view.num_vertices), num_edges(view.num_edges), node_types(view.node_types), csr_(view)
  {
  }
  /// @param form  That the lists were asked for in.
  graph_view(compressed_view const& view, graph_form form = graph_form::best)  // NOLINT(google-explicit-constructor)
      : num_vertices(view.num_vertices),
        num_edges(view.num_edges),
        node_types(view.node_types),
        compressed_(view),
        form_(form)
  {
  }

  /// Of a CSR that is no graph's own: a derived table.
  graph_view(csr_arrays const& arrays) : graph_view(csr_view(arrays)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] graph_form form() const { return form_; }

  /// The view of the graph's form, which the caller knows: for a kernel that reads several graphs of one form.
  template <class View>
  [[nodiscard]] TENDRIL_HD View const& as() const
  {
    if constexpr (std::is_same_v<View, csr_view>) {
      return csr_;
    } else {
      return compressed_;
    }
  }

  /// Calls f with the view of the graph's form, a `csr_view` or a `compressed_view`, and returns what f returns.
  template <class F>
  decltype(auto) visit(F&& f) const
  {
    return form_ == graph_form::csr ? std::forward<F>(f)(csr_) : std::forward<F>(f)(compressed_);
  }

  /// What has one entry an edge, without the targets.
  [[nodiscard]] edge_arrays edges() const
  {
    return visit([](auto const& g) { return g.edges(); });
  }

  /// The same graph with other weights: [num_edges], or null.
  [[nodiscard]] graph_view with_weights(float const* weights) const
  {
    graph_view out = *this;
    out.csr_ = csr_.with_weights(weights);
    out.compressed_ = compressed_.with_weights(weights);
    return out;
  }

  // One question at a time: each call looks at the form. For code where that does not matter.
  [[nodiscard]] bool has_weights() const
  {
    return visit([](auto const& g) { return g.has_weights(); });
  }
  [[nodiscard]] bool has_edge_labels() const
  {
    return visit([](auto const& g) { return g.has_edge_labels(); });
  }
  [[nodiscard]] edge_id first_edge(std::int64_t v) const
  {
    return visit([v](auto const& g) { return g.first_edge(v); });
  }
  [[nodiscard]] std::uint32_t degree(std::int64_t v) const
  {
    return visit([v](auto const& g) { return g.degree(v); });
  }
  [[nodiscard]] vertex_id neighbor(std::int64_t v, std::uint32_t i) const
  {
    return visit([v, i](auto const& g) { return g.neighbor(v, i); });
  }
  [[nodiscard]] float weight(std::int64_t v, std::uint32_t i) const
  {
    return visit([v, i](auto const& g) { return g.weight(v, i); });
  }
  [[nodiscard]] label_id label(std::int64_t v, std::uint32_t i) const
  {
    return visit([v, i](auto const& g) { return g.label(v, i); });
  }
  [[nodiscard]] bool has_edge(std::int64_t u, vertex_id x) const
  {
    return visit([u, x](auto const& g) { return g.has_edge(u, x); });
  }

 private:
  csr_view csr_;                // of a graph in CSR form
  compressed_view compressed_;  // of a compressed graph
  graph_form form_ = graph_form::csr;
};

}  // namespace tendril
