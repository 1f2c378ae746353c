#include "gpu/batches/parts/inner_search.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "gpu/batches/induced_edges.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {

inner_search::inner_search(transport& ranks, gpu_messages& messages, std::span<edge_id const> first_edges,
                           slot_exchange const& slots, int device, side_stream const& stream)
    : ranks_(ranks),
      messages_(messages),
      first_edges_(first_edges),
      slots_(slots),
      device_(device),
      stream_(stream),
      found_(ranks, slots, stream),
      first_stamp_(1, memory()),
      host_first_stamp_(1, pinned_memory())
{
}

void inner_search::share(vertex_list const& list, std::int64_t size, std::span<std::int64_t const> first_groups)
{
  list_ = list;
  std::vector<std::int64_t> sizes;
  std::string const words(reinterpret_cast<char const*>(&size), sizeof size);
  for (std::string const& theirs : ranks_.all_gather("vertices of mini-batches", words)) {
    std::memcpy(&sizes.emplace_back(), theirs.data(), sizeof size);
  }
  std::int64_t const all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (stamped_table::is_too_large(all)) {
    throw memory_error(
        fmt::format("induced: {} vertices of mini-batches at once, expected fewer; sample fewer seeds a batch", all));
  }
  vertex_id* vertices = room_in(vertices_, all - size, memory());
  std::uint32_t* groups = room_in(groups_, all - size, memory());
  (void)table_.grow(all, 0, {}, 1, exec());
  std::uint32_t const first_stamp = host_first_stamp_[0] = table_.take(first_groups.back(), exec());
  stream_.copy(first_stamp_.data(), static_cast<std::uint32_t const*>(host_first_stamp_.data()), 1,
               cudaMemcpyHostToDevice);

  auto const number = [&](int rank, vertex_id const* of, std::uint32_t const* group_of) {
    auto const r = static_cast<std::size_t>(rank);
    number_list(of, group_of, sizes[r], static_cast<std::uint32_t>(first_groups[r]), table_.view(), first_stamp,
                exec());
  };
  std::vector<parcel> sent, received;
  auto const add = [](std::vector<parcel>& parcels, int other, auto* data, std::int64_t count) {
    parcels.push_back({other, data, count * static_cast<std::int64_t>(sizeof *data)});
  };
  for (int r = 0; r < ranks_.size(); ++r) {
    if (r == ranks_.rank()) { continue; }
    std::int64_t const theirs = sizes[static_cast<std::size_t>(r)];
    add(sent, r, list.vertices, size);
    add(sent, r, list.group_of, size);
    add(received, r, vertices, theirs);
    add(received, r, groups, theirs);
    vertices += theirs;
    groups += theirs;
  }
  messages_.exchange(sent, received, stream_.get());
  number(ranks_.rank(), list.vertices, list.group_of);
  for (std::size_t i = 0; i < received.size(); i += 2) {
    number(received[i].rank, static_cast<vertex_id const*>(received[i].data),
           static_cast<std::uint32_t const*>(received[i + 1].data));
  }
}

inner_search::rows inner_search::cut(expansion const& what)
{
  rows out;
  inner_job& job = out.job;
  job.first_stamp = first_stamp_.data();
  job.table = table_.view();
  job.graph = what.graph;
  job.vertices = what.vertices;
  job.group_of = what.group_of;
  job.num = what.num_vertices;
  job.most_vertices = what.most_vertices;
  buffer<std::int64_t> counts(what.most_vertices, memory());
  out.segments = buffer<std::int64_t>(what.most_vertices + 1, memory());
  job.segments = out.segments.data();
  count_segments(job, counts.data(), exec());
  make_offsets(counts.data(), what.most_vertices, job.segments, exec());
  return out;
}

void inner_search::count(rows& of, std::int64_t num_segments, std::int64_t* counts)
{
  buffer<std::int64_t> of_segments(num_segments, memory());
  of.hits = buffer<std::int64_t>(num_segments + 1, memory());
  of.job.num_segments = num_segments;
  of.job.hits = of.hits.data();
  count_inner(of.job, of_segments.data(), exec());
  make_offsets(of_segments.data(), num_segments, of.job.hits, exec());
  count_of_rows(of.job, counts, exec());
}

