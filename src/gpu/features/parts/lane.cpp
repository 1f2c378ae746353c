#include "gpu/features/parts/lane.hpp"

#include <algorithm>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // narrow_ids

#include "gpu/features/rows.hpp"

namespace tendril::gpu {

row_lane::row_lane(row_setting const& setting, features::gather_count& count)
    : setting_(setting), count_(count), slots_(setting.ranks, setting.messages, setting.bounds, setting.device, stream_)
{
}

row_lane::~row_lane() { stream_.settle(); }

void row_lane::start(std::int64_t round)
{
  round_ = round;
  is_done_ = false;
  samplers::rank_rounds const& rounds = setting_.rounds;
  slots_.begin(setting_.ids + std::min(round * rounds.batch, rounds.num_items), rounds.size_of(round));
}

bool row_lane::finish()
{
  if (is_done_) { return false; }
  slots_.exchange("rows of features");
  return true;
}

void row_lane::gather(asked_slot const* slots, std::int64_t size, std::byte* out) const
{
  if (size == 0) { return; }
  id_matrix const rows{&slots->row, id_type::uint32, size, 1, sizeof(asked_slot) / sizeof(vertex_id)};
  auto const bytes = static_cast<std::size_t>(size * setting_.here.table().row_bytes());
  setting_.here.gather_unchecked(rows, {out, bytes}, exec());
}

void row_lane::step()
{
  std::int64_t const width = setting_.here.table().row_bytes();
  memory_resource& memory = gpu_memory(setting_.device, stream());
  std::int64_t const mine = slots_.own() + slots_.away();
  std::byte* const made = room_in(made_, checked_product("bytes of rows", slots_.num_asked(), width), memory);
  std::byte* const came = room_in(came_, checked_product("bytes of rows", mine, width), memory);
  gather(slots_.asked(), slots_.num_asked(), made);
  std::vector<parcel> sent, received;
  slots_.add_answers(sent, received, made, came + slots_.own() * width, width);
  setting_.messages.exchange(sent, received, stream());
  gather(slots_.slots(), slots_.own(), came);

  if (mine > 0) {
    id_matrix const places{&slots_.slots()->slot, id_type::uint32, mine, 1, sizeof(asked_slot) / sizeof(vertex_id)};
    auto const to = narrow_ids(places, exec());
    samplers::rank_rounds const& rounds = setting_.rounds;
    row_copies job;
    job.rows = came;
    job.stride = job.row_bytes = width;
    job.num_rows = job.size = mine;
    job.places = to.data();
    job.out = setting_.out + std::min(round_ * rounds.batch, rounds.num_items) * width;
    copy_rows(job, nullptr, false, exec());
  }
  count_.away += slots_.away();
  count_.sent_bytes += slots_.away() * static_cast<std::int64_t>(sizeof(asked_slot)) + slots_.num_asked() * width;
  is_done_ = true;
}

}  // namespace tendril::gpu
