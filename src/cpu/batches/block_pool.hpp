// Memory for results that are made again and again: what a user drops is used for the next one, so that its pages need
// not be mapped and cleared anew.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <tendril/buffer.hpp>

namespace tendril::cpu {

/// Blocks of one memory resource. Thread-safe.
class block_pool {
 public:
  struct block {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  explicit block_pool(memory_resource& memory) : memory_(memory) {}
  block_pool(block_pool const&) = delete;
  block_pool& operator=(block_pool const&) = delete;
  ~block_pool() { close(); }

  /// At least `bytes` > 0, and not many more.
  block take(std::size_t bytes)
  {
    std::size_t const unit = std::max<std::size_t>(least, std::bit_floor(bytes) / 8);
    bytes = (bytes + unit - 1) / unit * unit;
    {
      std::lock_guard const lock(mutex_);
      auto const it = idle_.lower_bound(bytes);
      if (it != idle_.end() && it->first <= 2 * bytes) {
        block const out{it->second, it->first};
        idle_bytes_ -= out.bytes;
        idle_.erase(it);
        return out;
      }
    }
    return {memory_.allocate(bytes), bytes};
  }

  void give_back(block what) noexcept
  {
    if (what.data == nullptr) { return; }
    try {
      std::lock_guard const lock(mutex_);
      if (!closed_ && idle_bytes_ + what.bytes <= most_idle) {
        idle_.emplace(what.bytes, what.data);
        idle_bytes_ += what.bytes;
        return;
      }
    } catch (...) {  // no memory for the list: the block is not kept
    }
    memory_.deallocate(what.data, what.bytes);
  }

  /// Frees idle blocks, and from now on every block that comes back: no more will be taken.
  void close() noexcept
  {
    std::lock_guard const lock(mutex_);
    closed_ = true;
    for (auto const& [bytes, data] : idle_) { memory_.deallocate(data, bytes); }
    idle_.clear();
    idle_bytes_ = 0;
  }

 private:
  static constexpr std::size_t least = 1024;
  static constexpr std::size_t most_idle = std::size_t{1} << 30U;

  memory_resource& memory_;
  std::mutex mutex_;
  std::multimap<std::size_t, void*> idle_;
  std::size_t idle_bytes_ = 0;
  bool closed_ = false;
};

/// An array that grows in blocks of a pool, until it becomes a result.
template <class T>
class pooled_array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit pooled_array(std::shared_ptr<block_pool> pool) : pool_(std::move(pool)) {}
  pooled_array(pooled_array&& other) noexcept
      : pool_(std::move(other.pool_)), block_(std::exchange(other.block_, {})), size_(std::exchange(other.size_, 0))
  {
  }
  pooled_array& operator=(pooled_array&&) = delete;
  ~pooled_array()
  {
    if (pool_ != nullptr) { pool_->give_back(block_); }
  }

  [[nodiscard]] std::shared_ptr<block_pool> const& pool() const noexcept { return pool_; }
  [[nodiscard]] T* data() noexcept { return static_cast<T*>(block_.data); }
  [[nodiscard]] T const* data() const noexcept { return static_cast<T const*>(block_.data); }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::int64_t i) noexcept { return data()[i]; }
  [[nodiscard]] T const& operator[](std::int64_t i) const noexcept { return data()[i]; }

  /// Room for `size` elements. Keeps those that are there.
  void reserve(std::int64_t size)
  {
    std::size_t const bytes = static_cast<std::size_t>(size) * sizeof(T);
    if (bytes <= block_.bytes) { return; }
    block_pool::block const bigger = pool_->take(bytes);
    if (size_ > 0) { std::memcpy(bigger.data, block_.data, static_cast<std::size_t>(size_) * sizeof(T)); }
    pool_->give_back(std::exchange(block_, bigger));
  }
  /// New elements are uninitialised.
  void resize(std::int64_t size)
  {
    reserve(size);
    size_ = size;
  }

  /// Its elements as a result, which gives the block back with its last reference. Leaves an empty array.
  [[nodiscard]] shared_array<T> finish()
  {
    if (size_ == 0) { return {}; }
    std::span<T const> const elements(data(), static_cast<std::size_t>(size_));
    auto owner = std::make_shared<loan const>(pool_, block_);
    block_ = {};
    size_ = 0;
    return shared_array<T>(elements, std::move(owner));
  }

 private:
  /// What a result owns.
  struct loan {
    std::shared_ptr<block_pool> pool;
    block_pool::block what;

    loan(std::shared_ptr<block_pool> the_pool, block_pool::block the_block) : pool(std::move(the_pool)), what(the_block)
    {
    }
    loan(loan const&) = delete;
    loan& operator=(loan const&) = delete;
    ~loan() { pool->give_back(what); }
  };

  std::shared_ptr<block_pool> pool_;
  block_pool::block block_;
  std::int64_t size_ = 0;
};

}  // namespace tendril::cpu
