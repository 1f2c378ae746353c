// The folder of a conversion's temporary files, and the record of what is complete in it.

#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <tendril/types.hpp>

namespace tendril::convert {

/// A file that is complete: what is needed to trust it again.
struct file_record {
  std::string name;
  std::int64_t num_bytes = 0;
  std::uint32_t checksum = 0;  ///< CRC-32
};

/// How far the input was read.
struct input_position {
  std::int64_t offset = 0;  ///< A byte of a text, or a vertex.
  std::int64_t line = 0;    ///< Lines before it, of a text.
  std::int64_t edges = 0;   ///< Edges before it.
};

/// A sorted run, and what the input held up to its end.
struct run_record {
  file_record file;
  std::int64_t num_rows = 0, num_arcs = 0;
  input_position end;
  std::int64_t num_ids = 0;  ///< One more than the largest vertex.
  std::int64_t largest_label = 0;
};

/// The arrays of the result as far as they are written: those of the vertices before `vertex`.
struct encoding_record {
  std::int64_t vertex = 0;
  edge_id num_edges = 0;
  std::vector<file_record> parts;  ///< How each file begins; it may go on.
};

/// What is done.
struct conversion_record {
  std::vector<run_record> runs;
  bool is_read = false;            ///< All runs are there.
  encoding_record encoded;         ///< While arrays are written.
  std::vector<file_record> parts;  ///< The arrays of the result, once all are there.
  std::int64_t num_vertices = 0;   ///< Of the result, then.
  edge_id num_edges = 0;
};

/// One folder belongs to one output file, and one process at a time works in it.
class workspace {
 public:
  /// Goes on with the conversion that the folder holds if it is the same; otherwise begins anew.
  /// @param job  Says what is converted, and how: input, its size and time, options.
  /// @throws io_error, also if another process works there.
  workspace(std::string const& output, std::map<std::string, std::string> job, bool restart);
  workspace(workspace const&) = delete;
  workspace& operator=(workspace const&) = delete;
  ~workspace();

  conversion_record record;

  [[nodiscard]] std::string path_of(std::string const& name) const { return folder_ + '/' + name; }

  /// Makes `record` last. @throws io_error
  void save() const;

  void remove_file(std::string const& name) const;

  /// Removes the folder with all temporary files.
  void remove();

 private:
  /// Whether the folder holds the beginning of this job.
  [[nodiscard]] bool load();
  /// Whether a file has what its record says, and nothing else or more to come.
  [[nodiscard]] bool is_intact(file_record const& file, bool is_complete = true) const;
  void remove_files() const;

  std::string folder_;
  std::map<std::string, std::string> job_;
  int lock_ = -1;
};

/// Writes a temporary file. One that is not closed goes away, unless a part of it was kept.
class work_file {
 public:
  /// From its beginning on. @throws io_error
  work_file(workspace const& space, std::string name);
  /// Behind the part that a record has. @throws io_error
  work_file(workspace const& space, file_record kept);
  work_file(work_file const&) = delete;
  work_file& operator=(work_file const&) = delete;
  ~work_file();

  /// @throws io_error, also for a full disk.
  void write(void const* data, std::size_t size);
  template <class T>
  void write(std::span<T const> elements)
  {
    write(elements.data(), elements.size_bytes());
  }

  [[nodiscard]] std::int64_t num_bytes() const { return record_.num_bytes; }

  /// What is written so far, which stays from now on. @throws io_error
  file_record keep();

  /// @throws io_error
  file_record close();

 private:
  [[noreturn]] void fail();

  workspace const* space_;
  file_record record_;
  std::FILE* file_ = nullptr;
  bool is_kept_ = false;
};

}  // namespace tendril::convert
