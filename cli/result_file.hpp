// A file of arrays that are made part by part, some samples at a time, by one process or by ranks.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tendril/array_file.hpp>
#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>

#include "sample_file.hpp"
#include "sample_makers.hpp"

namespace tendril::cli {

/// The arrays of some samples, in the order in which they go to a file: made on any thread, and given to the file in turn.
class sample_part {
 public:
  std::int64_t vertices = 0, edges = 0;  ///< Of these samples.

  /// More elements of an array of shape [n, row…], of which each sample has as many.
  template <class T>
  void add(std::string const& name, std::vector<std::int64_t> const& row, buffer<T> elements)
  {
    std::int64_t const size = elements.size();
    find<T>(name, row).append({size, 0, writer_of(std::move(elements))});
  }

  /// More elements of a flat array whose size is not the same for each sample.
  template <class T>
  void add_ragged(std::string const& name, buffer<T> elements)
  {
    find<T>(name, {}).ragged = true;
    add(name, {}, std::move(elements));
  }

  /// Leaves the arrays without an element, but for the first offset.
  void clear();

  /// Where the rows of a ragged array begin, and the last one ends: from 0 in every call.
  void add_offsets(std::string const& name, buffer<std::int64_t> offsets);

 private:
  friend class result_file;

  /// Writes elements from element `at` of array `which` on. Offsets grow by `base`, the last one before them.
  using write_elements = std::function<void(sample_file& file, std::size_t which, std::int64_t at, std::int64_t base,
                                            cpu_exec const& exec)>;
  struct piece {
    std::int64_t size = 0;  ///< Elements; of offsets without the first one, which is the last one before them.
    std::int64_t last = 0;  ///< Of offsets.
    write_elements write;
  };
  struct array {
    std::string name;
    std::vector<std::int64_t> row;
    std::optional<element_type> type;  ///< Nothing: that of vertex ids.
    bool ragged = false, offsets = false;
    std::int64_t size = 0, last = 0;  ///< Of all pieces.
    std::vector<piece> pieces = {};

    void append(piece more)
    {
      size += more.size;
      last += more.last;
      pieces.push_back(std::move(more));
    }
  };

  template <class T>
  static constexpr std::optional<element_type> type_of()
  {
    if (std::is_same_v<T, vertex_id>) { return std::nullopt; }
    if (std::is_same_v<T, float>) { return element_type::float32; }
    return sizeof(T) == sizeof(std::int64_t) ? element_type::int64 : element_type::int32;
  }

  template <class T>
  static write_elements writer_of(buffer<T> elements)
  {
    return [held = std::make_shared<buffer<T> const>(std::move(elements))](
               sample_file& file, std::size_t which, std::int64_t at, std::int64_t, cpu_exec const& exec) {
      if constexpr (std::is_same_v<T, vertex_id>) {
        file.put(which, at, held->span(), exec);
      } else {
        file.put(which, at, held->span());
      }
    };
  }

  /// The array of this name; a new one behind the others where there is none.
  template <class T>
  array& find(std::string const& name, std::vector<std::int64_t> const& row)
  {
    for (array& one : arrays_) {
      if (one.name == name) { return one; }
    }
    arrays_.push_back({.name = name, .row = row, .type = type_of<T>()});
    return arrays_.back();
  }

  std::vector<array> arrays_;
};

/// Takes the arrays of each part, the same ones in the same order, and writes them as if one part were behind the other. Where
/// every array has as many elements for each sample, parts are written as they come, and memory doesn't grow with the file;
/// else they are kept until the sizes are known. The file appears when `commit` is called, complete.
///
/// Ranks that write one file make a result_file each; each takes the parts of its own samples, and only the rank that tells
/// takes whole arrays.
class result_file {
 public:
  /// @param vertices     Type of vertex ids.
  /// @param about        Of ranks that of rank 0 is written.
  /// @param num_samples  Of all parts, of all ranks that write the file.
  result_file(std::string path, element_type vertices, metadata about, std::int64_t num_samples,
              sample_makers const& makers, cpu_exec const& exec);

  /// A flat array that belongs to no part; before the first one.
  template <class T>
  void add_whole(std::string const& name, buffer<T> elements)
  {
    std::int64_t const size = elements.size();
    wholes_.push_back(sample_part::writer_of(std::move(elements)));
    arrays_.push_back({.spec = {name, type_of<T>(), {size}}});
  }

  /// The same of vertices that others hold until `commit`, in any shape.
  void add_whole(std::string const& name, std::vector<std::int64_t> shape, std::span<vertex_id const> elements);

  /// Of ranks that write one file: a call of all of them, after whole arrays and before `take`, in which they agree on the arrays.
  /// @param first_part   The first one of this rank; rank 0 has one of samples, unless there are none.
  /// @param num_samples  Of this part.
  /// @throws argument_error for an extension that is none of .npz and .safetensors; io_error; rank_error.
  void agree(sample_part const& first_part, std::int64_t num_samples);

  /// Takes in a part: that of `num_samples` samples from sample `first` of the file on. At least once, and of one process in order.
  /// @throws as agree.
  void take(sample_part&& part, std::int64_t first, std::int64_t num_samples);

  /// Of ranks that write one file a call of all of them. @throws as agree.
  void commit();

 private:
  struct array {
    array_spec spec;  ///< Of the array of a part: without the first dimension.
    bool offsets = false;
    std::int64_t each = 0;  ///< Elements of a sample, where all have as many.
  };
  struct kept_part {
    std::int64_t first;  ///< Sample.
    sample_part part;
  };
  /// Where the next elements of an array of parts go, and the last one before them of offsets.
  struct place {
    std::int64_t at = 0, base = 0;
  };

  template <class T>
  [[nodiscard]] element_type type_of() const
  {
    return sample_part::type_of<T>().value_or(vertices_);
  }

  [[nodiscard]] std::size_t num_parted() const { return arrays_.size() - num_wholes_; }
  /// Learns from the first part which arrays the file has.
  void learn(sample_part const& part, std::int64_t num_samples);
  /// Refuses ragged samples of which memory does not hold the offsets alone. @throws memory_error.
  void expect_room() const;
  /// Begins the file. @param sizes  Elements of each array of parts.
  void open(std::vector<std::int64_t> const& sizes);
  /// The same where every sample has as many.
  void open_even();
  void write(sample_part const& part, std::vector<place> places);
  void write_kept();

  std::string path_;
  element_type vertices_;
  metadata about_;
  std::int64_t num_samples_;
  sample_makers makers_;
  cpu_exec exec_;
  std::vector<array> arrays_;  // whole ones first
  std::size_t num_wholes_ = 0;
  bool known_ = false;  // whether arrays_ has those of parts
  bool ragged_ = false;
  std::vector<sample_part::write_elements> wholes_;  // on the rank that tells
  std::vector<kept_part> kept_;                      // of ragged samples
  std::optional<sample_file> file_;
};

}  // namespace tendril::cli
