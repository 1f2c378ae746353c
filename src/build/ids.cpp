#include "build/ids.hpp"

#include <cstring>

namespace tendril::build {

void id_map::collect_sorted(buffer<vertex_id> ends, std::int64_t num_ends, cpu_exec const& exec)
{
  std::sort(ends.data(), ends.data() + num_ends);
  std::int64_t const count = std::unique(ends.data(), ends.data() + num_ends) - ends.data();
  ids_ = buffer<vertex_id>(count, *exec.memory);
  std::copy(ends.data(), ends.data() + count, ids_.data());
}

void id_map::append(buffer<std::uint64_t> const& bits, std::int64_t first_id, cpu_exec const& exec)
{
  std::int64_t count = 0;
  for (auto const word : bits) { count += std::popcount(word); }
  if (count == 0) { return; }
  buffer<vertex_id> grown(ids_.size() + count, *exec.memory);
  if (!ids_.empty()) {
    std::memcpy(grown.data(), ids_.data(), static_cast<std::size_t>(ids_.size()) * sizeof(vertex_id));
  }
  std::int64_t out = ids_.size();
  for (std::int64_t w = 0; w < bits.size(); ++w) {
    for (std::uint64_t word = bits[w]; word != 0; word &= word - 1) {
      grown[out++] = static_cast<vertex_id>(first_id + 64 * w + std::countr_zero(word));
    }
  }
  ids_ = std::move(grown);
}

void id_map::index_window(buffer<std::uint64_t> bits, cpu_exec const& exec)
{
  bits_ = std::move(bits);
  ranks_ = buffer<vertex_id>(bits_.size(), *exec.memory);
  vertex_id rank = 0;
  for (std::int64_t w = 0; w < bits_.size(); ++w) {
    ranks_[w] = rank;
    rank += static_cast<vertex_id>(std::popcount(bits_[w]));
  }
}

void id_map::index_cells(std::int64_t num_ids, cpu_exec const& exec)
{
  // About eight ids a cell if they are spread evenly: half a byte of table an id.
  while ((num_ids >> shift_) > ids_.size() / 8 + 1) { ++shift_; }
  std::int64_t const num_cells = ((num_ids - 1) >> shift_) + 1;
  starts_ = buffer<std::uint32_t>(num_cells + 1, *exec.memory);
  std::int64_t i = 0;
  for (std::int64_t cell = 0; cell < num_cells; ++cell) {
    while (i < ids_.size() && (ids_[i] >> shift_) < cell) { ++i; }
    starts_[cell] = static_cast<std::uint32_t>(i);
  }
  starts_[num_cells] = static_cast<std::uint32_t>(ids_.size());
}

}  // namespace tendril::build
