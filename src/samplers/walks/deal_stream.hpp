// A stream of walks that several places make, each of which has the whole graph: batches are dealt out in turn, and meet
// again at the sink. Places need not talk: a walk is a function of its id.

#pragma once

#include <cstdint>
#include <functional>

#include <tendril/walk_stream.hpp>

#include "samplers/walks/stream_share.hpp"

namespace tendril::samplers {

/// Makes one place's batches of a job, on the thread that calls it: gets starts in turn, and gives to the sink in turn.
using make_share = std::function<walk_stream_report(walk_stream_job const& job, stream_share const& share)>;

/// Calls `make` on a thread for each place, and says what all of them did. With one place, or where the system gives no
/// threads, one share is the whole job.
/// @param batch  Walks of a batch.
/// @throws what one of them threw first, after all have ended.
walk_stream_report deal_stream(walk_stream_job const& job, int num_places, std::int64_t batch, make_share const& make);

}  // namespace tendril::samplers
