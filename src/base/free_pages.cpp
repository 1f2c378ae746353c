#include "base/free_pages.hpp"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace tendril::base {

void give_back_pages(void const* begin, void const* end) noexcept
{
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto const first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  auto const last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first < last) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);  // NOLINT(performance-no-int-to-ptr)
  }
}

}  // namespace tendril::base
