// What the generators of both sides check before they start, and what they write into the graph's metadata.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <tendril/generate.hpp>

namespace tendril::generate {

/// @throws argument_error for parameters out of range.
void expect_params(rmat_params const& params);
void expect_params(er_params const& params);
void expect_params(powerlaw_params const& params);
void expect_params(web_params const& params);

/// @throws argument_error for a edge_attributes out of range.
void expect_edge_attributes(char const* generator, edge_attributes const& extra);

/// Checks that a generator's ids, below num_vertices, fit into the graph that is asked for.
/// @throws argument_error.
void expect_num_vertices(char const* generator, build_options const& build, std::int64_t num_vertices);

/// Whether `build` changes a graph of `num_vertices` that a generator makes with its rows in order.
bool asks_for_building(build_options const& build, std::int64_t num_vertices);

/// Whether weights, labels or vertex types are to be added.
bool asks_for_attributes(edge_attributes const& extra);

/// @throws argument_error if the rows of a web graph are not all that is asked for.
void expect_rows_alone(web_params const& params, build_options const& build, edge_attributes const& extra);

/// Edges before `build`.
std::int64_t num_drawn_edges(rmat_params const& params);

/// name and origin.
std::map<std::string, std::string> metadata_of(rmat_params const& params);
std::map<std::string, std::string> metadata_of(er_params const& params);
std::map<std::string, std::string> metadata_of(powerlaw_params const& params);
std::map<std::string, std::string> metadata_of(web_params const& params);

}  // namespace tendril::generate
