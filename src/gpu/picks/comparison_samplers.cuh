// Other ways of choosing one of d weighted edges in one or two passes and O(1) memory, behind the interface of the
// engine's sampler (tendril/engine/walks/scan_kernel.cuh), to measure the race against. Each has the race's distribution up
// to float32 sums, and draws numbers of its own, so it gives other walks; no CPU twin. Random numbers are counters here
// too, not the generator states of the papers.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/scan_kernel.cuh>

namespace tendril::gpu {

/// What the comparison samplers share. All members: whole warp, converged.
template <class W, class View>
class comparison_sampler {
 public:
  struct arguments {};

  __device__ comparison_sampler(arguments const&, W const& walk, engine::dynamic_terms const& setup)
      : walk_(walk), setup_(setup)
  {
  }
  __device__ void idle(std::int64_t) const {}

 protected:
  /// The weight of a candidate; 0 past the end of the neighbourhood.
  [[nodiscard]] __device__ float weight(basic_walk_state<View> const& s, typename View::row_type const& row,
                                        std::uint32_t i) const
  {
    return i < row.degree() ? walk_.weight(s, basic_walk_edge<View>(row, i)) : 0.0F;
  }

  /// A number in [0, 1) for each of the four candidates i, i + 32, … of this lane, i below 32 in its stretch of 128.
  [[nodiscard]] __device__ core::random_block bits(basic_walk_state<View> const& s, std::uint32_t i) const
  {
    return core::race_high_block(setup_.step_keys, s.walk, static_cast<std::uint32_t>(s.step), core::race_draws,
                                 core::race_block_offset(i));
  }
  [[nodiscard]] static __device__ float unit(std::uint32_t bits) { return __uint2float_rz(bits >> 8U) * 0x1p-24F; }

  /// The sum of the values of lanes up to this one.
  [[nodiscard]] static __device__ float prefix_sum(float value)
  {
    for (unsigned step = 1; step < 32; step *= 2) {
      float const below = __shfl_up_sync(engine::full_warp, value, step);
      value += engine::lane() >= step ? below : 0.0F;
    }
    return value;
  }

  W const& walk_;
  engine::dynamic_terms const& setup_;
};

/// Direct parallel reservoir sampling (Mei et al., FlowWalker, PVLDB 17, 2024, algorithm 3): candidate i replaces the
/// choice with probability w_i / (w_1 + … + w_i); a prefix sum and a reduction for each 32 candidates.
template <class W, class View>
class direct_reservoir : public comparison_sampler<W, View> {
 public:
  using comparison_sampler<W, View>::comparison_sampler;

  [[nodiscard]] __device__ std::uint64_t choose(basic_walk_state<View> const& s, typename View::row_type const& row)
  {
    std::uint32_t const degree = row.degree();
    std::uint64_t chosen = core::race_none;
    float before = 0;
    for (std::uint32_t at = 0; at < degree; at += min(degree - at, core::race_stretch)) {
      core::random_block const block = this->bits(s, at + engine::lane());
#pragma unroll
      for (std::uint32_t word = 0; word < 4; ++word) {
        float const w = this->weight(s, row, at + 32 * word + engine::lane());
        float const sum = before + this->prefix_sum(w);
        unsigned const hits = __ballot_sync(engine::full_warp, this->unit(block.word[word]) * sum < w);
        if (hits != 0) { chosen = core::race_entry(1, at + 32 * word + 31 - static_cast<unsigned>(__clz(hits))); }
        before = __shfl_sync(engine::full_warp, sum, 31);
      }
    }
    return chosen;
  }
};

/// Zig-zag parallel reservoir sampling (the same paper, algorithm 4): lane l owns candidates l, l + 32, …; one pass for
/// the lanes' sums, one exclusive prefix sum, and a second pass in which every lane samples its own on top of it.
template <class W, class View>
class zigzag_reservoir : public comparison_sampler<W, View> {
 public:
  using comparison_sampler<W, View>::comparison_sampler;

