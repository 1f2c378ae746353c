#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/names.hpp>
#include <tendril/types.hpp>

namespace tendril {

/// The end of a link that is drawn. Sources and targets with the same seed share no random number.
enum class link_end { source, target };

template <>
inline constexpr std::array<named<link_end>, 2> enum_names<link_end>{
    {{link_end::source, "source"}, {link_end::target, "target"}}};

/// Draws ends of negative links, for link prediction as PyG does it: vertices of one type, independently, uniformly or in
/// proportion to weights. It isn't asked whether the link exists.
///
/// If vertices have times, a negative is drawn among the vertices that are not later than its positive link, in the same
/// proportions. If all vertices of positive weight are later, the negative is the earliest vertex of all, whatever its
/// weight (of several, the lowest number), as in PyG. Only such a negative can be later than its link.
///
/// Binary negatives of n links are num_negatives(n, amount) sources and as many targets; triplets are as many targets alone.
/// Negative i stands against link i mod n.
///
/// Negative i of a batch depends on (vertices, weights, times, seed, end, number of the batch, i, time of its link) alone
/// (docs/reproducibility.md). Thread-safe once made.
class negative_sampler {
 public:
  /// @param num_vertices  Of the type of that end.
  /// @param weights       [num_vertices] finite and >= 0, not all 0; empty: uniform. O(num_vertices) once, O(1) a draw.
  /// @param times         [num_vertices]; empty: no vertex is too late. The sampler sorts them once and keeps 12 bytes a
  ///                      vertex, 20 with weights. A draw for a link with a time takes O(log num_vertices).
  /// @throws argument_error  arrays of another length; the first weight that is negative or not finite; weights all 0;
  ///                         memory_error.
  negative_sampler(std::int64_t num_vertices, link_end end, std::uint64_t seed, shared_array<float> const& weights = {},
                   shared_array<std::int64_t> const& times = {}, cpu_exec const& exec = {});
  ~negative_sampler();
  negative_sampler(negative_sampler&&) noexcept;
  negative_sampler& operator=(negative_sampler&&) noexcept;

  /// @param count  How many, >= 0.
  /// @param batch  The batch's number: other batches, other draws.
  /// @param until  Times of the links, in host memory: negative i is drawn among the vertices that are not later than
  ///               until[i mod until.size()]. Empty: no constraint.
  /// @return [count]
  /// @throws argument_error  a count below 0, or above 0 where there are no vertices; times of links where vertices have
  ///                         none; memory_error.
  [[nodiscard]] buffer<vertex_id> draw(std::int64_t count, std::uint64_t batch,
                                       std::span<std::int64_t const> until = {}, cpu_exec const& exec = {}) const;

 private:
  struct state;
  std::unique_ptr<state const> state_;
};

/// How many negatives n links get: amount * n, rounded up. @throws argument_error for an amount that is not above 0.
[[nodiscard]] std::int64_t num_negatives(std::int64_t num_links, double amount);

}  // namespace tendril
