#include "nvcc/core_digests.hpp"

namespace tendril::test {

digests digests_by_gpp()
{
  digests all{};
  for (int i = 0; i < num_rules; ++i) { all[static_cast<std::size_t>(i)] = core_digest(static_cast<rule>(i)); }
  return all;
}

}  // namespace tendril::test
