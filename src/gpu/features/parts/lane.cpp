#include "gpu/features/parts/lane.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // narrow_ids

#include "gpu/features/row_memory.hpp"

namespace tendril::gpu {

row_lane::row_lane(row_setting const& setting, features::gather_count& count)
    : setting_(setting), count_(count), slots_(setting.ranks, setting.messages, setting.bounds, setting.device, stream_)
{
  if (setting.copies != nullptr) { slots_.have_copies(setting.copies->copy_of.data()); }
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

/// A column of slots, in memory of its own.
buffer<vertex_id> row_lane::column(std::uint32_t const* first, std::int64_t size) const
{
  return narrow_ids({first, id_type::uint32, size, 1, sizeof(asked_slot) / sizeof(*first)}, exec());
}

void row_lane::gather(asked_slot const* slots, std::int64_t size, std::byte* out) const
{
  if (size == 0) { return; }
  auto const rows = column(&slots->row, size);
  auto const bytes = static_cast<std::size_t>(size * setting_.here.table().row_bytes());
  setting_.here.gather_unchecked({rows.data(), id_type::uint32, size}, {out, bytes}, exec());
}

void row_lane::place(row_copies job, asked_slot const* slots, std::int64_t size) const
{
  if (size == 0) { return; }
  auto const places = column(&slots->slot, size);
  samplers::rank_rounds const& rounds = setting_.rounds;
  job.places = places.data();
  job.size = size;
  job.out = setting_.out + std::min(round_ * rounds.batch, rounds.num_items) * job.row_bytes;
  copy_rows(job, nullptr, false, exec());
}

void row_lane::place_own(std::byte* room) const
{
  if (slots_.own() == 0) { return; }
  asked_slot const* const slots = slots_.slots();
  if (setting_.here.memory() == row_memory::gpu) {
    row_copies job = copies_of(setting_.here.table(), setting_.device);
    auto const rows = column(&slots->row, slots_.own());
    job.ids = rows.data();
    place(job, slots, slots_.own());
  } else {  // the CPU may take a share of them
    gather(slots, slots_.own(), room);
    place(in_order(room), slots, slots_.own());
  }
}

/// Rows one after another.
row_copies row_lane::in_order(std::byte const* rows) const
{
  std::int64_t const width = setting_.here.table().row_bytes();
  return {rows, width, std::numeric_limits<std::int64_t>::max(), width};
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
  slots_.add_answers(sent, received, made, came, width);
  setting_.messages.exchange(sent, received, stream());
  place(in_order(came), slots_.slots() + slots_.own(), slots_.away());
  place_own(came + slots_.away() * width);
  if (setting_.copies != nullptr) {
    copied_rows const& copies = *setting_.copies;
    asked_slot const* const slots = slots_.slots() + mine;
    row_copies job{copies.rows.data(), width, copies.size, width};
    auto const rows = column(&slots->row, slots_.copied());
    job.ids = rows.data();
    place(job, slots, slots_.copied());
  }
  count_.away += slots_.away() + slots_.copied();
  count_.kept += slots_.copied();
  is_done_ = true;
}

}  // namespace tendril::gpu
