#include "walk_output.hpp"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "shared_file.hpp"

namespace tendril::cli {
namespace {

/// Rows, or walks one after another.
class file_of_walks : public walk_output {
 public:
  void receive(walk_stream_job& job, cpu_exec const& exec) final
  {
    if (is_ragged_) {
      job.ragged_sink = [this, &exec](ragged_rows const& rows) { writer_->append(rows.offsets, rows.vertices, exec); };
    } else {
      job.sink = [this, &exec](walk_rows const& rows) { writer_->append(rows.vertices, rows.lengths, exec); };
    }
  }
  void commit(cpu_exec const&) override { writer_->commit(); }

 protected:
  explicit file_of_walks(walk_file_info const& info) : is_ragged_(info.ragged) {}

  std::optional<walk_writer> writer_;

 private:
  bool is_ragged_;
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

/// A file a rank, joined at the end.
class joined_file final : public file_of_walks {
 public:
  joined_file(std::string path, walk_file_info info, std::int64_t num_walks, transport& ranks)
      : file_of_walks(info), path_(std::move(path)), ranks_(ranks)
  {
    // Names that no other job has, and no user: these files are removed at the end.
    std::string const job = ranks.broadcast("the number of the job", std::to_string(getpid()));
    std::string const extension = std::filesystem::path(path_).extension().string();
    for (int rank = 0; rank < ranks.size(); ++rank) {
      parts_.push_back(fmt::format("{}.partial-{}-rank-{:05}{}", path_, job, rank, extension));
    }
    info.num_walks = num_walks;
    info.metadata.insert({"part", to_string(job_part{ranks.rank(), ranks.size()})});
    writer_.emplace(mine(), info);
  }

  ~joined_file() override
  {
    std::error_code ignored;
    if (is_complete_) { std::filesystem::remove(mine(), ignored); }
  }

  void commit(cpu_exec const& exec) override
  {
    writer_->commit();
    is_complete_ = true;
    ranks_.barrier("the end of writing");
    if (ranks_.rank() == 0) {
      cpu_exec joining = exec;
      joining.on_progress = [this](progress const&) { ranks_.beat(); };
      (void)join_walks(parts_, path_, joining);
    }
    ranks_.barrier("the complete output");
  }

 private:
  [[nodiscard]] std::string const& mine() const { return parts_[static_cast<std::size_t>(ranks_.rank())]; }

  std::string path_;
  transport& ranks_;
  std::vector<std::string> parts_;  // a file a rank
  bool is_complete_ = false;
};

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
  if (info.ragged || walk_format_of(path) == walk_format::text) {
    return std::make_unique<joined_file>(path, info, mine.size, ranks);
  }
  return std::make_unique<file_of_ranks>(path, info, mine, ranks);
}

}  // namespace tendril::cli
