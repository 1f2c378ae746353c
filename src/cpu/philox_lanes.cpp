// Philox for many counters at once. The rule is src/core/philox.hpp, inlined into a loop that the compiler turns into
// vector code, for the widest registers that the machine at hand has.

#include "cpu/philox_lanes.hpp"

#include "core/philox.hpp"

namespace tendril::cpu {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("default", "arch=x86-64-v4"), optimize("O3")))
#endif
void philox_lanes(draw_lanes& lanes, int count, rng_key key)
{
  for (int i = 0; i < count; ++i) {
    core::random_block const block =
        core::philox4x32_10({{lanes.item_lo[i], lanes.item_hi[i], lanes.step[i], lanes.draw[i]}}, key);
    lanes.word[0][i] = block.word[0];
    lanes.word[1][i] = block.word[1];
    lanes.word[2][i] = block.word[2];
    lanes.word[3][i] = block.word[3];
  }
}

}  // namespace tendril::cpu
