// The rules give the same bits whoever compiles them and wherever they run. The built program needs no library of this
// project or of CUDA at run time, so it can be copied to a machine with a GPU.

#include <gtest/gtest.h>

#include "nvcc/core_digests.hpp"

namespace tendril {
namespace {

constexpr std::array<char const*, test::num_rules> names{
    "random",   "floats", "floyd", "race", "fixed_point", "alias",           "its", "reject",
    "node2vec", "search", "math",  "rmat", "power_law",   "edge_attributes", "web"};

void expect_same(test::digests const& a, test::digests const& b)
{
  for (std::size_t i = 0; i < a.size(); ++i) { EXPECT_EQ(a[i], b[i]) << names[i]; }
}

/// A rule that contributes nothing, or two that contribute the same, would make the comparisons worthless.
TEST(core_digest, every_rule_contributes)
{
  auto all = test::digests_by_gpp();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NE(all[i], test::digest{}.state) << names[i];
    for (std::size_t j = 0; j < i; ++j) { EXPECT_NE(all[i], all[j]) << names[i] << ' ' << names[j]; }
  }
}

TEST(core_digest, one_bit_changes_it)
{
  test::digest a, b;
  a.add(std::uint64_t{1} << 63U);
  b.add(std::uint64_t{0});
  EXPECT_NE(a.state, b.state);
  test::digest c, d;
  c.add(0.0F);
  d.add(-0.0F);
  EXPECT_NE(c.state, d.state);
}

TEST(core_digest, gpp_and_the_host_pass_of_nvcc_agree)
{
  expect_same(test::digests_by_gpp(), test::digests_by_nvcc_on_host());
}

TEST(core_digest, host_and_device_agree)
{
  std::string const why = test::why_no_device();
  if (!why.empty()) { GTEST_SKIP() << "no GPU to run on: " << why; }
  expect_same(test::digests_by_gpp(), test::digests_by_nvcc_on_device());
}

}  // namespace
}  // namespace tendril
