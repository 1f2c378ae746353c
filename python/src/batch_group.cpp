#include "batch_group.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

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

  void give(batch_group& to, int device)
  {
    auto& [pieces, cuts, places, nodes, edges] = to;
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

batch_group group_of(std::vector<minibatch> const& made, minibatch_params const& params, bool as_int32,
                     gpu_exec const& exec)
{
  batch_group out;
  auto& [pieces, cuts, places, of_nodes, of_edges] = out;
  pieces_of_memory memory;
  wide_ids ids(as_int32 ? std::vector<minibatch>() : made, exec);
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
    for (minibatch_edges const& type : batch.edges) { memory.add(type.row); }
    for (minibatch_edges const& type : batch.edges) { memory.add(type.col); }
    for (minibatch_edges const& type : batch.edges) { memory.add(type.edge); }
    if (has_weights(params)) {
      for (minibatch_edges const& type : batch.edges) { memory.add(type.weights); }
    }
  }
  memory.give(out, exec.device);
  return out;
}

}  // namespace tendril::python
