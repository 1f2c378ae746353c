#pragma once

#include <functional>
#include <memory>

#include <tendril/transport.hpp>

namespace tendril::test {

/// What puts an engine around a rank's own, as run_ranks takes it; an empty one puts none.
using engine_wrapper = std::function<std::unique_ptr<message_engine>(std::unique_ptr<message_engine>)>;

}  // namespace tendril::test
