#include "gpu/features/parts/row_gather.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event, narrow_ids

#include "gpu/device/check.hpp"
#include "gpu/features/row_memory.hpp"

namespace tendril::gpu {
namespace {

/// Of a rank. Between pieces the links wait for a moment, and before the first one for its gather.
constexpr std::int64_t bytes_a_piece = std::int64_t{1} << 27U;

}  // namespace

row_gather::row_gather(row_setting const& setting)
    : setting_(setting), slots_(setting.ranks, setting.messages, setting.bounds, setting.device, stream_)
{
  if (setting.copies != nullptr) { slots_.have_copies(setting.copies->copy_of.data()); }
}

row_gather::~row_gather()
{
  stream_.settle();
  for (lane const& one : lanes_) { one.stream.settle(); }
}

void row_gather::wait_for(cuda_stream stream) { gpu_event(gpu_exec(setting_.device, stream)).wait_on(stream_.get()); }

row_gather::range row_gather::part(range all, std::int64_t piece) const
{
  std::int64_t const begin = all.size * piece / num_pieces_, end = all.size * (piece + 1) / num_pieces_;
  return {all.first + begin, end - begin};
}

buffer<vertex_id> row_gather::column(std::uint32_t const* first, std::int64_t size, gpu_exec const& exec) const
{
  return narrow_ids({first, id_type::uint32, size, 1, sizeof(asked_slot) / sizeof(*first)}, exec);
}

row_copies row_gather::in_order(std::byte const* rows) const
{
  return {rows, width(), std::numeric_limits<std::int64_t>::max(), width()};
}

void row_gather::gather(asked_slot const* slots, std::int64_t size, std::byte* out, gpu_exec const& exec) const
{
  if (size == 0) { return; }
  auto const rows = column(&slots->row, size, exec);
  auto const bytes = static_cast<std::size_t>(size * width());
  setting_.here.gather_unchecked({rows.data(), id_type::uint32, size}, {out, bytes}, exec);
}

void row_gather::place(row_copies job, asked_slot const* slots, std::int64_t size, gpu_exec const& exec) const
{
  if (size == 0) { return; }
  auto const places = column(&slots->slot, size, exec);
  job.places = places.data();
  job.size = size;
  job.out = out_;
  copy_rows(job, nullptr, false, exec);
}

void row_gather::agree_on_pieces()
{
  std::int64_t const rows = std::max(slots_.num_asked(), slots_.away());
  std::int64_t const bytes = checked_product("bytes of rows", rows, width());
  num_pieces_ = setting_.ranks.all_reduce("pieces of rows", bytes / bytes_a_piece + 1, reduction::max);
}

void row_gather::make(std::int64_t piece)
{
  if (piece >= num_pieces_) { return; }
  lane& to = lane_of(piece);
  std::int64_t size = 0;
  for (int r = 0; r < setting_.ranks.size(); ++r) { size += part(slots_.asked_by(r), piece).size; }
  std::byte* made = room_in(to.made, size * width(), gpu_memory(setting_.device, to.stream.get()));
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    range const rows = part(slots_.asked_by(r), piece);
    gather(slots_.asked() + rows.first, rows.size, made, on(to.stream));
    made += rows.size * width();
  }
}

void row_gather::place_own()
{
  asked_slot const* const slots = slots_.slots();
  if (slots_.own() == 0) { return; }
  if (setting_.here.memory() == row_memory::gpu) {
    row_copies job = copies_of(setting_.here.table(), setting_.device);
    auto const rows = column(&slots->row, slots_.own(), on(stream_));
    job.ids = rows.data();
    place(job, slots, slots_.own(), on(stream_));
    return;
  }
  // The CPU may take a share of them.
  std::int64_t const most = std::max<std::int64_t>(bytes_a_piece / std::max<std::int64_t>(width(), 1), 1);
  for (std::int64_t first = 0; first < slots_.own(); first += most) {
    std::int64_t const size = std::min(most, slots_.own() - first);
    std::byte* const room = room_in(own_, size * width(), gpu_memory(setting_.device, stream_.get()));
    gather(slots + first, size, room, on(stream_));
    place(in_order(room), slots + first, size, on(stream_));
  }
}

void row_gather::place_copies() const
{
  if (setting_.copies == nullptr) { return; }
  copied_rows const& copies = *setting_.copies;
  asked_slot const* const slots = slots_.slots() + slots_.own() + slots_.away();
  row_copies job{copies.rows.data(), width(), copies.size, width()};
  auto const rows = column(&slots->row, slots_.copied(), on(stream_));
  job.ids = rows.data();
  place(job, slots, slots_.copied(), on(stream_));
}

template <class F>
void row_gather::for_each_part_of(std::int64_t piece, F f) const
{
  std::int64_t before = 0;
  slots_.for_each_holder([&](int r, range slots) {
    if (r == setting_.ranks.rank()) { return; }
    range const rows = part(slots, piece);
    if (rows.size > 0) { f(r, rows, before); }
    before += rows.size * width();
  });
}

void row_gather::exchange(std::int64_t piece, std::function<void()> const& work)
{
  lane& here = lane_of(piece);
  std::int64_t size = 0;
  for_each_part_of(piece, [&](int, range rows, std::int64_t) { size += rows.size; });
  std::byte* const came = room_in(here.came, size * width(), gpu_memory(setting_.device, here.stream.get()));
  std::vector<parcel> sent, received;
  std::byte* made = here.made.data();
  for (int r = 0; r < setting_.ranks.size(); ++r) {
    std::int64_t const bytes = part(slots_.asked_by(r), piece).size * width();
    if (bytes > 0) { sent.push_back({r, made, bytes}); }
    made += bytes;
  }
  for_each_part_of(piece, [&](int r, range rows, std::int64_t before) {
    received.push_back({r, came + before, rows.size * width()});
  });
  setting_.messages.exchange_beside(sent, received, here.stream.get(), work);
}

void row_gather::place_piece(std::int64_t piece)
{
  if (piece < 0) { return; }
  lane const& here = lane_of(piece);
  for_each_part_of(piece, [&](int, range rows, std::int64_t before) {
    place(in_order(here.came.data() + before), slots_.slots() + rows.first, rows.size, on(here.stream));
  });
}

void row_gather::run(vertex_id const* ids, std::int64_t size, std::byte* out, features::gather_count& count)
{
  out_ = out;
  slots_.begin(ids, size);
  slots_.exchange("rows of features");
  agree_on_pieces();
  gpu_event const sorted(on(stream_));
  for (lane const& one : lanes_) { sorted.wait_on(one.stream.get()); }
  make(0);
  for (std::int64_t piece = 0; piece < num_pieces_; ++piece) {
    exchange(piece, [&] {
      make(piece + 1);
      place_piece(piece - 1);
      if (piece > 0) { return; }
      place_own();
      place_copies();
    });
  }
  place_piece(num_pieces_ - 1);
  count.away += slots_.away() + slots_.copied();
  count.kept += slots_.copied();
  for (lane const& one : lanes_) { one.stream.wait(); }
  stream_.wait();
}

}  // namespace tendril::gpu
