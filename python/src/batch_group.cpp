#include "batch_group.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/types.hpp>

#include "minibatch.hpp"

namespace tendril::python {
namespace {

constexpr std::int64_t ids_in_line = 16;  // of int64, in 128 bytes: where widened ids begin

/// Arrays that lie in few pieces of memory, and where.
class pieces_of_memory {
 public:
  template <class T>
  void add(shared_array<T> const& array)
  {
    static_assert(std::is_same_v<T, std::int64_t> || std::is_same_v<T, float> || std::is_same_v<T, vertex_id>);
    constexpr element_type type = std::is_same_v<T, std::int64_t> ? element_type::int64
                                  : std::is_same_v<T, float>      ? element_type::float32
                                                                  : element_type::int32;
    places_.push_back(-1 - static_cast<std::int64_t>(type));
    if (array.empty()) { return; }
    auto const* const data = reinterpret_cast<std::byte const*>(array.data());
    auto const* const end = reinterpret_cast<std::byte const*>(array.data() + array.size());
    arrays_.push_back({type, array.owner(), data, end, array.size(), places_.size() - 1});
  }

  [[nodiscard]] array_pieces give(int device, std::shared_ptr<gpu_event const> const& ready)
  {
    array_pieces made;
    auto& [pieces, cuts, places] = made;
    std::ranges::sort(arrays_, [](array const& a, array const& b) {
      if (a.type != b.type) { return a.type < b.type; }
      if (a.owner != b.owner) { return std::less<>()(a.owner.get(), b.owner.get()); }
      return std::less<>()(a.data, b.data);
    });
    std::int64_t num_parts = 0;
    array const* before = nullptr;
    for (array const& one : arrays_) {
      std::int64_t const gap = before == nullptr ? -1 : gap_between(*before, one);
      if (gap < 0) {  // also where arrays share elements
        pieces.push_back(empty_piece(one, device));
        cuts.emplace_back();
      }
      if (gap > 0) {
        cuts.back().push_back(gap);
        ++num_parts;
      }
      cuts.back().push_back(one.size);
      pieces.back().shape[0] += std::max<std::int64_t>(gap, 0) + one.size;
      places_[one.place] = num_parts++;
      before = &one;
    }
    places = std::move(places_);
    for (gpu_array& piece : pieces) { piece.ready = ready; }
    return made;
  }

 private:
  enum class element_type : std::int8_t { int64, float32, int32 };

  struct array {
    element_type type;
    std::shared_ptr<void const> owner;
    std::byte const *data, *end;
    std::int64_t size;
    std::size_t place;
  };

  static std::int64_t bytes_of(element_type type) { return type == element_type::int64 ? 8 : 4; }

  static nanobind::dlpack::dtype type_of(element_type type)
  {
    switch (type) {
      case element_type::float32: return nanobind::dtype<float>();
      case element_type::int32: return nanobind::dtype<std::int32_t>();
      case element_type::int64: break;
    }
    return nanobind::dtype<std::int64_t>();
  }

  /// Elements between two arrays of one piece; -1: they are not.
  static std::int64_t gap_between(array const& before, array const& after)
  {
    if (before.type != after.type || before.owner != after.owner) { return -1; }
    std::int64_t const gap = after.data - before.end;
    std::int64_t const element_bytes = bytes_of(after.type);
    return gap < 0 || gap % element_bytes != 0 ? -1 : gap / element_bytes;
  }

  static gpu_array empty_piece(array const& first, int device)
  {
    return {first.owner, const_cast<std::byte*>(first.data), type_of(first.type), {0}, {1}, device, nullptr};
  }

  std::vector<array> arrays_;
  std::vector<std::int64_t> places_;
};

/// Ids of all batches as int64, in one piece of memory.
class wide_ids {
 public:
  wide_ids(std::vector<minibatch> const& made, gpu_exec const& exec) : exec_(exec)
  {
    std::int64_t size = 0;
    for (minibatch const& one : made) {
      for (minibatch_vertices const& type : one.vertices) { size += room_of(type.node); }
    }
    if (size > 0) { memory_ = std::make_shared<buffer<std::int64_t>>(size, memory_of(exec)); }
  }

