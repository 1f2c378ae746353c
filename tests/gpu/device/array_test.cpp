// What is exchanged with other libraries: ids between their types and ours, events, and memory that others still read.

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <tendril/error.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/vertex_ids.hpp>

#include "support/gpu_test.hpp"

namespace tendril {
namespace {

static_assert(is_vertex_id(std::int32_t{0}) && !is_vertex_id(std::int32_t{-1}));
static_assert(is_vertex_id(no_vertex - 1) && !is_vertex_id(no_vertex));
static_assert(!is_vertex_id(std::int64_t{1} << 32) && !is_vertex_id(std::int64_t{no_vertex}));
static_assert(!is_vertex_id(std::int64_t{-1}) && !is_vertex_id(~std::uint64_t{0}));

class arrays_on_gpu : public test::gpu_test {
 protected:
  template <class T>
  buffer<T> upload(std::vector<T> const& from)
  {
    buffer<T> to(static_cast<std::int64_t>(from.size()), gpu_memory(exec.device));
    EXPECT_EQ(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyDefault), cudaSuccess);
    return to;
  }

  template <class T>
  std::vector<T> download(buffer<T> const& from)
  {
    std::vector<T> to(static_cast<std::size_t>(from.size()));
    copy_to_host(from.data(), to.data(), to.size() * sizeof(T), exec);
    return to;
  }

