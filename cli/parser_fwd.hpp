// The parser's class by name: CLI11 takes seconds to compile, so only sources that add options include it.

#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
class Option;
}  // namespace CLI
