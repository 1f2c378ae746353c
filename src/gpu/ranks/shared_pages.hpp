// A few pages of memory that processes of one machine share (POSIX shared memory).

#pragma once

#include <cstddef>
#include <string>

namespace tendril::gpu {

/// Zeroed at first. Processes that have opened them keep them, whoever else ends.
class shared_pages {
 public:
  /// New pages under a name that nobody else has. Empty where the machine has none to give.
  static shared_pages make(std::size_t bytes);
  /// Those that another process has made, or this one. Empty where they aren't there.
  static shared_pages open(std::string const& name, std::size_t bytes);

  shared_pages() = default;
  shared_pages(shared_pages&& other) noexcept;
  shared_pages& operator=(shared_pages&& other) noexcept;
  /// Those that made the pages take their name away, if it is still there.
  ~shared_pages();

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::string const& name() const noexcept { return name_; }
  [[nodiscard]] bool empty() const noexcept { return data_ == nullptr; }

  /// Once all who are to have the pages have opened them.
  void forget_name() noexcept;

 private:
  shared_pages(int file, std::size_t bytes, std::string name, bool owns_name);

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::string name_;
  bool owns_name_ = false;
};

}  // namespace tendril::gpu
