#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>

namespace tendril {

/// GPUs of this machine by their ordinals, as CUDA counts them: those that a call may use, or that hold a graph. None of
/// them means host memory. A value: copies are cheap and allocate nothing.
class gpu_set {
 public:
  static constexpr int most = 16;

  gpu_set() noexcept = default;  ///< None.
  explicit gpu_set(int device) : gpu_set({device}) {}

  /// @throws argument_error for a negative ordinal, the same one twice, or more than `most`.
  gpu_set(std::initializer_list<int> devices) : gpu_set(std::span(devices.begin(), devices.size())) {}
  explicit gpu_set(std::span<int const> devices);

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int operator[](int i) const noexcept { return devices_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int const* begin() const noexcept { return devices_.data(); }
  [[nodiscard]] int const* end() const noexcept { return devices_.data() + size_; }

  /// Whether both hold the same GPUs in the same order.
  [[nodiscard]] bool operator==(gpu_set const& other) const noexcept = default;

 private:
  std::array<int, most> devices_ = {};  // zeros beyond size_
  int size_ = 0;
};

/// For messages: "in host memory", "on GPU 1", "on GPUs 0, 1".
[[nodiscard]] std::string to_string(gpu_set const& devices);

}  // namespace tendril
