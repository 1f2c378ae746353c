// What ranks and the service of ranks share: how often each is heard of, and texts in messages.

#pragma once

#include <string_view>

#include <tendril/transport.hpp>

namespace tendril::dist {

inline constexpr transport::seconds longest_pause_between_beats{0.5};
inline constexpr double beats_a_deadline = 8;

/// A message's content as a text.
[[nodiscard]] inline std::string_view text_of(message const& m)
{
  return {reinterpret_cast<char const*>(m.data()), static_cast<std::size_t>(m.size())};
}

}  // namespace tendril::dist
