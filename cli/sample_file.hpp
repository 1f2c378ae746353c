// The file of a job of samples: of one process, which writes them in order, or of ranks, each of which writes its own.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tendril/array_file.hpp>

#include "sample_makers.hpp"
#include "shared_file.hpp"

namespace tendril::cli {

class sample_file {
 public:
  /// @param writers  That write the file together: a call of all of them. Null: this process alone. @throws io_error.
  sample_file(transport* writers, std::string const& output, std::vector<array_spec> const& arrays,
              metadata const& about)
      : ranks_(writers), writer_(begun(writers, output, arrays, about))
  {
  }

  /// Elements of array `which`, from `element` on: without ranks those that come next.
  template <class T>
  void put(std::size_t which, std::int64_t element, std::span<T const> elements)
  {
    if (ranks_ != nullptr) { writer_.seek(which, element); }
    writer_.append(which, elements);
  }
  void put(std::size_t which, std::int64_t element, std::span<vertex_id const> vertices, cpu_exec const& exec)
  {
    if (ranks_ != nullptr) { writer_.seek(which, element); }
    writer_.append(which, vertices, exec);
  }

  /// Completes the file; of ranks, after all have called it.
  void commit() { ranks_ == nullptr ? writer_.commit() : commit_together(*ranks_, writer_); }

 private:
  static array_writer begun(transport* writers, std::string const& output, std::vector<array_spec> const& arrays,
                            metadata const& about)
  {
    if (writers == nullptr) { return {output, arrays, about}; }
    return begin_together(*writers, "; --parts writes one each", [&](std::string const& unfinished) {
      return array_writer(output, arrays, about, unfinished);
    });
  }

  transport* ranks_;
  array_writer writer_;
};

}  // namespace tendril::cli
