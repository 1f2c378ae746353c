#include "support/source_folder.hpp"

namespace tendril::test {

std::string source_folder() { return TENDRIL_SOURCE_DIR; }

}  // namespace tendril::test
