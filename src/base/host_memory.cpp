#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include <tendril/buffer.hpp>
#include <tendril/error.hpp>

#include "base/memory_room.hpp"  // expect_memory

namespace tendril {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;
constexpr std::size_t own_mapping = 2 * huge_page;
constexpr std::size_t most_bytes = std::size_t{1} << 60U;  // rounding up to pages goes not past 2^63

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

class huge_page_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes) override
  {
    if (bytes < most_bytes) { base::expect_memory(static_cast<std::int64_t>(bytes), "out of memory: an array"); }
    void* pointer = bytes >= own_mapping ? map(bytes) : std::aligned_alloc(64, round_up(bytes, 64));
    if (pointer == nullptr) {
      throw memory_error(fmt::format("out of memory: {} bytes of host memory could not be had", bytes));
    }
    return pointer;
  }

  void deallocate(void* pointer, std::size_t bytes) noexcept override
  {
    if (bytes >= own_mapping) {
      munmap(pointer, round_up(bytes, huge_page));
    } else {
      std::free(pointer);  // NOLINT(cppcoreguidelines-no-malloc)
    }
  }

 private:
  /// Aligned to a huge page, so that the kernel can use them from the first byte on.
  static void* map(std::size_t bytes)
  {
    if (bytes > most_bytes) { return nullptr; }
    std::size_t const size = round_up(bytes, huge_page);
    void* const raw =
        mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) { return nullptr; }
    auto const address = reinterpret_cast<std::uintptr_t>(raw);
    std::size_t const head = round_up(address, huge_page) - address;
    std::size_t const tail = huge_page - head;
    auto* const pointer = static_cast<std::byte*>(raw) + head;
    if (head > 0) { munmap(raw, head); }
    if (tail > 0) { munmap(pointer + size, tail); }
    madvise(pointer, size, MADV_HUGEPAGE);
    return pointer;
  }
};

}  // namespace

memory_resource& host_memory() noexcept
{
  static huge_page_memory resource;
  return resource;
}

}  // namespace tendril
