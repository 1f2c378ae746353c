// A graph in every form, for tests that samples don't depend on it.

#pragma once

#include <vector>

#include <tendril/compress.hpp>

namespace tendril::test {

/// The graph, which is in CSR form, first.
inline std::vector<graph> in_all_forms(graph const& g) { return {g, compress(g, graph_form::packed)}; }

}  // namespace tendril::test