  [[nodiscard]] __device__ std::uint64_t choose(basic_walk_state<View> const& s, typename View::row_type const& row)
  {
    std::uint32_t const degree = row.degree();
    float own = 0;
#pragma unroll 4
    for (std::uint32_t i = engine::lane(); i < degree; i += 32) { own += this->weight(s, row, i); }
    // Not own sums subtracted from inclusive ones: small lanes would lose all digits beside large ones.
    float const up_to_here = __shfl_up_sync(engine::full_warp, this->prefix_sum(own), 1);
    float sum = engine::lane() == 0 ? 0.0F : up_to_here;
    bool any = false;
    std::uint32_t chosen = 0;
    for (std::uint32_t at = 0; at < degree; at += min(degree - at, core::race_stretch)) {
      core::random_block const block = this->bits(s, at + engine::lane());
#pragma unroll
      for (std::uint32_t word = 0; word < 4; ++word) {
        std::uint32_t const i = at + 32 * word + engine::lane();
        float const w = this->weight(s, row, i);
        sum += w;
        if (this->unit(block.word[word]) * sum < w) {
          any = true;
          chosen = i;
        }
      }
    }
    unsigned const lanes = __ballot_sync(engine::full_warp, any);
    if (lanes == 0) { return core::race_none; }
    return core::race_entry(1, __shfl_sync(engine::full_warp, chosen, 31 - __clz(static_cast<int>(lanes))));
  }
};

/// Exponential jumps (A-ExpJ: Efraimidis & Spirakis, IPL 2006) over 32 virtual lanes, lane l with candidates l, l + 32,
/// … and a counter of its own: a lane draws how much weight it may skip before a candidate beats its best, so most
/// candidates cost a load and a subtraction.
template <class W, class View>
class exponential_jumps : public comparison_sampler<W, View> {
 public:
  using comparison_sampler<W, View>::comparison_sampler;

  [[nodiscard]] __device__ std::uint64_t choose(basic_walk_state<View> const& s, typename View::row_type const& row)
  {
    std::uint32_t const degree = row.degree();
    best_ = __uint_as_float(0x7f800000U);
    jumps_ = 0;
    float left = 0;  // weight to skip
    std::uint32_t chosen = 0;
    for (std::uint32_t at = engine::lane(); at < degree; at += 8 * 32) {
      float w[8];
      float sum = 0;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        w[j] = this->weight(s, row, at + 32 * j);
        sum += w[j];
      }
      if (sum < left) {
        left -= sum;
      } else {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          if (!(w[j] > 0)) { continue; }
          left -= w[j];
          if (left <= 0) {
            chosen = at + 32 * j;
            left = jump(s, w[j]);
          }
        }
      }
      if (degree - at <= 8 * 32) { break; }
    }
    __syncwarp();
    bool const any = best_ < __uint_as_float(0x7f800000U);
    return engine::warp_min(any ? core::race_entry(core::float_to_bits(best_), chosen) : core::race_none);
  }

 private:
  /// The candidate of weight w beats the lane's best: draws its key, given that, and the next jump. Any lane.
  __device__ float jump(basic_walk_state<View> const& s, float w)
  {
    core::random_block const block = core::draw_block(setup_.step_keys, s.walk, static_cast<std::uint32_t>(s.step),
                                                      core::race_draws + engine::lane() + 32 * jumps_++);
    float const below = -expm1f(-w * best_);  // the probability of a key below the best; 1 at first
    best_ = fminf(best_, fmaxf(-log1pf(-below * this->unit(block.word[0])) / w, 0x1p-100F));
    return -log1pf(-this->unit(block.word[1])) / best_;
  }

  using comparison_sampler<W, View>::setup_;
  float best_ = 0;  // the smallest key of the lane
  std::uint32_t jumps_ = 0;
};

}  // namespace tendril::gpu