  [[nodiscard]] shared_array<std::int64_t> widened(shared_array<vertex_id> const& ids)
  {
    if (ids.empty()) { return {}; }
    std::int64_t* const to = memory_->data() + used_;
    widen_ids(ids.data(), 1, ids.size(), to, ids.size(), exec_);
    used_ += room_of(ids);
    return {std::span<std::int64_t const>(to, static_cast<std::size_t>(ids.size())), memory_};
  }

 private:
  static std::int64_t room_of(shared_array<vertex_id> const& ids)
  {
    return (ids.size() + ids_in_line - 1) / ids_in_line * ids_in_line;
  }

  gpu_exec const& exec_;
  std::shared_ptr<buffer<std::int64_t>> memory_;
  std::int64_t used_ = 0;
};

}  // namespace

edge_group::edge_group(std::vector<minibatch> const& made, bool weighted, int device,
                       std::shared_ptr<gpu_event const> ready)
    : weighted_(weighted), device_(device), ready_(std::move(ready))
{
  batches_.reserve(made.size());
  for (minibatch const& batch : made) { batches_.push_back(batch.edges); }
}

array_pieces edge_group::pieces() const
{
  pieces_of_memory memory;
  for (auto const& types : batches_) {
    for (minibatch_edges const& type : types) { memory.add(type.row); }
    for (minibatch_edges const& type : types) { memory.add(type.col); }
    for (minibatch_edges const& type : types) { memory.add(type.edge); }
    if (weighted_) {
      for (minibatch_edges const& type : types) { memory.add(type.weights); }
    }
  }
  return memory.give(device_, ready_);
}

std::vector<std::int64_t> edge_group::sizes(std::size_t batch) const
{
  std::vector<std::int64_t> out;
  for (minibatch_edges const& type : batches_.at(batch)) { out.push_back(type.row.size()); }
  return out;
}

void edge_group::write(std::size_t batch, std::vector<std::uintptr_t> const& numbers, std::uintptr_t out,
                       std::uintptr_t stream) const
{
  nb::gil_scoped_release const no_gil;
  auto const& types = batches_.at(batch);
  if (numbers.size() != types.size()) {
    throw argument_error(fmt::format("numbers of {} edge types, expected {}", numbers.size(), types.size()));
  }
  std::vector<batch_edge_list> lists;
  lists.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    lists.push_back({types[i].row.data(), types[i].col.data(), types[i].edge.data(),
                     reinterpret_cast<std::int64_t const*>(numbers[i]), types[i].row.size()});
  }
  gpu_exec const exec(device_, reinterpret_cast<cuda_stream>(stream));
  ready_->wait_on(exec.stream);
  write_edge_lists(lists, reinterpret_cast<std::int64_t*>(out), exec);
}

batch_group group_of(std::vector<minibatch> const& made, minibatch_params const& params, bool as_int32,
                     gpu_exec const& exec)
{
  pieces_of_memory memory;
  wide_ids ids(as_int32 ? std::vector<minibatch>() : made, exec);
  std::vector<std::vector<std::vector<std::int64_t>>> of_nodes, of_edges;
  for (minibatch const& batch : made) {
    auto& nodes = of_nodes.emplace_back();
    for (minibatch_vertices const& type : batch.vertices) {
      nodes.push_back(type.num_sampled);
      if (as_int32) {
        memory.add(type.node);
      } else {
        memory.add(ids.widened(type.node));
      }
    }
    if (params.disjoint) {
      for (minibatch_vertices const& type : batch.vertices) { memory.add(type.batch); }
    }
    auto& edges = of_edges.emplace_back();
    for (minibatch_edges const& type : batch.edges) { edges.push_back(type.num_sampled); }
  }
  auto const ready = std::make_shared<gpu_event const>(exec);
  return {memory.give(exec.device, ready), std::move(of_nodes), std::move(of_edges),
          edge_group(made, has_weights(params), exec.device, ready)};
}

}  // namespace tendril::python
