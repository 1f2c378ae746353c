#pragma once

#include <string>

namespace tendril::test {

/// The checkout that this program was built from, without a slash at the end.
[[nodiscard]] std::string source_folder();

}  // namespace tendril::test
