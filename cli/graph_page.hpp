// The page of `tendril info --html`: one file that needs nothing else, for light and dark screens and paper.

#pragma once

#include <string>

#include <tendril/compress.hpp>
#include <tendril/graph.hpp>

#include "graph_sizes.hpp"
#include "graph_stats.hpp"

namespace tendril::cli {

struct page_facts {
  graph const& g;
  std::string name, path;
  graph_stats const& stats;
  list_statistics const& lists;
  graph_sizes const& sizes;
};

/// HTML that is XML too.
[[nodiscard]] std::string graph_page(page_facts const& facts);

}  // namespace tendril::cli
