#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tendril::gpu {

/// What calls leave for the next ones, by GPU: streams, events and page-locked memory are slow to make. Thread-safe.
template <class T>
class idle_pool {
 public:
  /// Never destroyed: at exit the driver may be gone.
  static idle_pool& instance()
  {
    static auto& pool = *new idle_pool;
    return pool;
  }

  /// Null if there is none.
  [[nodiscard]] std::unique_ptr<T> take(int device)
  {
    std::lock_guard const lock(mutex_);
    auto& there = of_device_[device];
    if (there.empty()) { return nullptr; }
    auto taken = std::move(there.back());
    there.pop_back();
    return taken;
  }

  void give_back(int device, std::unique_ptr<T> one) noexcept
  try {
    std::lock_guard const lock(mutex_);
    of_device_[device].push_back(std::move(one));
  } catch (...) {  // no memory for the list: it goes
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<std::unique_ptr<T>>> of_device_;
};

}  // namespace tendril::gpu
