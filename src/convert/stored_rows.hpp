#pragma once

#include <memory>

#include "convert/row_source.hpp"
#include "formats/mapped_file.hpp"

namespace tendril::convert {

/// The rows of a graph that lies in a file: its neighbours alone.
class stored_rows final : public row_source {
 public:
  stored_rows(std::shared_ptr<formats::mapped_file const> file, graph const& stored)
      : file_(std::move(file)), stored_(stored)
  {
  }

  [[nodiscard]] std::int64_t num_vertices() const override { return stored_.num_vertices(); }
  [[nodiscard]] row_cut first_cut() const override { return {}; }
  [[nodiscard]] row_cut cut_at(row_cut const& /*from*/, std::int64_t vertex) const override
  {
    return stored_.view().visit([&](auto const& g) {
      return row_cut{vertex, vertex < g.num_vertices ? g.first_edge(vertex) : g.num_edges, {}};
    });
  }

  void read(row_cut const& from, row_cut const& to, row_batch& out) const override
  {
    stored_.view().visit([&](auto const& g) {
      out.offsets.assign(1, 0);
      out.targets.clear();
      out.targets.reserve(static_cast<std::size_t>(to.num_arcs - from.num_arcs));
      for (std::int64_t v = from.vertex; v < to.vertex; ++v) {
        for (vertex_id const target : g.row(v)) { out.targets.push_back(target); }
        out.offsets.push_back(static_cast<edge_id>(out.targets.size()));
      }
    });
  }

  void release_pages() const override { file_->release_pages(); }

 private:
  std::shared_ptr<formats::mapped_file const> file_;
  graph const& stored_;
};

}  // namespace tendril::convert
