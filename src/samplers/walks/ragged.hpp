// Walks one after another, as CPU and GPU make them: slices of the walks are made in a fixed room, cut at their lengths,
// and joined.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/walk.hpp>

namespace tendril::samplers {

/// Consecutive walks that are made together.
struct walk_slice {
  std::int64_t first, size;
  std::int64_t length;  ///< The most steps that a walk of the slice has room for.
};

/// What decides about slices.
struct ragged_job {
  std::int64_t num_walks;
  std::int64_t length;  ///< Steps of a whole walk.
  double stop_prob;
};

/// No walk gets room for more steps before one has needed it: walks also end where no edge goes on, so a long `length`
/// says little about them.
inline constexpr std::int64_t most_first_room = std::int64_t{1} << 14;

/// Steps that walks get room for at first: `length`, or fewer if walks stop early. Up to `most_first_room`, at most one
/// job in a thousand has a walk that needs more room; a walk takes k steps or more with probability (1 - stop_prob)^k at
/// most.
inline std::int64_t first_room(ragged_job const& job)
{
  std::int64_t const most = std::min(job.length, most_first_room);
  if (!(job.stop_prob > 0)) { return most; }
  double const steps = std::log(1000.0 * static_cast<double>(job.num_walks)) / -std::log1p(-job.stop_prob);
  return steps < static_cast<double>(most) ? std::max<std::int64_t>(1, std::llround(std::ceil(steps))) : most;
}

/// The room of a second attempt, after a walk needed more than `room`.
inline std::int64_t more_room(ragged_job const& job, std::int64_t room) { return std::min(2 * room, job.length); }

/// Makes all walks of a job, one at least.
/// @param memory   Of the result.
/// @param slice_of slice_of(room) is the number of walks that are made together if each has room for so many steps.
/// @param make     make(slice, offsets, begin) fills offsets[0, slice.size], from `begin` on, and gives the slice's
///                 vertices; or nothing if a walk needs more room, and is called again.
/// @param copy     copy(to, from) copies a buffer.
template <class SliceOf, class Make, class Copy>
ragged_walks make_ragged(ragged_job const& job, memory_resource& memory, SliceOf slice_of, Make make, Copy copy)
{
  ragged_walks out{buffer<std::int64_t>(checked_sum("offsets of walks", job.num_walks, 1), memory), {}, job.num_walks};
  std::vector<buffer<vertex_id>> parts;
  std::int64_t room = first_room(job);
  std::int64_t done = 0;
  std::int64_t total = 0;
  while (done < job.num_walks) {
    walk_slice const slice{done, std::clamp<std::int64_t>(slice_of(room), 1, job.num_walks - done), room};
    std::optional<buffer<vertex_id>> part = make(slice, out.offsets.data() + done, total);
    if (!part) {
      room = more_room(job, room);
      continue;
    }
    done += slice.size;
    total += part->size();
    parts.push_back(std::move(*part));
  }
  if (parts.size() == 1) {
    out.vertices = std::move(parts.front());
    return out;
  }
  out.vertices = buffer<vertex_id>(total, memory);
  vertex_id* to = out.vertices.data();
  for (auto& part : parts) {
    copy(to, part);
    to += part.size();
    part = {};
  }
  return out;
}

}  // namespace tendril::samplers
