// Sources of this repository as text, for tests that compile them at run time.

#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "support/source_folder.hpp"

namespace tendril::test {

/// A file by its path from the top: in the checkout that this was built from, or in the one that it runs in.
inline std::string source_text(std::string const& path)
{
  for (std::string const& folder : {source_folder() + "/", std::string()}) {
    std::ifstream const file(folder + path);
    if (!file) { continue; }
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  throw std::runtime_error(path + ": not found");
}

/// The text of a header of examples/.
inline std::string example_source(std::string const& name) { return source_text("examples/" + name); }

}  // namespace tendril::test
