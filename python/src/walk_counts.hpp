#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk_stream.hpp>

#include "names.hpp"

namespace tendril::python {

[[nodiscard]] inline buffer<std::int64_t> zero_counts(std::int64_t size)
{
  buffer<std::int64_t> out(size);
  std::fill(out.begin(), out.end(), 0);
  return out;
}

/// "visits" or "ends". @throws argument_error for another word.
[[nodiscard]] inline walk_count parse_count(std::string const& what) { return parse_option<walk_count>("what", what); }

/// A job that counts walks, `repeats` from each start, and that `exec` can cancel. All outlive it.
[[nodiscard]] inline walk_stream_job counting_job(std::span<vertex_id const> starts, std::int64_t repeats,
                                                  std::int64_t first_walk, walk_count what,
                                                  std::span<std::int64_t> counts, cpu_exec const& exec)
{
  walk_stream_job job;
  job.counts = counts_of(what, counts);
  job.num_walks = checked_product("walks", std::ssize(starts), repeats);
  job.first_walk = first_walk;
  job.starts = repeats > 0 ? starts_from(starts, repeats) : [](std::int64_t, std::span<vertex_id>) {};
  job.on_progress = [&exec](progress const&) {
    if (exec.check_cancel) { exec.check_cancel(); }
  };
  return job;
}

}  // namespace tendril::python