void inner_search::wait(std::string_view what)
{
  TENDRIL_CUDA_TRY(cudaEventRecord(reached_.get(), stream_.get()));
  wait_among_ranks(ranks_, what, [&] { return reached_.is_done(); });
}

void inner_search::find(expansion const& own, expansion const& asked, std::span<std::int64_t const> batches)
{
  rows here = cut(own), for_others = cut(asked);
  std::int64_t* const segments = host(2);
  for (rows const* of : {&here, &for_others}) {
    stream_.copy(segments + (of == &here ? 0 : 1), of->segments.data() + of->job.most_vertices, 1,
                 cudaMemcpyDeviceToHost);
  }
  wait("edges between the vertices of mini-batches");
  std::int64_t const mine = slots_.own() + slots_.away();
  std::int64_t* const counts = room_in(counts_, mine, memory());
  std::int64_t* const asked_counts = room_in(asked_counts_, slots_.num_asked(), memory());
  count(here, segments[0], counts);
  count(for_others, segments[1], asked_counts);
  std::vector<parcel> sent, received;
  slots_.add_answers(sent, received, asked_counts, counts + slots_.own(), 1);
  messages_.exchange(sent, received, stream_.get());
  std::int64_t* const places = room_in(places_, mine + 1, memory());
  std::int64_t* const asked_places = room_in(asked_places_, slots_.num_asked() + 1, memory());
  make_offsets(counts, mine, places, exec());
  make_offsets(asked_counts, slots_.num_asked(), asked_places, exec());
  found_.bring(asked_places, places);
  auto const num_batches = std::max<std::int64_t>(std::ssize(batches) - 1, 0);
  if (num_batches > 0) {  // in the order of the list
    std::int64_t* const of_list = room_in(list_counts_, mine, memory());
    std::int64_t* const places_of_list = room_in(list_places_, mine + 1, memory());
    place_answers<std::int64_t>(slots_.slots(), mine, counts, of_list, stream_.get());
    make_offsets(of_list, mine, places_of_list, exec());
    std::int64_t* const totals = room_in(totals_, num_batches, memory());
    sum_inner({nullptr, places_of_list}, list_.begin, num_batches, totals, exec());
    stream_.copy(host(num_batches), static_cast<std::int64_t const*>(totals), num_batches, cudaMemcpyDeviceToHost);
  }
  found_.agree("edges between the vertices of mini-batches");

  edge_id* const edges = room_in(edges_, found_.num_mine(), memory());
  vertex_id* const numbers = room_in(numbers_, found_.num_mine(), memory());
  edge_id* const asked_edges = room_in(asked_edges_, found_.num_asked(), memory());
  vertex_id* const asked_numbers = room_in(asked_numbers_, found_.num_asked(), memory());
  write_found(for_others.job, asked_edges, asked_numbers, exec());
  sent.clear();
  received.clear();
  found_.add(sent, received, asked_edges, edges, 0);
  found_.add(sent, received, asked_numbers, numbers, 0);
  messages_.exchange(sent, received, stream_.get());
  write_found(here.job, edges, numbers, exec());
}

std::vector<minibatch_edges> inner_search::take(std::span<std::int64_t const> batches)
{
  std::int64_t const num_batches = std::ssize(batches) - 1;
  std::vector<std::int64_t> num_vertices;
  for (std::size_t b = 1; b < batches.size(); ++b) { num_vertices.push_back(batches[b] - batches[b - 1]); }
  inner_room room = inner_room::of({host_.data(), static_cast<std::size_t>(num_batches)}, num_vertices, exec());
  write_inner_indptr({nullptr, list_places_.data()}, list_, num_batches, batches.back(), room.out.indptr, exec());
  slots_.for_each_holder([&](int r, slot_exchange::range slots) {
    slot_exchange::range const theirs = found_.held_by(r);
    put_found({slots_.slots() + slots.first, places_.data() + slots.first, slots.size, theirs.first,
               theirs.first + theirs.size, edges_.data() + theirs.first, numbers_.data() + theirs.first,
               first_edges_[static_cast<std::size_t>(r)]},
              list_places_.data(), list_.begin, num_batches, room.out, exec());
  });
  return std::move(room.batches);
}

}  // namespace tendril::gpu