  template <class T>
  void expect_narrowed(id_type type)
  {
    auto const ids = upload<T>({5, 6, 7, 8, 9, 10});
    using list = std::vector<vertex_id>;
    EXPECT_EQ(download(narrow_ids({ids.data(), type, 6}, exec)), (list{5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(download(narrow_ids({ids.data(), type, 3, 1, 2}, exec)), (list{5, 7, 9})) << "strided";
    EXPECT_EQ(download(narrow_ids({ids.data(), type, 2, 3, 1, 0}, exec)), (list{5, 5, 5, 6, 6, 6})) << "repeated";
    EXPECT_EQ(download(narrow_ids({ids.data(), type, 3, 2, 1, 3}, exec)), (list{5, 8, 6, 9, 7, 10})) << "transposed";
    EXPECT_TRUE(narrow_ids({ids.data(), type, 0}, exec).empty());
    EXPECT_NO_THROW(expect_ids({ids.data(), type, 6}, "ids", exec));
    EXPECT_NO_THROW(expect_ids({nullptr, type, 0}, "ids", exec));
  }
};

TEST_F(arrays_on_gpu, bytes_are_copied_in_place)
{
  auto const from = upload<std::int64_t>({1, -2, 3, std::int64_t{1} << 40});
  auto to = upload<std::int64_t>({9, 9, 9, 9, 9, 9});
  copy_on_gpu(from.data() + 1, to.data() + 2, 3 * sizeof(std::int64_t), exec);
  EXPECT_EQ(download(to), (std::vector<std::int64_t>{9, 9, -2, 3, std::int64_t{1} << 40, 9}));
  EXPECT_NO_THROW(copy_on_gpu(nullptr, nullptr, 0, exec));
}

TEST_F(arrays_on_gpu, ids_of_every_type_become_vertices)
{
  expect_narrowed<std::int32_t>(id_type::int32);
  expect_narrowed<std::uint32_t>(id_type::uint32);
  expect_narrowed<std::int64_t>(id_type::int64);
  expect_narrowed<std::uint64_t>(id_type::uint64);
}

TEST_F(arrays_on_gpu, the_first_number_that_is_no_id_is_named)
{
  std::vector<std::int64_t> host(100'000, 3);
  host[70'001] = -3;
  host[90'000] = std::int64_t{1} << 40;
  auto const ids = upload(host);
  id_matrix const all{ids.data(), id_type::int64, 50'000, 2, 2, 1};
  EXPECT_EQ(download(narrow_ids(all, exec))[70'001], no_vertex);
  try {
    expect_ids(all, "starts", exec);
    FAIL() << "accepted";
  } catch (argument_error const& e) {
    EXPECT_STREQ(e.what(), "starts[70001] is -3, expected a vertex id in [0, 4294967294]");
  }
}

TEST_F(arrays_on_gpu, the_first_vertex_out_of_range_is_named)
{
  std::vector<vertex_id> host(100'000, 3);
  host[60'000] = host[60'001] = host[99'999] = 5;
  auto const ids = upload(host);
  EXPECT_NO_THROW(expect_vertices(ids.span(), "start", 6, exec));
  try {
    expect_vertices(ids.span(), "start", 5, exec);
    FAIL() << "accepted";
  } catch (argument_error const& e) {
    EXPECT_STREQ(e.what(), "start 60000: vertex 5 is out of range, the graph has 5 vertices");
  }
}

TEST_F(arrays_on_gpu, ids_become_wide)
{
  auto const ids = upload<vertex_id>({1, 2, no_vertex, 4, no_vertex - 1, 6});
  using list = std::vector<std::int64_t>;
  buffer<std::int64_t> dense(6, gpu_memory(exec.device));
  widen_ids(ids.data(), 1, 6, dense.data(), 6, exec);
  EXPECT_EQ(download(dense), (list{1, 2, -1, 4, 4294967294, 6}));
  auto const spread = upload(list(8, 0));
  widen_ids(ids.data(), 2, 3, const_cast<std::int64_t*>(spread.data()) + 1, 4, exec);
  EXPECT_EQ(download(spread), (list{0, 1, 2, -1, 0, 4, 4294967294, 6}));
}

TEST_F(arrays_on_gpu, more_rows_than_a_grid_has)
{
  std::int64_t const rows = 150'000;
  std::vector<vertex_id> host(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < host.size(); ++i) { host[i] = static_cast<vertex_id>(i); }
  auto const ids = upload(host);
  buffer<std::int64_t> wide(rows, gpu_memory(exec.device));
  widen_ids(ids.data(), rows, 1, wide.data(), 1, exec);
  auto const got = download(wide);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), host.begin()));
}

TEST_F(arrays_on_gpu, every_vertex_comes_in_order)
{
  EXPECT_EQ(download(every_vertex(3, 2, exec)), (std::vector<vertex_id>{0, 0, 1, 1, 2, 2}));
  EXPECT_TRUE(every_vertex(3, 0, exec).empty());
  EXPECT_TRUE(every_vertex(0, 3, exec).empty());
}

TEST_F(arrays_on_gpu, host_memory_may_be_changed_at_once)
{
  std::vector<vertex_id> const expected(1 << 20, 7);
  auto host = expected;
  auto const there = copy_to_gpu(host, exec);
  std::fill(host.begin(), host.end(), vertex_id{8});
  EXPECT_TRUE(download(there) == expected);
  EXPECT_TRUE(copy_to_gpu({}, exec).empty());
}

TEST_F(arrays_on_gpu, it_is_known_where_memory_lies)
{
  auto const there = upload<int>({1});
  int const here = 1;
  EXPECT_EQ(gpu_of(there.data()), exec.device);
  EXPECT_EQ(gpu_of(&here), -1);
}

TEST_F(arrays_on_gpu, another_stream_waits_for_an_event)
{
  cudaStream_t first{};
  cudaStream_t second{};
  ASSERT_EQ(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), cudaSuccess);
  std::int64_t const size = 1 << 26;
  buffer<char> const from(size, lasting_gpu_memory(exec.device, first));  // both outlive the stream
  buffer<char> to(1, gpu_memory(exec.device, second));
  for (int round = 0; round < 50; ++round) {  // work that takes a while
    ASSERT_EQ(cudaMemsetAsync(const_cast<char*>(from.data()), round, static_cast<std::size_t>(size), first),
              cudaSuccess);
  }
  gpu_event const written(gpu_exec(exec.device, first));
  ASSERT_EQ(cudaStreamDestroy(first), cudaSuccess);  // its work goes on, and the event is good
  written.wait_on(second);
  ASSERT_EQ(cudaMemcpyAsync(to.data(), from.data() + size - 1, 1, cudaMemcpyDeviceToDevice, second), cudaSuccess);
  char last = 0;
  copy_to_host(to.data(), &last, 1, gpu_exec(exec.device, second));
  EXPECT_EQ(last, 49);
  EXPECT_NO_THROW(written.synchronize());
  to = {};
  ASSERT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(second), cudaSuccess);
}

TEST_F(arrays_on_gpu, memory_that_a_stream_still_reads_is_not_used_again)
{
  cudaStream_t reader{};
  ASSERT_EQ(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking), cudaSuccess);
  std::int64_t const size = 1 << 24;
  auto const bytes = static_cast<std::size_t>(size);
  auto& memory = lasting_gpu_memory(exec.device);
  buffer<char> copy(size, gpu_memory(exec.device));
  buffer<char> busy(std::int64_t{1} << 30, gpu_memory(exec.device));
  {
    buffer<char> block(size, memory);
    ASSERT_EQ(cudaMemset(block.data(), 1, bytes), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int round = 0; round < 100; ++round) {  // some 30 ms before the block is read
      ASSERT_EQ(cudaMemsetAsync(busy.data(), round, std::size_t{1} << 30, reader), cudaSuccess);
    }
    ASSERT_EQ(cudaMemcpyAsync(copy.data(), block.data(), bytes, cudaMemcpyDeviceToDevice, reader), cudaSuccess);
  }
  for (int i = 0; i < 20; ++i) {
    buffer<char> const other(size, memory);
    ASSERT_EQ(cudaMemset(const_cast<char*>(other.data()), 2, bytes), cudaSuccess);
  }
  ASSERT_EQ(cudaStreamSynchronize(reader), cudaSuccess);
  auto const got = download(copy);
  EXPECT_EQ(std::count(got.begin(), got.end(), 1), size);
  ASSERT_EQ(cudaStreamDestroy(reader), cudaSuccess);
}

TEST_F(arrays_on_gpu, lasting_memory_outlives_its_stream_and_comes_back)
{
  cudaStream_t stream{};
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  buffer<char> kept(1 << 20, lasting_gpu_memory(exec.device, stream));
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  kept = {};

  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  std::int64_t const block = static_cast<std::int64_t>(total) / 64;
  for (int i = 0; i < 48; ++i) { buffer<char> const passing(block, lasting_gpu_memory(exec.device)); }
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_LT(before - std::min(before, after), total / 8) << "three quarters of the memory came and went";
}

}  // namespace
}  // namespace tendril
