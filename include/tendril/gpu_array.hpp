#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/types.hpp>

// Functions for exchanging arrays in GPU memory with other libraries, in either direction: memory that other libraries
// may hold and read on their own streams, events in a stream's work to wait for, and conversion of ids between types.

struct CUevent_st;  // what CUDA's cudaEvent_t points to

namespace tendril {

/// Memory of one GPU for arrays that are handed to other libraries. It is allocated in the order of `stream`, like
/// gpu_memory, but may outlive that stream. It may be freed while work on any stream still reads it: a freed block is
/// used again only after the whole GPU was idle once. For this purpose allocate() waits for the GPU when a sixteenth of
/// its memory, or 4,096 blocks, have been freed, or when memory runs out. Never destroyed.
/// @throws as gpu_memory.
[[nodiscard]] memory_resource& lasting_gpu_memory(int device = 0, cuda_stream stream = nullptr);

/// A point in the work of a stream that other streams or the host can wait for. It may outlive the stream.
class gpu_event {
 public:
  /// Records all work enqueued on `exec.stream` so far. Doesn't synchronise. @throws device_error.
  explicit gpu_event(gpu_exec const& exec);
  ~gpu_event();  // NOLINT(performance-trivially-destructible): so it is in a build without CUDA
  gpu_event(gpu_event const&) = delete;
  gpu_event& operator=(gpu_event const&) = delete;

  /// Makes work enqueued on `stream` from now on wait for the event; the caller doesn't wait. @throws device_error.
  void wait_on(cuda_stream stream) const;

  /// Blocks the caller until the event. @throws device_error if any of the work failed.
  void synchronize() const;

 private:
  int device_;
  CUevent_st* event_ = nullptr;
};

/// A stream that waits for no other, the default stream included. Its kernels begin before those of others that wait.
class gpu_stream {
 public:
  /// @throws device_error.
  explicit gpu_stream(int device = 0);
  /// What is enqueued is still done.
  ~gpu_stream();  // NOLINT(performance-trivially-destructible): so it is in a build without CUDA
  gpu_stream(gpu_stream const&) = delete;
  gpu_stream& operator=(gpu_stream const&) = delete;

  [[nodiscard]] cuda_stream get() const noexcept { return stream_; }

 private:
  cuda_stream stream_ = nullptr;
};

/// The GPU whose memory `pointer` points into, or -1 for memory that doesn't belong to a GPU. @throws device_error.
[[nodiscard]] int gpu_of(void const* pointer);

/// Copies host memory to the GPU of `exec`, in the order of its stream. The caller may change `from` as soon as this
/// returns.
/// @throws device_error; memory_error.
[[nodiscard]] buffer<vertex_id> copy_to_gpu(std::span<vertex_id const> from, gpu_exec const& exec);

/// Copies `bytes` bytes from the memory of the GPU of `exec` to host memory, in the order of its stream. Synchronises.
/// @throws device_error.
void copy_to_host(void const* from, void* to, std::size_t bytes, gpu_exec const& exec);

/// Copies `bytes` bytes within the memory of the GPU of `exec`, in the order of its stream. Doesn't synchronise.
/// @throws device_error.
void copy_on_gpu(void const* from, void* to, std::size_t bytes, gpu_exec const& exec);

/// Integer types that other libraries use for ids.
enum class id_type { int32, uint32, int64, uint64 };

/// Ids in GPU memory: element (r, c) lies at data[r * row_stride + c * column_stride]. A stride of 0 repeats.
struct id_matrix {
  void const* data = nullptr;
  id_type type = id_type::int64;
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 1;
  std::int64_t row_stride = 1;  ///< In elements, as is column_stride.
  std::int64_t column_stride = 0;
};

/// Converts ids to vertex_id: [num_rows, num_columns] row-major. A value that can't be an id becomes `no_vertex`, which
/// every call rejects. Enqueues work and doesn't synchronise. @throws device_error; memory_error.
[[nodiscard]] buffer<vertex_id> narrow_ids(id_matrix const& ids, gpu_exec const& exec);

/// Checks that all values can be ids. Synchronises.
/// @throws argument_error "what[i] is -3, expected a vertex id in [0, 4294967294]" for the first value that can't be an
///         id, where i counts row by row; device_error; memory_error.
void expect_ids(id_matrix const& ids, std::string_view what, gpu_exec const& exec);

/// Checks that the ids, in GPU memory, are vertices. Synchronises. Sampling calls reject such ids themselves; this
/// function is for callers that must know earlier.
/// @throws argument_error "start 3: vertex 9 is out of range, the graph has 5 vertices", where `what` is "start", for
///         the first id that is not below num_vertices; device_error; memory_error.
void expect_vertices(std::span<vertex_id const> ids, std::string_view what, std::int64_t num_vertices,
                     gpu_exec const& exec);

/// Returns every vertex `repeats` times, in ascending order: num_vertices * repeats ids. Enqueues work and doesn't
/// synchronise.
/// @throws device_error; memory_error.
[[nodiscard]] buffer<vertex_id> every_vertex(std::int64_t num_vertices, std::int64_t repeats, gpu_exec const& exec);

/// Converts ids to int64, `no_vertex` to -1: [num_rows, num_columns] from `from`, row-major, to rows that begin
/// `to_stride` elements apart. Enqueues work and doesn't synchronise. @throws device_error.
void widen_ids(vertex_id const* from, std::int64_t num_rows, std::int64_t num_columns, std::int64_t* to,
               std::int64_t to_stride, gpu_exec const& exec);

/// Edges of a batch that are of one type, in GPU memory, as a minibatch has them.
struct batch_edge_list {
  std::int64_t const* row = nullptr;      ///< [size]
  std::int64_t const* col = nullptr;      ///< [size]
  std::int64_t const* edge = nullptr;     ///< [size]
  std::int64_t const* numbers = nullptr;  ///< By edge: its number elsewhere. Null: edges keep theirs.
  std::int64_t size = 0;
};

/// Writes lists one after the other: of each the columns [size], the rows [size] and the numbers of the edges [size].
/// Enqueues work and doesn't synchronise. @param out  [3 * all sizes] in GPU memory. @throws device_error.
void write_edge_lists(std::span<batch_edge_list const> lists, std::int64_t* out, gpu_exec const& exec);

}  // namespace tendril
