// The line of ragged walks from starts to the sink, for every place that makes them: starts come in batches; the walks of
// a batch are made in slices, one as a rule, smaller ones once walks need more room than was foreseen; while the sink
// has one slice, the next is made. Memory is that of slices, whatever `length` is.

#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <utility>

#include <tendril/walk_stream.hpp>

#include "base/thread_limit.hpp"  // aside
#include "samplers/walks/ragged.hpp"
#include "samplers/walks/stream_checks.hpp"
#include "samplers/walks/stream_share.hpp"

namespace tendril::samplers {

/// A clock that starts when it is made.
class stopwatch {
 public:
  [[nodiscard]] double seconds() const
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A buffer that holds `size` elements; what it held before is lost if it was smaller. It gets a quarter more than is
/// needed now, up to `most`, since slices differ in size.
template <class T>
void make_room(buffer<T>& memory, std::int64_t size, std::int64_t most, memory_resource& from)
{
  if (memory.size() >= size) { return; }
  memory = {};
  memory = buffer<T>(std::clamp(size + size / 4, size, std::max(size, most)), from);
}

/// Walks of a slice of a job with so much room for steps, of which there is one at least.
/// @throws argument_error if the caller's limit is too small for one walk.
template <class Place>
std::int64_t slice_with_room(walk_stream_job const& job, Place const& place, std::int64_t room)
{
  std::int64_t const one = place.one_bytes(room);
  TENDRIL_EXPECTS(job.batch_bytes == 0 || job.batch_bytes >= one,
                  "batch_bytes: {}, expected at least {}: room for a walk of {} steps", job.batch_bytes, one, room);
  std::int64_t const most = job.batch_bytes > 0 ? job.batch_bytes / one : job.num_walks;
  return std::clamp<std::int64_t>(std::min(place.slice_of(room), most), 1, job.num_walks);
}

/// Walks of a batch: of its first slice, if walks are no longer than is expected.
template <class Place>
std::int64_t first_slice(walk_stream_job const& job, ragged_job const& shape, Place const& place)
{
  return slice_with_room(job, place, first_room(shape));
}

/// Streams the walks of a job to its ragged_sink. A `Place` makes them:
///   aside                              std::launch: whether starts are made on a thread of their own
///   one_bytes(room)                    memory that one walk with room for so many steps takes, all stages together
///   slice_of(room)                     walks of a slice
///   starts_of(which, size)             host memory for the starts of a batch; which: 0 or 1
///   upload(which, size)                brings them to where walks are made
///   make(which, at, slice, first, k)   makes a slice of the walks from starts[at]..., first: logical id of the first;
///                                      into slot k, 0 or 1; false if a walk needs more room
///   fetch(k)                           {offsets, vertices} of slot k in host memory, when they are there; on the thread
///                                      of the sink
/// @param share  The batches that this place makes, if others make the others.
/// @param told   Called from the calling thread with the number of walks that are made here.
template <class Place, class Told>
walk_stream_report stream_ragged(walk_stream_job const& job, ragged_job const& shape, stream_footprint const& walk,
                                 stream_share const& share, Place& place, Told told)
{
  stopwatch const whole;
  std::int64_t room = first_room(shape);
  std::int64_t const batch = share.batch > 0 ? share.batch : first_slice(job, shape, place);
  std::int64_t const num_batches = share.num_batches(job.num_walks, batch);
  stream_turn starts_turn(share.starts), sink_turn(share.sink);
  walk_stream_report report;
  report.num_walks = share.num_walks(job.num_walks, batch);

  auto const size_of = [&](std::int64_t k) { return std::min(batch, job.num_walks - share.batch_of(k) * batch); };
  auto const fill = [&](std::int64_t k) {
    starts_turn.wait(share.batch_of(k));
    stopwatch const filling;
    std::int64_t const first = share.batch_of(k) * batch;
    int const which = static_cast<int>(k % 2);
    std::span<vertex_id> const starts = place.starts_of(which, size_of(k));
    job.starts(first, starts);
    check_stream_starts(starts, first, walk);
    place.upload(which, size_of(k));
    starts_turn.advance();
    return filling.seconds();
  };
  // What these compute uses the variables above: the destructors wait for it, also when something throws.
  std::future<double> filling;
  struct times {
    double copy, sink;
  };
  std::future<times> sinking;
  auto const wait_for_sink = [&] {
    if (!sinking.valid()) { return; }
    times const took = sinking.get();
    report.copy_seconds += took.copy;
    report.sink_seconds += took.sink;
  };

  if (num_batches > 0) { filling = std::async(Place::aside, fill, std::int64_t{0}); }
  std::int64_t done = 0;
  for (std::int64_t k = 0; k < num_batches; ++k) {
    report.starts_seconds += filling.get();
    if (k + 1 < num_batches) { filling = std::async(Place::aside, fill, k + 1); }
    std::int64_t const begin = share.batch_of(k) * batch;
    std::int64_t const size = size_of(k);
    int const which = static_cast<int>(k % 2);
    for (std::int64_t at = 0; at < size;) {
      walk_slice const slice{at, std::min(slice_with_room(job, place, room), size - at), room};
      int const slot = static_cast<int>(report.num_batches % 2);
      stopwatch const walking;
      bool const fits = place.make(which, slice, job.first_walk + begin, slot);
      report.walk_seconds += walking.seconds();
      if (!fits) {
        room = more_room(shape, room);
        continue;
      }
      ++report.num_batches;
      report.batch_walks = std::max(report.batch_walks, slice.size);
      report.batch_bytes = std::max(report.batch_bytes, slice.size * place.one_bytes(room));
      at += slice.size;
      done += slice.size;
      told(done);
      wait_for_sink();
      bool const begins = slice.first == 0, ends = at == size;
      sinking =
          std::async(base::aside, [&, first = begin + slice.first, number = share.batch_of(k), slot, begins, ends] {
            stopwatch const copying;
            auto const [offsets, vertices] = place.fetch(slot);
            double const copy = copying.seconds();
            report.steps += std::ssize(vertices) - (std::ssize(offsets) - 1);
            if (begins) { sink_turn.wait(number); }
            stopwatch const at_work;
            job.ragged_sink({first, offsets, vertices});
            if (ends) { sink_turn.advance(); }
            return times{copy, at_work.seconds()};
          });
    }
  }
  wait_for_sink();
  report.seconds = whole.seconds();
  return report;
}

}  // namespace tendril::samplers
