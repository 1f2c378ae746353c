// A file of arrays that are made part by part, some samples at a time.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tendril/array_file.hpp>
#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>

namespace tendril::cli {

class result_file;

/// The arrays of some samples, in the order in which they go to a file: made on any thread, and given to the file in turn.
class sample_part {
 public:
  std::int64_t vertices = 0, edges = 0;  ///< Of these samples.

  /// As those of result_file.
  template <class T>
  void add(std::string const& name, std::vector<std::int64_t> row, buffer<T> part);
  template <class T>
  void add_ragged(std::string const& name, buffer<T> part);
  void add_offsets(std::string const& name, buffer<std::int64_t> part);

 private:
  friend class result_file;

  /// Remembers a call of the file, with what it takes.
  template <class T, class Call>
  void keep(buffer<T> part, Call call)
  {
    auto const held = std::make_shared<buffer<T>>(std::move(part));
    calls_.push_back([held, call](result_file& file) { call(file, std::move(*held)); });
  }

  std::vector<std::function<void(result_file&)>> calls_;
};

/// Takes the arrays of each part, in the same order for every part, and writes them one part behind the other. Where every
/// array has as many elements for each sample, parts are written as they come, and memory doesn't grow with the file;
/// else they are kept until the sizes are known. The file appears when `commit` is called, complete.
class result_file {
 public:
  /// @param vertices     Type of vertex ids.
  /// @param num_samples  Of all parts.
  /// @throws argument_error for an extension that is none of .npz and .safetensors.
  result_file(std::string path, element_type vertices, std::map<std::string, std::string> about,
              std::int64_t num_samples, cpu_exec const& exec);

  /// A flat array that belongs to no part; before the first one ends.
  template <class T>
  void add_whole(std::string const& name, buffer<T> elements)
  {
    std::int64_t const size = elements.size();
    add(name, {}, std::move(elements));
    set_whole(name, {size});
  }

  /// The same of vertices that others hold until `commit`, in any shape.
  void add_whole(std::string const& name, std::vector<std::int64_t> shape, std::span<vertex_id const> elements);

  /// More elements of an array of shape [n, row…].
  template <class T>
  void add(std::string const& name, std::vector<std::int64_t> const& row, buffer<T> part)
  {
    auto const held = std::make_shared<buffer<T> const>(std::move(part));
    add_part(name, row, type_of(T{}), held->size(),
             [held](array_writer& writer, std::size_t at, cpu_exec const& exec) { append(writer, at, *held, exec); });
  }

  /// More elements of a flat array whose size is not the same for each sample.
  template <class T>
  void add_ragged(std::string const& name, buffer<T> part)
  {
    ragged_ = true;
    add(name, {}, std::move(part));
  }

  /// Where the rows of a ragged array begin, and the last one ends: from 0 in every part.
  void add_offsets(std::string const& name, buffer<std::int64_t> part);

  /// Takes in a part, which has so many samples, and ends it. @throws io_error.
  void take(sample_part&& part, std::int64_t num_samples);

  /// @throws io_error.
  void commit();

 private:
  using append_part = std::function<void(array_writer&, std::size_t, cpu_exec const&)>;
  struct array {
    array_spec spec;  ///< Without the first dimension, but of whole arrays.
    bool whole = false;
    std::int64_t size = 0;  ///< Elements so far.
    std::int64_t last = 0;  ///< Offsets: the last one.
    std::vector<append_part> parts;
  };

  [[nodiscard]] element_type type_of(vertex_id) const { return vertices_; }
  [[nodiscard]] static element_type type_of(std::int32_t) { return element_type::int32; }
  [[nodiscard]] static element_type type_of(std::int64_t) { return element_type::int64; }
  [[nodiscard]] static element_type type_of(float) { return element_type::float32; }
  static void append(array_writer& writer, std::size_t at, buffer<vertex_id> const& elements, cpu_exec const& exec)
  {
    writer.append(at, elements.span(), exec);
  }
  template <class T>
  static void append(array_writer& writer, std::size_t at, buffer<T> const& elements, cpu_exec const&)
  {
    writer.append(at, elements.span());
  }

  /// @throws io_error.
  void end_part(std::int64_t num_samples);
  array& find(std::string const& name, std::vector<std::int64_t> const& row, element_type type);
  void set_whole(std::string const& name, std::vector<std::int64_t> shape);
  void add_part(std::string const& name, std::vector<std::int64_t> const& row, element_type type, std::int64_t size,
                append_part part);
  /// Begins the file; arrays have as many elements as they have now, times `times`.
  void open(std::int64_t times_num, std::int64_t times_den);
  void write_parts();
  /// Refuses ragged samples of which memory does not hold the offsets alone. @throws memory_error.
  void expect_room() const;

  std::string path_;
  element_type vertices_;
  std::map<std::string, std::string> about_;
  std::int64_t num_samples_;
  cpu_exec exec_;
  bool ragged_ = false;
  bool asked_ = false;  // whether there is room for ragged samples
  std::vector<array> arrays_;
  std::optional<array_writer> writer_;
};

template <class T>
void sample_part::add(std::string const& name, std::vector<std::int64_t> row, buffer<T> part)
{
  keep(std::move(part),
       [name, row = std::move(row)](result_file& file, buffer<T> held) { file.add(name, row, std::move(held)); });
}

template <class T>
void sample_part::add_ragged(std::string const& name, buffer<T> part)
{
  keep(std::move(part), [name](result_file& file, buffer<T> held) { file.add_ragged(name, std::move(held)); });
}

}  // namespace tendril::cli
