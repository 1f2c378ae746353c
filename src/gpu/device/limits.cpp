#include "gpu/device/limits.hpp"

#include "base/expects.hpp"

namespace tendril::gpu {

void expect_below_power(char const* what, std::int64_t value, int bits)
{
  TENDRIL_EXPECTS(value < (std::int64_t{1} << static_cast<unsigned>(bits)), "{}: {}, expected less than 2^{}", what,
                  value, bits);
}

}  // namespace tendril::gpu
