// The rows of one part of a graph that is cut, in the form that the parts are to have.

#include <cstdint>
#include <type_traits>

#include "base/parallel.hpp"     // parallel_ranges
#include "base/vertex_work.hpp"  // vertex_work
#include "dist/partition_cut.hpp"
#include "dist/slices.hpp"
#include "graph/check.hpp"  // edge_ids_of
#include "place/list_encoder.hpp"
#include "place/narrow.hpp"

namespace tendril::dist {
namespace {

/// Makes the arrays of one part.
class row_cutter {
 public:
  row_cutter(cut_graph const& from, std::int64_t index, cpu_exec const& exec)
      : info_(from.info),
        arrays_(from.whole.arrays()),
        view_(from.whole.view()),
        exec_(exec),
        first_(info_.bounds[static_cast<std::size_t>(index)]),
        size_(info_.bounds[static_cast<std::size_t>(index) + 1] - first_),
        first_edge_(info_.num_vertices > 0 ? view_.first_edge(first_) : 0),
        num_edges_(info_.part_edges[static_cast<std::size_t>(index)])
  {
  }

  [[nodiscard]] graph_arrays make() const
  {
    graph_arrays rows;
    rows.source = arrays_.source;
    view_.visit([&](auto const& g) {
      if (info_.form == graph_form::csr) {
        rows.indptr = offsets(g);
        rows.indices = indices(g);
      } else {
        rows.compressed = place::encode_lists(place::decoded_rows<std::decay_t<decltype(g)>>{g, first_}, size_,
                                              info_.form, "compressing", exec_, static_cast<vertex_id>(first_));
      }
      add_edge_arrays(g, rows);
    });
    if (info_.form != graph_form::csr) { place::narrow(rows, exec_); }
    return rows;
  }

 private:
  template <class View>
  static constexpr bool is_csr = std::is_same_v<View, csr_view>;

  template <class View>
  [[nodiscard]] buffer<edge_id> offsets(View const& g) const
  {
    buffer<edge_id> out(size_ + 1, *exec_.memory);
    out[size_] = num_edges_;
    base::parallel_ranges(exec_, size_, std::int64_t{1} << 16U, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) { out[v] = g.first_edge(first_ + v) - first_edge_; }
    });
    return out;
  }

  template <class View>
  [[nodiscard]] shared_array<vertex_id> indices(View const& g) const
  {
    if constexpr (is_csr<View>) {
      return slice(arrays_.indices, first_edge_, num_edges_);
    } else {
      return of_edges<vertex_id>(g, [](auto const& row, vertex_id* to) { row.copy_to(to); });
    }
  }

  /// At their full width.
  template <class View>
  void add_edge_arrays(View const& g, graph_arrays& rows) const
  {
    if constexpr (is_csr<View>) {
      if (info_.has_weights) { rows.weights = slice(arrays_.weights, first_edge_, num_edges_); }
      rows.edge_labels = slice(arrays_.edge_labels, first_edge_, num_edges_);
      if (info_.has_edge_ids) { rows.edge_ids = slice(arrays_.edge_ids, first_edge_, num_edges_); }
    } else {
      auto const decode = [&]<class T>(T, auto const& value) {
        return of_edges<T>(g, [&](auto const& row, T* to) {
          for (std::uint32_t i = 0; i < row.degree(); ++i) { to[i] = static_cast<T>(value(row, i)); }
        });
      };
      auto const label = [](auto const& row, std::uint32_t i) { return row.label(i); };
      if (info_.has_weights) {
        rows.weights = decode(float{}, [](auto const& row, std::uint32_t i) { return row.weight(i); });
      }
      if (info_.bytes_per_edge_label == 1) { rows.edge_labels = shared_array(decode(std::uint8_t{}, label)); }
      if (info_.bytes_per_edge_label == 2) { rows.edge_labels = shared_array(decode(std::uint16_t{}, label)); }
      if (info_.has_edge_ids) {
        edge_id_view const ids = validation::edge_ids_of(arrays_);
        rows.edge_ids = decode(edge_id{}, [&](auto const& row, std::uint32_t i) { return ids[row.edge(i)]; });
      }
    }
  }

  /// f(row, to) writes what the edges of each row have in an array.
  template <class T, class View, class F>
  [[nodiscard]] buffer<T> of_edges(View const& g, F const& f) const
  {
    buffer<T> out(num_edges_, *exec_.memory);
    base::vertex_work const work(size_, [&](std::int64_t v) { return g.first_edge(first_ + v) - first_edge_; });
    work.for_each_range(nullptr, exec_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = first_ + begin; v < first_ + end; ++v) {
        f(g.row(v), out.data() + (g.first_edge(v) - first_edge_));
      }
    });
    return out;
  }

  partition_info const& info_;
  graph_arrays const& arrays_;
  graph_view view_;
  cpu_exec const& exec_;
  std::int64_t first_, size_;  // vertices of the part
  edge_id first_edge_, num_edges_;
};

}  // namespace

graph_arrays rows_of(cut_graph const& from, std::int64_t index, cpu_exec const& exec)
{
  return row_cutter(from, index, exec).make();
}

}  // namespace tendril::dist
