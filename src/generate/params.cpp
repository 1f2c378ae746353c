#include "generate/params.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/expects.hpp"    // TENDRIL_EXPECTS
#include "core/web_shape.hpp"  // largest_web_degree

namespace tendril::generate {
namespace {

constexpr int max_labels = 65536;

}  // namespace

void expect_params(rmat_params const& p)
{
  TENDRIL_EXPECTS(p.scale >= 1 && p.scale <= 31, "generate_rmat: scale is {}, expected 1 to 31", p.scale);
  TENDRIL_EXPECTS(p.edge_factor >= 0 && p.edge_factor <= 0x1p20,
                  "generate_rmat: edge_factor is {}, expected 0 to 1048576", p.edge_factor);
  TENDRIL_EXPECTS(p.a >= 0 && p.b >= 0 && p.c >= 0 && p.a + p.b + p.c <= 1 + 1e-9,
                  "generate_rmat: a, b, c are {}, {}, {}, expected numbers >= 0 with a sum of at most 1", p.a, p.b,
                  p.c);
}

void expect_params(er_params const& p)
{
  TENDRIL_EXPECTS(p.num_vertices >= 0 && p.num_vertices <= max_num_vertices,
                  "generate_er: num_vertices is {}, expected 0 to {}", p.num_vertices, max_num_vertices);
  TENDRIL_EXPECTS(p.num_edges >= 0, "generate_er: num_edges is {}, expected 0 or more", p.num_edges);
  TENDRIL_EXPECTS(p.num_edges == 0 || p.num_vertices > 0, "generate_er: {} edges, expected none without vertices",
                  p.num_edges);
}

void expect_params(powerlaw_params const& p)
{
  TENDRIL_EXPECTS(p.num_vertices >= 1 && p.num_vertices <= max_num_vertices,
                  "generate_powerlaw: num_vertices is {}, expected 1 to {}", p.num_vertices, max_num_vertices);
  TENDRIL_EXPECTS(p.exponent > 0 && p.exponent <= 20,
                  "generate_powerlaw: exponent is {}, expected above 0 and at most 20", p.exponent);
  TENDRIL_EXPECTS(p.min_degree >= 1, "generate_powerlaw: min_degree is {}, expected 1 or more", p.min_degree);
  TENDRIL_EXPECTS(p.max_degree >= p.min_degree && p.max_degree <= std::int64_t{0xffffffffLL},
                  "generate_powerlaw: max_degree is {}, expected min_degree, {}, to 4294967295", p.max_degree,
                  p.min_degree);
}

void expect_params(web_params const& p)
{
  TENDRIL_EXPECTS(p.num_vertices >= 1 && p.num_vertices <= max_num_vertices,
                  "generate_web: num_vertices is {}, expected 1 to {}", p.num_vertices, max_num_vertices);
  TENDRIL_EXPECTS(p.edge_factor >= 0 && p.edge_factor <= core::largest_web_degree,
                  "generate_web: edge_factor is {}, expected 0 to {}", p.edge_factor, core::largest_web_degree);
}

void expect_edge_attributes(char const* generator, edge_attributes const& extra)
{
  TENDRIL_EXPECTS(!extra.has_weights || extra.weight_sigma > 0 ||
                      (std::isfinite(extra.weight_max) && 0 <= extra.weight_min && extra.weight_min < extra.weight_max),
                  "{}: weights from {} to {}, expected 0 <= min < max", generator, extra.weight_min, extra.weight_max);
  TENDRIL_EXPECTS(extra.weight_sigma >= 0 && extra.weight_sigma <= 10,
                  "{}: weight_sigma is {}, expected 0 (uniform weights) to 10", generator, extra.weight_sigma);
  TENDRIL_EXPECTS(extra.num_labels >= 0 && extra.num_labels <= max_labels,
                  "{}: num_labels is {}, expected 0 (no labels) to {}", generator, extra.num_labels, max_labels);
  TENDRIL_EXPECTS(extra.num_node_types >= 0 && extra.num_node_types <= max_labels,
                  "{}: num_node_types is {}, expected 0 (no types) to {}", generator, extra.num_node_types, max_labels);
}

bool asks_for_building(build_options const& build, std::int64_t num_vertices)
{
  return build.reverse || build.symmetrize || build.drop_self_loops || build.drop_duplicates || build.compact ||
         build.keep_edge_ids || (build.num_vertices >= 0 && build.num_vertices != num_vertices);
}

bool asks_for_attributes(edge_attributes const& extra)
{
  return extra.has_weights || extra.weight_sigma > 0 || extra.num_labels > 0 || extra.num_node_types > 0;
}

void expect_rows_alone(web_params const& params, build_options const& build, edge_attributes const& extra)
{
  TENDRIL_EXPECTS(
      !asks_for_building(build, params.num_vertices) && !asks_for_attributes(extra),
      "generate_web: building steps, weights, labels or vertex types on a GPU, expected none: a cpu_exec makes "
      "them");
}

void expect_num_vertices(char const* generator, build_options const& build, std::int64_t num_vertices)
{
  TENDRIL_EXPECTS(
      build.num_vertices == -1 || (build.num_vertices >= num_vertices && build.num_vertices <= max_num_vertices),
      "{}: build.num_vertices is {}, expected -1 or {} to {}", generator, build.num_vertices, num_vertices,
      max_num_vertices);
}

std::int64_t num_drawn_edges(rmat_params const& p)
{
  return std::llround(p.edge_factor * static_cast<double>(std::int64_t{1} << static_cast<unsigned>(p.scale)));
}

std::map<std::string, std::string> metadata_of(rmat_params const& p)
{
  return {{"name", fmt::format("rmat-{}", p.scale)},
          {"origin", fmt::format("generated: R-MAT, scale {}, edge_factor {}, a {}, b {}, c {}, scramble {}, seed {}",
                                 p.scale, p.edge_factor, p.a, p.b, p.c, p.scramble, p.seed)}};
}

std::map<std::string, std::string> metadata_of(er_params const& p)
{
  return {{"name", "er"},
          {"origin",
           fmt::format("generated: Erdős–Rényi G(n, m), n {}, m {}, seed {}", p.num_vertices, p.num_edges, p.seed)}};
}

std::map<std::string, std::string> metadata_of(powerlaw_params const& p)
{
  return {{"name", "powerlaw"},
          {"origin", fmt::format("generated: power law, n {}, exponent {}, degrees {} to {}, seed {}", p.num_vertices,
                                 p.exponent, p.min_degree, p.max_degree, p.seed)}};
}

std::map<std::string, std::string> metadata_of(web_params const& p)
{
  return {{"name", fmt::format("web-{}", p.num_vertices)},
          {"origin",
           fmt::format("generated: web-like, n {}, edge_factor {}, seed {}", p.num_vertices, p.edge_factor, p.seed)}};
}

}  // namespace tendril::generate
