#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tendril {

/// Tables derived from a graph, by name: built when first asked for, shared by all copies of the graph. Results
/// of sampling never depend on what is in here.
class derived_cache {
 public:
  /// The table `key`, or null if it has not been built.
  template <class T>
  [[nodiscard]] std::shared_ptr<T const> find(std::string const& key) const
  {
    std::lock_guard const lock(mutex_);
    auto const it = tables_.find(key);
    return it == tables_.end() ? nullptr : std::static_pointer_cast<T const>(it->second);
  }

  /// The table `key`, built by `build()` (which returns a T) if it is not there. Building runs outside the lock:
  /// two threads that race build twice and keep the first.
  template <class T, class F>
  [[nodiscard]] std::shared_ptr<T const> get(std::string const& key, F&& build)
  {
    if (auto found = find<T>(key)) { return found; }
    auto made = std::make_shared<T const>(build());
    std::lock_guard const lock(mutex_);
    auto const [it, inserted] = tables_.try_emplace(key, made);
    return std::static_pointer_cast<T const>(it->second);
  }

  void clear() noexcept
  {
    std::lock_guard const lock(mutex_);
    tables_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<void const>> tables_;
};

}  // namespace tendril
