#include <tendril/ranges.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges

namespace tendril {

void for_each_range(cpu_exec const& exec, std::int64_t size, std::int64_t grain,
                    std::function<void(std::int64_t begin, std::int64_t end)> const& f)
{
  TENDRIL_EXPECTS(size >= 0, "for_each_range: size is {}, expected 0 or more", size);
  TENDRIL_EXPECTS(grain >= 1, "for_each_range: grain is {}, expected 1 or more", grain);
  base::parallel_ranges(exec, size, grain, f);
}

}  // namespace tendril
