// Pages of an array that is still there but partly done with.

#pragma once

namespace tendril::base {

/// Gives the whole pages of [begin, end) back to the system. For memory that only this process uses: a mapping of a file, or
/// what host_memory() gave out. Anonymous pages read as zero afterwards.
void give_back_pages(void const* begin, void const* end) noexcept;

}  // namespace tendril::base
