// Philox for many counters at once, by the widest vectors that the machine at hand has.

#include "cpu/picks/philox_lanes.hpp"

#include "core/philox.hpp"

#ifdef __AVX2__
#include <immintrin.h>

#include "cpu/picks/philox_vectors.hpp"
#endif

namespace tendril::cpu {

#ifdef __AVX2__

void philox_lanes_avx512(draw_lanes& lanes, int first, int count, rng_key key);  // philox_lanes_avx512.cpp

namespace {

using words_4 = std::uint64_t __attribute__((vector_size(32)));
using halves_4 = std::uint32_t __attribute__((vector_size(16)));

struct multiply_4 {
  core::word_product<words_4> operator()(words_4 a, std::uint32_t b) const
  {
    auto const product =
        reinterpret_cast<words_4>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), _mm256_set1_epi64x(b)));
    return {product >> 32U, product};
  }
};

}  // namespace

void philox_lanes(draw_lanes& lanes, int first, int count, rng_key key)
{
  static bool const has_avx512 = __builtin_cpu_supports("avx512f") != 0;
  if (has_avx512) {
    philox_lanes_avx512(lanes, first, count, key);
  } else {
    philox_vectors<words_4, halves_4>(lanes, first, count, key, multiply_4{});
  }
}

#else

void philox_lanes(draw_lanes& lanes, int first, int count, rng_key key)
{
  for (int i = first; i < first + count; ++i) {
    core::random_block const block =
        core::philox4x32_10({{static_cast<std::uint32_t>(lanes.item[i]),
                              static_cast<std::uint32_t>(lanes.item[i] >> 32U), lanes.step[i], lanes.draw[i]}},
                            key);
    lanes.low[i] = block.low();
    lanes.high[i] = block.high();
  }
}

#endif

}  // namespace tendril::cpu
