#include "gpu/ranks/counted_answers.hpp"

#include <tendril/gpu.hpp>  // pinned_memory

#include "gpu/device/check.hpp"

namespace tendril::gpu {

counted_answers::counted_answers(transport& ranks, slot_exchange const& slots, side_stream const& stream)
    : ranks_(ranks),
      slots_(slots),
      stream_(stream),
      asked_(ranks.size() + 1, pinned_memory()),
      mine_(ranks.size() + 1, pinned_memory())
{
}

void counted_answers::bring(std::int64_t const* asked_begins, std::int64_t const* begins)
{
  auto const one = [&](std::int64_t const* from, std::int64_t* to) {
    stream_.copy(to, from, 1, cudaMemcpyDeviceToHost);
  };
  std::int64_t first = 0;
  for (int r = 0; r < ranks_.size(); ++r) {
    one(asked_begins + first, asked_.data() + r);
    first += slots_.asked_by(r).size;
  }
  one(asked_begins + slots_.num_asked(), asked_.data() + num_ranks());
  std::int64_t holder = 0;
  slots_.for_each_holder([&](int, slot_exchange::range slots) { one(begins + slots.first, mine_.data() + holder++); });
  one(begins + slots_.own() + slots_.away(), mine_.data() + holder);
}

void counted_answers::agree(std::string_view what)
{
  TENDRIL_CUDA_TRY(cudaEventRecord(reached_.get(), stream_.get()));
  wait_among_ranks(ranks_, what, [&] { return reached_.is_done(); });
}

slot_exchange::range counted_answers::held_by(int rank) const
{
  std::int64_t const holder = rank == ranks_.rank() ? 0 : rank + (rank < ranks_.rank() ? 1 : 0);
  return {mine_[holder], mine_[holder + 1] - mine_[holder]};
}

}  // namespace tendril::gpu
