#include "parts.hpp"

#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include <tendril/compress.hpp>  // names of forms

#include "text.hpp"

namespace tendril::cli {
namespace {

constexpr std::int64_t most_lines = 32;

struct part_size {
  std::int64_t vertices = 0;
  edge_id edges = 0, crossing = 0;
  std::int64_t bytes = 0;

  [[nodiscard]] double crossing_share() const
  {
    return edges == 0 ? 0 : static_cast<double>(crossing) / static_cast<double>(edges);
  }
};

part_size size_of(partition_info const& info, std::string const& folder, std::int64_t index)
{
  auto const p = static_cast<std::size_t>(index);
  auto const file = std::filesystem::path(folder) / part_file(index, info.num_parts());
  return {info.bounds[p + 1] - info.bounds[p], info.part_edges[p], info.crossing_edges[p], file_bytes(file.string())};
}

part_size size_of_all(partition_info const& info)
{
  return {info.num_vertices, info.num_edges,
          std::accumulate(info.crossing_edges.begin(), info.crossing_edges.end(), edge_id{0})};
}

}  // namespace

std::string describe_parts(partition_info const& info)
{
  std::string const form = info.form == graph_form::csr ? "" : fmt::format(" in form {}", to_string(info.form));
  return fmt::format("{} by {}{}, {:.1f} % of the edges lead to another part",
                     counted(info.num_parts(), "part", "parts"), to_string(info.method), form,
                     100 * size_of_all(info).crossing_share());
}

std::string part_lines(partition_info const& info, std::string const& folder)
{
  std::string text =
      fmt::format("{:>6}  {:>13}  {:>15}  {:>8}  {:>9}\n", "part", "vertices", "edges", "crossing", "file");
  for (std::int64_t p = 0; p < std::min(info.num_parts(), most_lines); ++p) {
    part_size const size = size_of(info, folder, p);
    text += fmt::format("{:>6}  {:>13}  {:>15}  {:>6.1f} %  {:>9}\n", p, grouped(size.vertices), grouped(size.edges),
                        100 * size.crossing_share(), bytes_text(size.bytes));
  }
  if (info.num_parts() > most_lines) { text += fmt::format("{:>6}  and {} more\n", "", info.num_parts() - most_lines); }
  return text;
}

json parts_json(partition_info const& info, std::string const& folder)
{
  json parts = json::array();
  for (std::int64_t p = 0; p < info.num_parts(); ++p) {
    part_size const size = size_of(info, folder, p);
    parts.push_back({{"first_vertex", info.bounds[static_cast<std::size_t>(p)]},
                     {"num_vertices", size.vertices},
                     {"num_edges", size.edges},
                     {"crossing_edges", size.crossing},
                     {"file_bytes", size.bytes}});
  }
  return {{"num_parts", info.num_parts()}, {"method", to_string(info.method)},
          {"form", to_string(info.form)},  {"crossing_share", size_of_all(info).crossing_share()},
          {"digest", info.digest},         {"parts", parts}};
}

}  // namespace tendril::cli
