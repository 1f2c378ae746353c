// Counts of walks on their way into a file.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/array_file.hpp>
#include <tendril/error.hpp>

#include "shared_file.hpp"
#include "walk_output.hpp"

namespace tendril::cli {
namespace {

class counts_in_file final : public walk_output {
 public:
  counts_in_file(std::string const& path, walk_count what, std::int64_t num_vertices, std::optional<vertex_range> mine,
                 std::map<std::string, std::string> const& metadata, transport* ranks)
      : what_(what),
        num_vertices_(num_vertices),
        mine_(mine.value_or(vertex_range{0, num_vertices})),
        has_part_(mine.has_value()),
        ranks_(ranks),
        counts_(static_cast<std::size_t>(mine_.size))
  {
    std::vector<array_spec> const arrays{{std::string(to_string(what)), element_type::int64, {num_vertices}}};
    if (ranks == nullptr) {
      writer_.emplace(path, arrays, metadata);
      return;
    }
    writer_.emplace(begin_together(
        *ranks, "", [&](std::string const& unfinished) { return array_writer(path, arrays, metadata, unfinished); }));
  }

  void receive(walk_stream_job& job, cpu_exec const&) override { job.counts = counts_of(what_, counts_); }

  void commit(cpu_exec const&) override
  {
    if (ranks_ == nullptr) {
      writer_->append(0, counts_);
      writer_->commit();
      return;
    }
    if (!has_part_) { share(); }
    writer_->seek(0, mine_.first);
    writer_->append(0, counts_);
    commit_together(*ranks_, *writer_);
  }

 private:
  [[nodiscard]] vertex_range share_of(int rank) const
  {
    walk_range const range = walks_of({rank, ranks_->size()}, num_vertices_);
    return {range.first, range.size};
  }

  /// Each rank gets a range of all vertices, and adds up what all have counted there.
  void share()
  {
    std::vector<message> sent;
    for (int rank = 0; rank < ranks_->size(); ++rank) {
      vertex_range const there = share_of(rank);
      auto const bytes = there.size * static_cast<std::int64_t>(sizeof(std::int64_t));
      sent.emplace_back(bytes).append(counts_.data() + there.first, bytes);
    }
    mine_ = share_of(ranks_->rank());
    counts_.assign(static_cast<std::size_t>(mine_.size), 0);
    for (message const& m : ranks_->all_to_all("counts of walks", sent)) {
      std::byte const* from = m.data();
      for (std::int64_t& count : counts_) {
        std::int64_t theirs = 0;
        std::memcpy(&theirs, from, sizeof theirs);
        from += sizeof theirs;
        count += theirs;
      }
    }
  }

  walk_count what_;
  std::int64_t num_vertices_;
  vertex_range mine_;
  bool has_part_;
  transport* ranks_;
  std::vector<std::int64_t> counts_;  // of mine_
  std::optional<array_writer> writer_;
};

}  // namespace

std::unique_ptr<walk_output> file_of_counts(std::string const& path, walk_count what, std::int64_t num_vertices,
                                            std::optional<vertex_range> mine,
                                            std::map<std::string, std::string> const& metadata, transport* ranks)
{
  return std::make_unique<counts_in_file>(path, what, num_vertices, mine, metadata, ranks);
}

}  // namespace tendril::cli
