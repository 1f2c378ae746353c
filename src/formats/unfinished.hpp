// Outputs that are being written under temporary names, and what removes them when a process ends early.

#pragma once

#include <string>

namespace tendril::formats {

/// The file that a path leads to by symbolic links, which need not exist. @throws io_error if links lead in a circle.
[[nodiscard]] std::string behind_links(std::string const& given);

/// A name for what becomes `target` when it is complete: beside it, and another one at each call.
[[nodiscard]] std::string unfinished_name(std::string const& target);

/// Lets atomic_file::remove_all_unfinished remove a file or a folder. @return a slot; -1 if there is none left.
[[nodiscard]] int remember_unfinished(std::string const& name);
void forget_unfinished(int slot);

/// Removes a folder and the files in it, which has no folders of its own. Async-signal-safe.
void remove_folder(char const* name) noexcept;

}  // namespace tendril::formats
