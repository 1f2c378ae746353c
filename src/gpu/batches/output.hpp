// Where the arrays of mini-batches lie: one piece of memory for all batches that are made together, with room in it for as
// much as each could need, since the sizes are not known before the end.

#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/minibatch.hpp>

#include "gpu/batches/numbering.hpp"

namespace tendril::gpu {

/// Room for one batch, in elements.
struct slab_room {
  struct of_edges {
    std::int64_t edges = 0;   ///< Of row, col and edge each; 0: no such arrays.
    std::int64_t indptr = 0;  ///< 0: no such array.
    bool weights = false;     ///< As many as edges.
  };
  std::vector<std::int64_t> nodes;  ///< Of each vertex type.
  std::vector<of_edges> edges;      ///< Of each edge type.
  bool disjoint = false;
};

/// Memory of single batches, kept for those that follow: asking for it and giving it back takes as long as a tenth of a
/// small batch. Only for memory whose order is that of the stream, as for what is freed there: who reads a batch on another
/// stream makes the stream wait before the batch goes.
class kept_outputs {
 public:
  /// Memory for `bytes` bytes that no batch refers to any more, or new memory. @throws memory_error.
  [[nodiscard]] std::shared_ptr<buffer<std::byte>> take(std::int64_t bytes, memory_resource& memory);

 private:
  std::array<std::shared_ptr<buffer<std::byte>>, 2>
      kept_;  // a loop holds the last batch while it asks for the next one
  std::size_t next_ = 0;
};

/// Memory for the arrays of some batches.
class batch_output {
 public:
  batch_output() = default;
  /// @param kept  Where the memory may come from, or null. @throws memory_error.
  batch_output(slab_room const& room, std::int64_t num_batches, memory_resource& memory, kept_outputs* kept = nullptr);

  /// Tells the kernels.
  void describe(vertex_call* vertices, edge_call* edges) const;

  /// The content of a smaller one for as many batches. Enqueues.
  void take_over(batch_output const& from, gpu_exec const& exec);

  [[nodiscard]] shared_array<vertex_id> node(std::size_t type, std::int64_t batch, std::int64_t size) const
  {
    return part<vertex_id>(2 * type, batch, size);
  }
  [[nodiscard]] shared_array<std::int64_t> batch(std::size_t type, std::int64_t batch, std::int64_t size) const
  {
    return part<std::int64_t>(2 * type + 1, batch, size);
  }
  /// @param which  0 row, 1 col, 2 edge, 3 indptr.
  [[nodiscard]] shared_array<std::int64_t> of_edges(std::size_t t, std::size_t which, std::int64_t batch,
                                                    std::int64_t size) const
  {
    return part<std::int64_t>(first_edge_array_ + edge_arrays * t + which, batch, size);
  }
  [[nodiscard]] shared_array<float> weights(std::size_t t, std::int64_t batch, std::int64_t size) const
  {
    return part<float>(first_edge_array_ + edge_arrays * t + 4, batch, size);
  }

  [[nodiscard]] std::int64_t num_bytes() const { return memory_ ? memory_->size() : 0; }
  /// What a batch would take.
  [[nodiscard]] static std::int64_t bytes_a_batch(slab_room const& room);

 private:
  static constexpr std::size_t edge_arrays = 5;  // of an edge type

  /// One array: that of batch b begins stride * b elements behind the first.
  struct array {
    std::int64_t first_byte = 0;
    std::int64_t stride = 0;
    std::int64_t element_bytes = 8;
  };
  [[nodiscard]] static std::vector<array> arrays_of(slab_room const& room, std::int64_t num_batches,
                                                    std::int64_t& bytes);
  [[nodiscard]] std::byte* at(array const& a, std::int64_t batch) const
  {
    return a.stride == 0 ? nullptr : memory_->data() + a.first_byte + batch * a.stride * a.element_bytes;
  }

  template <class T>
  [[nodiscard]] shared_array<T> part(std::size_t which, std::int64_t batch, std::int64_t size) const
  {
    if (arrays_[which].stride == 0) { return {}; }
    auto const* const data = reinterpret_cast<T const*>(at(arrays_[which], batch));
    return {std::span<T const>(data, static_cast<std::size_t>(size)), memory_};
  }

  std::vector<array> arrays_;
  std::size_t first_edge_array_ = 0;
  std::int64_t num_batches_ = 0;
  std::shared_ptr<buffer<std::byte>> memory_;
};

/// The bytes that the arrays of batches take one behind the other.
[[nodiscard]] std::int64_t bytes_together(std::vector<minibatch>& batches);

/// Moves them to such a piece of memory. Enqueues.
void move_together(std::vector<minibatch>& batches, std::shared_ptr<buffer<std::byte>> const& memory,
                   gpu_exec const& exec);

/// Moves batches that use less than half of `slab_bytes`, if that is much, to memory of their own size. Enqueues.
void fit_memory(std::vector<minibatch>& batches, std::int64_t slab_bytes, gpu_exec const& exec);

}  // namespace tendril::gpu
