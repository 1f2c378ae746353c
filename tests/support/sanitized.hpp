#pragma once

namespace tendril::test {

/// Whether a sanitizer is in this program: it needs address space, and no threads after a fork.
#if defined(__has_feature)  // of clang, which the sanitizers are built with
inline constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace tendril::test
