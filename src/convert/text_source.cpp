// Edges of a text, block by block.

#include <algorithm>

#include "base/parallel.hpp"  // num_threads, parallel_ranges
#include "convert/edge_source.hpp"
#include "formats/edge_text.hpp"

namespace tendril::convert {
namespace {

using formats::column_role;
using formats::edge_block;
using formats::edge_text;

/// Blocks that each thread parses at a time: a few, so that all of them are busy to the end.
constexpr int blocks_a_thread = 4;

class text_source final : public edge_source {
 public:
  text_source(std::shared_ptr<formats::mapped_file const> file, edge_text text, cpu_exec const& exec)
      : file_(std::move(file)), text_(std::move(text)), exec_(exec)
  {
    auto const has = [&](column_role role) { return std::ranges::count(text_.syntax.columns, role) > 0; };
    columns_ = {has(column_role::weight), has(column_role::label) ? 2 : 0};
    build_ = text_.build;
  }

  bool read(edge_batch& to, std::int64_t most) override
  {
    auto const at_a_time =
        static_cast<std::size_t>(blocks_a_thread) * static_cast<std::size_t>(text_.stream.num_threads());
    while (to.size() == 0 || to.size() + largest_ <= most) {
      auto const blocks = text_.parse(exec_, at_a_time);
      if (blocks.empty()) {
        text_.expect_entries(num_edges_);
        return false;
      }
      std::int64_t const before = to.size();
      for (edge_block const& block : blocks) { append(block, to); }
      largest_ = std::max(largest_, to.size() - before);
      file_->release_pages();
    }
    return true;
  }

  void skip_to(input_position const& position) override
  {
    text_.stream.skip_to(position.offset, position.line);
    num_edges_ = position.edges;
  }

  [[nodiscard]] input_position position() const override
  {
    return {text_.stream.next_position(), text_.stream.line_number(), num_edges_};
  }

 private:
  void append(edge_block const& block, edge_batch& to)
  {
    auto const before = static_cast<std::size_t>(to.size());
    auto const size = static_cast<std::size_t>(block.size);
    to.sources.resize(before + size);
    to.targets.resize(before + size);
    for (std::size_t i = 0; i < size; ++i) {
      auto const [source, target] = block.edges[static_cast<std::int64_t>(i)];
      to.sources[before + i] = source;
      to.targets[before + i] = target;
    }
    if (columns_.weights) { to.weights.insert(to.weights.end(), block.weights.data(), block.weights.data() + size); }
    if (columns_.bytes_per_label > 0) {
      to.labels.insert(to.labels.end(), block.labels.data(), block.labels.data() + size);
    }
    num_edges_ += block.size;
  }

  std::shared_ptr<formats::mapped_file const> file_;
  edge_text text_;
  cpu_exec const& exec_;
  std::int64_t num_edges_ = 0;
  std::int64_t largest_ = 0;  ///< Edges that were parsed at a time.
};

}  // namespace

std::unique_ptr<edge_source> open_text(std::shared_ptr<formats::mapped_file const> file, graph_format format,
                                       read_options const& options, std::int64_t most_edges, cpu_exec const& exec)
{
  // The shortest line, "0 1", has 4 bytes: what is parsed at a time is half of a batch at most, and usually a sixth.
  std::int64_t const most_bytes = std::clamp<std::int64_t>(2 * most_edges / (blocks_a_thread * base::num_threads(exec)),
                                                           1 << 12, formats::text_stream::max_block_bytes);
  auto const open = format == graph_format::text_edges ? formats::open_edge_list : formats::open_matrix_market;
  edge_text text = open(file->path(), file->bytes(), options, exec, most_bytes);
  return std::make_unique<text_source>(std::move(file), std::move(text), exec);
}

}  // namespace tendril::convert
