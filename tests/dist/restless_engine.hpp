#pragma once

// An engine that holds messages back for a random while and lets later ones pass, as networks may.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <tendril/transport.hpp>

#include "support/engine_wrapper.hpp"

namespace tendril::test {

class restless_engine final : public message_engine {
 public:
  restless_engine(std::unique_ptr<message_engine> inner, std::uint64_t seed, std::chrono::microseconds most)
      : inner_(std::move(inner)), random_(seed + static_cast<std::uint64_t>(inner_->rank())), most_(most)
  {
  }

  [[nodiscard]] int rank() const noexcept override { return inner_->rank(); }
  [[nodiscard]] int size() const noexcept override { return inner_->size(); }

  void send(int to, message sent, message_pool& pool) override { inner_->send(to, std::move(sent), pool); }
  [[nodiscard]] bool all_sent(message_pool& pool) override { return inner_->all_sent(pool); }

  [[nodiscard]] std::optional<message> receive(message_pool& pool) override
  {
    auto const now = std::chrono::steady_clock::now();
    while (auto arrived = inner_->receive(pool)) {
      held_.emplace_back(now + std::chrono::microseconds(random_() % static_cast<std::uint64_t>(most_.count())),
                         std::move(*arrived));
    }
    for (auto at = held_.begin(); at != held_.end(); ++at) {
      if (at->first > now) { continue; }
      std::optional<message> out(std::move(at->second));
      held_.erase(at);
      return out;
    }
    return std::nullopt;
  }

 private:
  std::unique_ptr<message_engine> inner_;
  std::mt19937_64 random_;
  std::chrono::microseconds most_;
  std::vector<std::pair<std::chrono::steady_clock::time_point, message>> held_;
};

/// For run_ranks.
inline engine_wrapper restless(std::uint64_t seed, std::chrono::microseconds most = std::chrono::microseconds(300))
{
  return [=](std::unique_ptr<message_engine> inner) {
    return std::make_unique<restless_engine>(std::move(inner), seed, most);
  };
}

}  // namespace tendril::test
