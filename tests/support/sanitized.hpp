#pragma once

namespace tendril::test {

/// Whether a sanitizer is in this program: it needs address space, and no threads after a fork.
#if defined(__has_feature)  // of clang, which the sanitizers are built with
inline constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

/// Why a test of many draws is skipped there. Whole files of them are not even compiled.
inline constexpr char const* statistics_only = "statistics of samples say nothing of memory and threads";

/// The size of a test's input. Sanitizers are slow, and find as much in a smaller input that takes the same paths: it still
/// needs several threads, passes, runs or blocks where the test is about them.
template <class T>
constexpr T unless_sanitized(T size, T smaller)
{
  return is_sanitized ? smaller : size;
}

}  // namespace tendril::test
