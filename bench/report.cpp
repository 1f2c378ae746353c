#include "bench/report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <tendril/error.hpp>
#include <tendril/file.hpp>

namespace tendril::bench {
namespace {

row const& find(std::vector<row> const& rows, std::string const& job)
{
  for (auto const& r : rows) {
    if (r.job == job) { return r; }
  }
  throw argument_error(fmt::format("bench: no row '{}'", job));
}

std::string with_unit(double value, std::string const& unit)
{
  if (unit == "ratio") { return fmt::format("{:.2f} x", value); }
  if (unit == "s") { return fmt::format("{:.3f} s", value); }
  if (unit == "ms") { return fmt::format("{:.3f} ms", value); }
  for (auto const& [scale, prefix] : {std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e3, "k"}}) {
    if (value >= scale) { return fmt::format("{:.1f} {}{}", value / scale, prefix, unit); }
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string processor()
{
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) { return line.substr(line.find(':') + 2); }
  }
  return "unknown";
}

std::string commit()
{
  if (char const* given = std::getenv("TENDRIL_COMMIT")) { return given; }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const pipe(popen("git describe --always --dirty 2>/dev/null", "r"),
                                                             pclose);
  std::array<char, 128> line{};
  if (pipe == nullptr || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) { return "unknown"; }
  std::string out = line.data();
  out.erase(out.find_last_not_of('\n') + 1);
  return out;
}

std::string today()
{
  std::time_t const now = std::time(nullptr);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", std::gmtime(&now));
  return text.data();
}

}  // namespace

void append_ratio(std::vector<row>& rows, std::string const& job, std::string const& base, double goal)
{
  row const a = find(rows, job);
  row const b = find(rows, base);
  double const ratio = a.value / b.value;
  rows.push_back({fmt::format("{} / {}", job, base), a.graph, "", ratio, "ratio", "goal", goal, ratio / goal, a.repeats,
                  a.min / b.max, a.max / b.min});
}

void print_table(std::vector<row> const& rows)
{
  std::size_t widest = 3;
  for (auto const& r : rows) { widest = std::max(widest, r.job.size()); }
  fmt::print("{:<{}}  {:>17}  {:>7}  {}\n", "job", widest, "median", "share", "of what; how");
  bool const has_many_graphs =
      std::any_of(rows.begin(), rows.end(), [&](row const& r) { return r.graph != rows[0].graph; });
  std::string graph;
  for (auto const& r : rows) {
    if (has_many_graphs && r.graph != graph) { fmt::print("\n{}\n", r.graph); }
    graph = r.graph;
    std::string const share = r.ceiling > 0 ? fmt::format("{:.2f}", r.share) : "";
    std::string of = r.ceiling_name;
    if (r.unit == "ratio") { of = fmt::format("goal {:.2f}", r.ceiling); }
    if (!of.empty() && !r.params.empty()) { of += "; "; }
    fmt::print("{:<{}}  {:>17}  {:>7}  {}\n", r.job, widest, with_unit(r.value, r.unit), share, of + r.params);
  }
}

void write_result_file(std::string const& path, std::vector<row> const& rows, int threads, std::string const& gpu_name)
{
  nlohmann::ordered_json out;
  out["machine"] = {{"gpu", gpu_name},
                    {"processor", processor()},
                    {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
                    {"threads", threads},
                    {"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)}};
  if (gpu_name.empty()) { out["machine"].erase("gpu"); }
  out["commit"] = commit();
  out["date"] = today();
  out["rows"] = nlohmann::ordered_json::array();
  for (auto const& r : rows) {
    nlohmann::ordered_json line = {
        {"job", r.job}, {"graph", r.graph}, {"params", r.params}, {"value", r.value}, {"unit", r.unit}};
    if (r.ceiling > 0) {
      line["ceiling_name"] = r.ceiling_name;
      line["ceiling"] = r.ceiling;
      line["share"] = r.share;
    }
    line["repeats"] = r.repeats;
    line["min"] = r.min;
    line["max"] = r.max;
    out["rows"].push_back(line);
  }
  std::string const text = out.dump(1) + "\n";
  atomic_file file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace tendril::bench
