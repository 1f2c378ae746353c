// Where a conversion's edges come from, in the order of the input, some at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/graph.hpp>
#include <tendril/io.hpp>

#include "convert/workspace.hpp"  // input_position
#include "formats/mapped_file.hpp"

namespace tendril::convert {

/// Edges as they were read; weights and labels are as many, or none.
struct edge_batch {
  std::vector<vertex_id> sources, targets;
  std::vector<float> weights;
  std::vector<std::uint16_t> labels;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(sources.size()); }
  void clear();
};

/// What edges carry.
struct edge_columns {
  bool weights = false;
  int bytes_per_label = 0;  ///< In the output; 0: no labels. A text's labels take 2 until the largest is known.
};

class edge_source {
 public:
  edge_source() = default;
  edge_source(edge_source const&) = delete;
  edge_source& operator=(edge_source const&) = delete;
  virtual ~edge_source() = default;

  /// Appends edges, usually not more than make `most` in all.
  /// @return  False at the end of the input.
  virtual bool read(edge_batch& to, std::int64_t most) = 0;

  /// Goes on behind the edges that an earlier conversion read.
  virtual void skip_to(input_position const& position) = 0;

  [[nodiscard]] virtual input_position position() const = 0;

  [[nodiscard]] edge_columns const& columns() const { return columns_; }

  /// The caller's options, and what the input says besides.
  [[nodiscard]] build_options const& build() const { return build_; }

  /// Whether the edges come sorted by source and target.
  [[nodiscard]] bool in_order() const { return in_order_; }

 protected:
  edge_columns columns_;
  build_options build_;
  bool in_order_ = false;
};

/// A text of one edge a line. @param most_edges  That are read at a time.
[[nodiscard]] std::unique_ptr<edge_source> open_text(std::shared_ptr<formats::mapped_file const> file,
                                                     graph_format format, read_options const& options,
                                                     std::int64_t most_edges, cpu_exec const& exec);

/// @param file  The .graph file.
[[nodiscard]] std::unique_ptr<edge_source> open_webgraph(std::shared_ptr<formats::mapped_file const> file,
                                                         read_options const& options, cpu_exec const& exec);

/// Binary pairs. @param options  With the format: coo32, coo64 or npy.
[[nodiscard]] std::unique_ptr<edge_source> open_coo(std::shared_ptr<formats::mapped_file const> file,
                                                    read_options const& options, cpu_exec const& exec);

/// @param stored  A graph that lies in `file`, checked.
[[nodiscard]] std::unique_ptr<edge_source> open_stored(std::shared_ptr<formats::mapped_file const> file, graph stored,
                                                       read_options const& options, cpu_exec const& exec);

}  // namespace tendril::convert
