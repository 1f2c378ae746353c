// philox_lanes with vectors of 8 words: the one file that is compiled for AVX-512, called where the machine has it.

#include <immintrin.h>

#include "cpu/picks/philox_vectors.hpp"

namespace tendril::cpu {
namespace {

using words_8 = std::uint64_t __attribute__((vector_size(64)));
using halves_8 = std::uint32_t __attribute__((vector_size(32)));

struct multiply_8 {
  core::word_product<words_8> operator()(words_8 a, std::uint32_t b) const
  {
    auto const product =
        reinterpret_cast<words_8>(_mm512_mul_epu32(reinterpret_cast<__m512i>(a), _mm512_set1_epi64(b)));
    return {product >> 32U, product};
  }
};

}  // namespace

void philox_lanes_avx512(draw_lanes& lanes, int first, int count, rng_key key);

void philox_lanes_avx512(draw_lanes& lanes, int first, int count, rng_key key)
{
  philox_vectors<words_8, halves_8>(lanes, first, count, key, multiply_8{});
}

}  // namespace tendril::cpu
