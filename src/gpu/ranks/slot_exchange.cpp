#include "gpu/ranks/slot_exchange.hpp"

#include <algorithm>
#include <cstring>

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {

slot_exchange::slot_exchange(transport& ranks, gpu_messages& messages, std::span<std::int64_t const> bounds, int device,
                             side_stream const& stream)
    : ranks_(ranks),
      messages_(messages),
      bounds_(bounds),
      device_(device),
      stream_(stream),
      sent_(static_cast<std::size_t>(ranks.size())),
      asked_(sent_.size()),
      tallies_(2 * most_groups, gpu_memory(device, stream.get())),
      counts_(most_groups, pinned_memory())
{
}

void slot_exchange::begin(vertex_id const* vertices, std::int64_t size, std::int64_t const* count)
{
  slot_sort at{};
  at.vertices = vertices;
  at.size = size;
  at.count = count;
  at.rank = ranks_.rank();
  at.num_ranks = ranks_.size();
  std::transform(bounds_.begin(), bounds_.end(), at.bounds,
                 [](std::int64_t bound) { return static_cast<vertex_id>(bound); });
  at.copy_of = copy_of_;
  at.slots = room_in(slots_, size, gpu_memory(device_, stream_.get()));
  at.counts = tallies_.data();
  at.cursors = tallies_.data() + most_groups;
  TENDRIL_CUDA_TRY(cudaMemsetAsync(tallies_.data(), 0, tallies_.span().size_bytes(), stream_.get()));
  count_slots(at, device_, stream_.get());
  stream_.copy(counts_.data(), static_cast<unsigned const*>(at.counts), most_groups, cudaMemcpyDeviceToHost);
  TENDRIL_CUDA_TRY(cudaEventRecord(counted_.get(), stream_.get()));
  sort_slots(at, device_, stream_.get());  // while the host learns how many there are
}

void slot_exchange::agree(std::string_view what)
{
  wait_among_ranks(ranks_, what, [&] { return counted_.is_done(); });
  std::vector<message> messages;
  for (std::size_t r = 0; r < sent_.size(); ++r) {
    std::int64_t const size = counts_[static_cast<std::int64_t>(r)];
    message& m = messages.emplace_back(ranks_.pool().take(sizeof size));
    m.append(&size, sizeof size);
    sent_[r].size = size;
  }
  std::vector<message> answers = ranks_.all_to_all(what, messages);
  away_ = num_asked_ = 0;
  copied_ = counts_[ranks_.size()];
  for (std::size_t r = 0; r < sent_.size(); ++r) {
    std::memcpy(&asked_[r].size, answers[r].data(), sizeof asked_[r].size);
    ranks_.pool().give_back(std::move(answers[r]));
    if (r == here()) { continue; }
    sent_[r].first = own() + away_;
    asked_[r].first = num_asked_;
    away_ += sent_[r].size;
    num_asked_ += asked_[r].size;
  }
}

void slot_exchange::exchange(std::string_view what)
{
  agree(what);
  std::vector<parcel> out, in;
  add_slots(out, in);
  messages_.exchange(out, in, stream_.get());
}

void slot_exchange::add_slots(std::vector<parcel>& sent, std::vector<parcel>& received)
{
  add_questions(sent, received, slots_.data(), room_in(asked_slots_, num_asked_, gpu_memory(device_, stream_.get())));
}

}  // namespace tendril::gpu
