// Trees on lists of Stream VByte in a build without CUDA: it says so.

#include <tendril/error.hpp>

#include "bench/vbyte_in_order.hpp"

namespace tendril::bench {

void pick_in_order(compressed_view const&, in_order_hop const&, gpu_exec const&)
{
  throw device_error("bench: this build of Tendril has no CUDA");
}

}  // namespace tendril::bench
