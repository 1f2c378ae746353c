#include "walk_output.hpp"

#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <tendril/error.hpp>
#include <tendril/file.hpp>

#include "common.hpp"
#include "death_watch.hpp"
#include "shared_file.hpp"

namespace tendril::cli {
namespace {

/// Rows, or walks one after another.
class file_of_walks : public walk_output {
 public:
  void receive(walk_stream_job& job, cpu_exec const& exec) final
  {
    if (is_ragged_) {
      job.ragged_sink = [this, &exec](ragged_rows const& rows) {
        writer_->append(rows.offsets, rows.vertices, exec);
        num_vertices_ += std::ssize(rows.vertices);
      };
    } else {
      job.sink = [this, &exec](walk_rows const& rows) { writer_->append(rows.vertices, rows.lengths, exec); };
    }
  }
  void commit(cpu_exec const&) override { writer_->commit(); }

 protected:
  explicit file_of_walks(walk_file_info const& info) : is_ragged_(info.ragged) {}

  /// Of ragged walks.
  [[nodiscard]] std::int64_t num_vertices() const { return num_vertices_; }

  std::optional<walk_writer> writer_;

 private:
  bool is_ragged_;
  std::int64_t num_vertices_ = 0;
};

class file_of_one final : public file_of_walks {
 public:
  file_of_one(std::string const& path, walk_file_info const& info) : file_of_walks(info)
  {
    writer_.emplace(path, info);
  }
};

/// Rows that each rank writes to their places.
class file_of_ranks final : public file_of_walks {
 public:
  file_of_ranks(std::string const& path, walk_file_info const& info, walk_range mine, transport& ranks)
      : file_of_walks(info), ranks_(ranks)
  {
    writer_.emplace(begin_together(ranks, "; --parts writes one each", [&](std::string const& unfinished) {
      return walk_writer(path, info, shared_walks{mine.first, mine.size, unfinished});
    }));
  }

  void commit(cpu_exec const&) override { commit_together(ranks_, *writer_); }

 private:
  transport& ranks_;
};

/// A file a rank, of which one is made at the end.
class file_a_rank : public file_of_walks {
 public:
  file_a_rank(std::string path, walk_file_info info, std::int64_t num_walks, transport& ranks)
      : file_of_walks(info), path_(std::move(path)), ranks_(ranks)
  {
    // Names that no other job has, and no user: these files are removed at the end.
    std::string const job = ranks.broadcast("the number of the job", std::to_string(getpid()));
    std::string const begin = fmt::format("{}.partial-{}-rank-", path_, job);
    std::string const extension = std::filesystem::path(path_).extension().string();
    for (int rank = 0; rank < ranks.size(); ++rank) {
      parts_.push_back(fmt::format("{}{:05}{}", begin, rank, extension));
    }
    with_ranks_.emplace(begin);
    info.num_walks = num_walks;
    info.metadata.insert({"part", to_string(job_part{ranks.rank(), ranks.size()})});
    try {
      writer_.emplace(mine(), info);
    } catch (io_error const& error) {  // about a file that the user knows nothing of
      std::string message = error.what();
      if (message.starts_with(mine())) { message.replace(0, mine().size(), path_); }
      throw io_error(message);
    }
  }

  ~file_a_rank() override { remove_mine(); }

 protected:
  void complete_mine()
  {
    ranks_.beat_during([this] {
      writer_->commit();
      is_complete_ = true;  // even if a beat tells of another rank's failure
    });
  }
  void remove_mine() noexcept
  {
    std::error_code ignored;
    if (std::exchange(is_complete_, false)) { std::filesystem::remove(mine(), ignored); }
  }
  /// Behind what ranks before this one have, of all that the ranks have.
  struct place {
    std::int64_t first = 0, all = 0;
  };
  [[nodiscard]] place place_of_mine(std::string_view what, std::int64_t size) const
  {
    auto const sizes = numbers_of_all(&ranks_, what, {size});
    return {std::accumulate(sizes.begin(), sizes.begin() + ranks_.rank(), std::int64_t{0}),
            std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})};
  }
  [[nodiscard]] std::string const& path() const { return path_; }
  [[nodiscard]] std::string const& mine() const { return parts_[static_cast<std::size_t>(ranks_.rank())]; }
  [[nodiscard]] std::vector<std::string> const& of_all() const { return parts_; }
  [[nodiscard]] transport& ranks() const { return ranks_; }

 private:
  std::string path_;
  transport& ranks_;
  std::vector<std::string> parts_;  // a file a rank
  std::optional<removed_with_ranks> with_ranks_;
  bool is_complete_ = false;
};

/// Text for a pipe: rank 0 joins the files.
class joined_by_one final : public file_a_rank {
 public:
  using file_a_rank::file_a_rank;

