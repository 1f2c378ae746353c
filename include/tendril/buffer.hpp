#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <tendril/checked.hpp>

namespace tendril {

/// The source of a buffer's memory. Implementations are thread-safe.
class memory_resource {
 public:
  virtual ~memory_resource() = default;

  /// Allocates `bytes` > 0 bytes of uninitialised memory, aligned to at least 64 bytes.
  /// @throws memory_error if the memory is not available.
  virtual void* allocate(std::size_t bytes) = 0;

  /// Returns the memory that `allocate(bytes)` gave out.
  virtual void deallocate(void* pointer, std::size_t bytes) noexcept = 0;
};

/// Host memory. Blocks of 4 MiB and more are mapped separately and advised to use huge pages, since random gathers over
/// 4 KiB pages run at half the speed. Never destroyed.
memory_resource& host_memory() noexcept;

/// Owns `size` elements of T, initially uninitialised. Move-only: there are no silent copies.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  buffer() noexcept = default;

  /// @throws memory_error if the memory is not available, or if `size` is negative.
  explicit buffer(std::int64_t size, memory_resource& memory = host_memory()) : memory_(&memory), size_(size)
  {
    auto const bytes = static_cast<std::size_t>(checked_product("out of memory: bytes of an array", size, sizeof(T)));
    if (bytes > 0) { data_ = static_cast<T*>(memory.allocate(bytes)); }
  }

  buffer(buffer&& other) noexcept
      : memory_(other.memory_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
  {
  }

  buffer& operator=(buffer&& other) noexcept
  {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  buffer(buffer const&) = delete;
  buffer& operator=(buffer const&) = delete;

  ~buffer()
  {
    if (data_ != nullptr) { memory_->deallocate(data_, static_cast<std::size_t>(size_) * sizeof(T)); }
  }

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] T const* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T& operator[](std::int64_t i) noexcept { return data_[i]; }
  [[nodiscard]] T const& operator[](std::int64_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  [[nodiscard]] T const* begin() const noexcept { return data_; }
  [[nodiscard]] T const* end() const noexcept { return data_ + size_; }
  [[nodiscard]] std::span<T> span() noexcept { return {data_, static_cast<std::size_t>(size_)}; }
  [[nodiscard]] std::span<T const> span() const noexcept { return {data_, static_cast<std::size_t>(size_)}; }

 private:
  memory_resource* memory_ = nullptr;
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// An immutable array that shares the ownership of its memory. The owner may be a buffer, a mapped file or an array of
/// the caller. Copies are cheap and refer to the same elements.
template <class T>
class shared_array {
 public:
  shared_array() noexcept = default;

  /// Takes ownership of a buffer without copying the elements.
  shared_array(buffer<T>&& elements)  // NOLINT(google-explicit-constructor): a change of owner, nothing else
  {
    auto owner = std::make_shared<buffer<T>>(std::move(elements));
    data_ = owner->data();
    size_ = owner->size();
    owner_ = std::move(owner);
  }

  /// Refers to elements that `owner` keeps alive.
  shared_array(std::span<T const> elements, std::shared_ptr<void const> owner) noexcept
      : data_(elements.data()), size_(static_cast<std::int64_t>(elements.size())), owner_(std::move(owner))
  {
  }

  [[nodiscard]] T const* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T const& operator[](std::int64_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T const* begin() const noexcept { return data_; }
  [[nodiscard]] T const* end() const noexcept { return data_ + size_; }
  [[nodiscard]] std::span<T const> span() const noexcept { return {data_, static_cast<std::size_t>(size_)}; }
  [[nodiscard]] std::shared_ptr<void const> const& owner() const noexcept { return owner_; }

 private:
  T const* data_ = nullptr;
  std::int64_t size_ = 0;
  std::shared_ptr<void const> owner_;
};

}  // namespace tendril