  void commit(cpu_exec const& exec) override
  {
    complete_mine();
    ranks().barrier("the end of writing");
    if (ranks().rank() == 0) {
      cpu_exec joining = exec;
      joining.on_progress = {};
      ranks().beat_during([&] { (void)join_walks(of_all(), path(), joining); });
    }
    ranks().barrier("the complete output");
  }
};

/// Text of which each rank writes some bytes to their place.
class shared_text {
 public:
  /// @param unfinished  As other writers: empty on the rank that begins the file.
  shared_text(std::string const& path, std::string const& unfinished, std::int64_t size)
      : file_(unfinished.empty() ? std::make_unique<atomic_file>(path)
                                 : std::make_unique<atomic_file>(path, unfinished))
  {
    if (unfinished.empty()) { file_->skip(size); }
  }

  [[nodiscard]] std::string const& unfinished_name() const { return file_->unfinished_name(); }
  void write_at(std::int64_t offset, std::span<char const> text) { file_->write_at(offset, text.data(), text.size()); }
  void commit() { file_->commit(); }

 private:
  std::unique_ptr<atomic_file> file_;
};

/// Text: each rank copies its file to its place, which follows from how long the others' are.
class joined_by_all final : public file_a_rank {
 public:
  using file_a_rank::file_a_rank;

  void commit(cpu_exec const&) override
  {
    complete_mine();
    std::int64_t const size = file_bytes(mine());
    std::ifstream in(mine(), std::ios::binary);
    if (!in) { throw io_error(fmt::format("{}: cannot read", mine())); }
    remove_mine();  // what is open can still be read, and nothing is left however this process ends
    place const bytes = place_of_mine("the sizes of texts", size);
    shared_text out = begin_together(ranks(), "; --parts writes one each", [&](std::string const& unfinished) {
      return shared_text(path(), unfinished, bytes.all);
    });
    copy(in, out, bytes.first);
    commit_together(ranks(), out);
  }

 private:
  void copy(std::ifstream& in, shared_text& out, std::int64_t offset) const
  {
    std::vector<char> text(std::size_t{4} << 20U);
    do {
      in.read(text.data(), std::ssize(text));
      auto const size = static_cast<std::int64_t>(in.gcount());
      out.write_at(offset, std::span(text).first(static_cast<std::size_t>(size)));
      offset += size;
      ranks().beat();
    } while (in);
    if (!in.eof()) { throw io_error(fmt::format("{}: cannot read", mine())); }
  }
};

/// Ragged walks: each rank copies its own to their places, which follow from how many vertices the others have.
class ragged_joined_by_all final : public file_a_rank {
 public:
  ragged_joined_by_all(std::string const& path, walk_file_info const& info, walk_range mine, transport& ranks)
      : file_a_rank(path, info, mine.size, ranks), info_(info), walks_(mine)
  {
  }

  void commit(cpu_exec const& exec) override
  {
    complete_mine();
    place const vertices = place_of_mine("the sizes of walks", num_vertices());
    shared_walks here{walks_.first, walks_.size, "", vertices.first, vertices.all};
    walk_writer out = begin_together(ranks(), "; --parts writes one each", [&](std::string const& unfinished) {
      here.unfinished = unfinished;
      return walk_writer(path(), info_, here);
    });
    ranks().beat_during([&] { append_ragged_walks(mine(), out, exec); });
    commit_together(ranks(), out);
  }

 private:
  walk_file_info info_;
  walk_range walks_;
};

/// Whether rank 0 finds something there that takes bytes as they come, such as a pipe.
bool is_written_in_place(std::string const& path, transport& ranks)
{
  std::error_code ignored;
  auto const found = std::filesystem::status(path, ignored);
  bool const is_file = !std::filesystem::exists(found) || std::filesystem::is_regular_file(found);
  return ranks.broadcast("the kind of the output", is_file ? "file" : "pipe") == "pipe";
}

}  // namespace

std::string name_of_part(std::string const& output, job_part part)
{
  std::filesystem::path const path(output);
  std::string const name =
      fmt::format("{}.part-{:05}-of-{:05}{}", path.stem().string(), part.index, part.count, path.extension().string());
  return (path.parent_path() / name).string();
}

std::unique_ptr<walk_output> alone(std::string const& path, walk_file_info info, std::optional<job_part> part)
{
  if (part) { info.metadata.insert({"part", to_string(*part)}); }
  return std::make_unique<file_of_one>(path, info);
}

std::unique_ptr<walk_output> together(std::string const& path, walk_file_info const& info, walk_range mine,
                                      transport& ranks)
{
  bool const is_text = walk_format_of(path) == walk_format::text;
  if (is_text && !is_written_in_place(path, ranks)) {
    return std::make_unique<joined_by_all>(path, info, mine.size, ranks);
  }
  if (is_text) { return std::make_unique<joined_by_one>(path, info, mine.size, ranks); }
  if (info.ragged) { return std::make_unique<ragged_joined_by_all>(path, info, mine, ranks); }
  return std::make_unique<file_of_ranks>(path, info, mine, ranks);
}

}  // namespace tendril::cli
