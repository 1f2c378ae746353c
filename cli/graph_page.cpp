#include "graph_page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "page_style.hpp"  // made from page.css
#include "svg.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

constexpr double width = 560;
constexpr double left = 58, right = 34, top = 34, bottom = 52;

std::string percent(double share)
{
  return fmt::format("{:.{}f}%", 100 * share, share > 0 && share < 0.01 ? 1 : share > 0.99 && share < 1 ? 1 : 0);
}

/// A small number as a raised one.
std::string raised(std::int64_t value)
{
  constexpr std::array<char const*, 10> digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = value < 0 ? "⁻" : "";
  for (char const digit : std::to_string(std::abs(value))) { text += digits[static_cast<std::size_t>(digit - '0')]; }
  return text;
}

/// 1, 10, 1,000, 10⁶.
std::string power_text(double value)
{
  int const exponent = static_cast<int>(std::lround(std::log10(value)));
  if (exponent >= 0 && exponent <= 4) { return grouped(std::llround(value)); }
  return "10" + raised(exponent);
}

/// Bytes without decimals that say nothing: "24 GB".
std::string round_bytes(std::int64_t bytes)
{
  std::string text = bytes_text(bytes);
  for (std::string_view const zeros : {".00 ", ".0 "}) {
    if (auto const at = text.find(zeros); at != std::string::npos) { text.replace(at, zeros.size(), " "); }
  }
  return text;
}

/// The colour of a series and the word after it, on one line.
std::string key(std::string_view series, std::string_view word)
{
  return fmt::format(R"x(<span class="key"><span class="swatch" style="background:var(--{})"></span>{}</span>)x",
                     series, word);
}

std::string key(std::string_view series, graph_form form)
{
  return key(series, fmt::format("<code>{}</code>", to_string(form)));
}

std::string card(std::string_view title, std::string_view text, std::string_view figure, std::string_view style = "")
{
  return fmt::format(R"(<section class="card{}"><h2>{}</h2><p>{}</p>{}</section>)", style, title, text, figure);
}

std::string number(std::string_view value, std::string_view label)
{
  return fmt::format("<div><b>{}</b><span>{}</span></div>", value, label);
}

/// The frame of a chart with ticks and titles.
struct chart {
  svg_picture picture;
  axis x, y;

  chart(axis x_axis, axis y_axis, double height) : picture(width, height), x(x_axis), y(y_axis)
  {
    x.from = left;
    x.to = width - right;
    y.from = height - bottom;
    y.to = top;
  }
  [[nodiscard]] svg_picture::point at(double vx, double vy) const { return {x.at(vx), y.at(vy)}; }

  template <class Text>
  void x_ticks(std::vector<double> const& values, Text&& text)
  {
    for (double const v : values) {
      picture.line({x.at(v), y.from}, {x.at(v), y.to}, "grid");
      picture.text({x.at(v), y.from + 18}, text(v), "label", "middle");
    }
  }
  template <class Text>
  void y_ticks(std::vector<double> const& values, Text&& text)
  {
    for (double const v : values) {
      picture.line({x.from, y.at(v)}, {x.to, y.at(v)}, "grid");
      picture.text({x.from - 8, y.at(v) + 4}, text(v), "label", "end");
    }
  }
  void titles(std::string_view of_x, std::string_view of_y)
  {
    picture.curve({{x.from, y.to}, {x.from, y.from}, {x.to, y.from}}, "axis");
    picture.text({(x.from + x.to) / 2, y.from + 40}, of_x, "title", "middle");
    picture.text({x.from - 50, y.to - 18}, of_y, "title");
  }
  /// A line from bottom to top with a name beside it.
  void mark(double value, std::string_view name)
  {
    picture.line({x.at(value), y.from}, {x.at(value), y.to}, "mark");
    bool const ends = x.at(value) > (x.from + x.to) / 2;
    picture.text({x.at(value) + (ends ? -5 : 5), y.to + 12}, name, "note", ends ? "end" : "start");
  }
};

// --- sizes -----------------------------------------------------------------------------------------------------------

/// Sizes of GPUs to mark on an axis up to `most`: those that leave room for their names beside --graph-memory.
std::vector<std::int64_t> marks_below(page_facts const& facts, std::int64_t most)
{
  std::vector<std::int64_t> marks(gpu_sizes.begin(), gpu_sizes.end());
  if (auto const own = facts.sizes.gpu_memory) {
    std::erase_if(marks, [&](std::int64_t bytes) { return std::abs(bytes - *own) < most / 8; });
    marks.push_back(*own);
  }
  std::erase_if(marks, [&](std::int64_t bytes) { return bytes > most; });
  return marks;
}

std::string size_bars(page_facts const& facts)
{
  auto const& sizes = facts.sizes;
  constexpr double step = 36, label_room = 80, end_room = 210, wide = 1080;
  std::int64_t longest = 1;
  for (form_size const& size : sizes.profile.sizes) { longest = std::max(longest, sizes.total_bytes(size)); }
  double const height = 26 + step * static_cast<double>(num_graph_forms) + 6;
  svg_picture picture(wide, height);
  axis const x{0, static_cast<double>(longest), label_room, wide - end_room};
  double y = 26;
  for (form_size const& size : sizes.profile.sizes) {
    bool const smallest = &size == &sizes.profile.smallest();
    picture.text({0, y + 17}, to_string(size.form), smallest ? "value" : "title");
    double from = x.from;
    auto const part = [&](std::int64_t bytes, std::string_view style, std::string_view what) {
      double const length = x.at(static_cast<double>(bytes)) - x.from;
      picture.rectangle({from, y}, length, 24, style, fmt::format("{}: {}", what, bytes_text(bytes)));
      from += length;
    };
    part(size.list_bytes, smallest ? "bar b" : "bar a", "neighbours");
    part(size.directory_bytes, "bar quiet", "directory");
    if (sizes.other_bytes > 0) { part(sizes.other_bytes, "bar faint", "weights, labels, ids"); }
    picture.text({from + 8, y + 17},
                 fmt::format("{}, {:.1f} bits an edge", bytes_text(sizes.total_bytes(size)), sizes.bits_per_edge(size)),
                 smallest ? "value" : "label");
    y += step;
  }
  for (std::int64_t const bytes : marks_below(facts, longest)) {
    double const at = x.at(static_cast<double>(bytes));
    picture.line({at, 18}, {at, height - 6}, "mark");
    picture.text({at, 12}, round_bytes(bytes), "note", "middle");
  }
  return R"(<div class="scroll">)" + picture.str("What the graph takes in each form") + "</div>";
}

std::string size_table(page_facts const& facts)
{
  auto const& sizes = facts.sizes;
  std::string head = "<th>form</th><th>bits an edge</th><th>of CSR</th><th>neighbours</th><th>directory</th>";
  if (sizes.other_bytes > 0) { head += "<th>weights, labels, ids</th>"; }
  head += "<th>in all</th>";
  for (std::int64_t const gpu : gpu_sizes) { head += fmt::format("<th>{}</th>", round_bytes(gpu)); }
  std::string body;
  double const csr = static_cast<double>(std::max<std::int64_t>(1, sizes.profile.size_of(graph_form::csr).bytes()));
  for (form_size const& size : sizes.profile.sizes) {
    bool const smallest = &size == &sizes.profile.smallest();
    body += fmt::format(
        "<tr{}><td>{}{}</td><td>{:.1f}</td><td>{:.2f}</td><td>{}</td><td>{}</td>", smallest ? R"( class="chosen")" : "",
        to_string(size.form), size.form == facts.g.form() ? " (this file)" : "", sizes.bits_per_edge(size),
        static_cast<double>(size.bytes()) / csr, bytes_text(size.list_bytes), bytes_text(size.directory_bytes));
    if (sizes.other_bytes > 0) { body += fmt::format("<td>{}</td>", bytes_text(sizes.other_bytes)); }
    body += fmt::format("<td>{}</td>", bytes_text(sizes.total_bytes(size)));
    for (std::int64_t const gpu : gpu_sizes) {
      body += fmt::format("<td>{}</td>", fits(sizes.total_bytes(size), gpu) ? "fits" : "–");
    }
    body += "</tr>";
  }
  return fmt::format(R"(<div class="scroll"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>)", head,
                     body);
}

std::string size_card(page_facts const& facts)
{
  std::string text = fmt::format("{} ({} the smallest form), {} that finds them", key("a", "neighbours"),
                                 key("b", "in"), key("quiet", "the directory"));
  if (facts.sizes.other_bytes > 0) { text += fmt::format(", {} and ids", key("faint", "weights, labels")); }
  text += ". Every form gives the same samples. A graph fits a GPU here if a tenth of its memory stays free.";
  return card("Size in each form", text, size_bars(facts) + size_table(facts), " wide sizes");
}

// --- degrees and gaps ------------------------------------------------------------------------------------------------

std::string none(std::string_view why) { return fmt::format(R"(<p class="none">{}</p>)", why); }

std::string degree_card(page_facts const& facts)
{
  std::vector<std::pair<double, double>> points;
  double most = 1, least = 1;
  for (degree_class const& c : facts.sizes.profile.degrees) {
    if (c.first == 0) { continue; }
    double const at_each = static_cast<double>(c.num_vertices) / static_cast<double>(c.last - c.first + 1);
    points.emplace_back(std::sqrt(static_cast<double>(c.first) * static_cast<double>(c.last)), at_each);
    most = std::max(most, at_each);
    least = std::min(least, at_each);
  }
  std::string text = fmt::format("{:.2f} neighbours on average, {} at most; {} without any.", facts.stats.mean_degree,
                                 grouped(facts.stats.max_degree), counted(facts.stats.dead_ends, "vertex", "vertices"));
  constexpr std::string_view title = "How many neighbours vertices have";
  if (points.empty()) { return card(title, text, none("The graph has no edges.")); }
  text += " Each dot is a degree and the number of vertices that have it, from 16 on the average over a few degrees.";
  double const largest = std::max(10.0, static_cast<double>(facts.stats.max_degree));
  chart c({1, std::pow(10, std::ceil(std::log10(largest))), 0, 0, true},
          {std::pow(10, std::floor(std::log10(least))), std::max(10.0, std::pow(10, std::ceil(std::log10(most)))), 0, 0,
           true},
          360);
  c.x_ticks(c.x.ticks(), power_text);
  c.y_ticks(c.y.ticks(9), power_text);
  std::vector<svg_picture::point> dots;
  dots.reserve(points.size());
  for (auto const& [degree, count] : points) { dots.push_back(c.at(degree, count)); }
  c.picture.dots(dots, 3, "a");
  c.titles("neighbours", "vertices with so many");
  return card(title, text, c.picture.str("Distribution of degrees, both axes logarithmic"));
}

std::string gap_name(std::size_t bits)
{
  if (bits < 2) { return std::to_string(bits); }
  return fmt::format("{} to {}", grouped(std::int64_t{1} << (bits - 1)), grouped((std::int64_t{1} << bits) - 1));
}

std::string gap_card(page_facts const& facts)
{
  auto const& gaps = facts.sizes.profile.gaps;
  std::int64_t all = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    all += gaps[i];
    if (gaps[i] > 0) { last = i; }
  }
  constexpr std::string_view title = "How far neighbours lie apart";
  std::string text = fmt::format("{}, of which runs are made, are ", key("b", "Consecutive ids"));
  auto const share = [&](std::size_t i) { return static_cast<double>(gaps[i]) / static_cast<double>(all); };
  if (all == 0) { return card(title, "", none("No vertex has two neighbours.")); }
  text += fmt::format(
      "{} of all steps from a neighbour to the next; small steps take few bits. Where most bars lie "
      "to the right, <code>tendril convert --order</code> may bring neighbours together.",
      percent(share(1)));
  if (gaps[0] > 0) { text += fmt::format(" {} are parallel edges.", percent(share(0))); }
  double most = 0;
  for (std::size_t i = 0; i <= last; ++i) { most = std::max(most, share(i)); }
  auto const columns = static_cast<double>(std::max<std::size_t>(last + 1, 8));
  chart c({0, columns, 0, 0}, {0, most * 1.1, 0, 0}, 360);
  c.y_ticks(c.y.ticks(), percent);
  for (std::size_t i = 0; i <= last; ++i) {
    auto const from = c.at(static_cast<double>(i) + 0.1, share(i));
    double const to = c.x.at(static_cast<double>(i) + 0.9);
    c.picture.rectangle(from, to - from.x, c.y.from - from.y, i == 1 ? "bar b" : "bar a",
                        fmt::format("{}: {}", gap_name(i), percent(share(i))));
    if (columns <= 12 || i % 4 == 1 || i == 0) {
      auto const bits = static_cast<std::int64_t>(i) - 1;
      std::string const label = i < 2 ? std::to_string(i) : bits < 10 ? grouped(1LL << bits) : "2" + raised(bits);
      c.picture.text({(from.x + to) / 2, c.y.from + 18}, label, "label", "middle");
    }
  }
  c.titles("difference from the neighbour before: this much to twice as much", "share");
  return card(title, text, c.picture.str("Histogram of differences between neighbours"));
}

// --- bits by degree, lists by code -----------------------------------------------------------------------------------

struct series {
  graph_form form;
  std::string_view style;
  std::vector<std::pair<double, double>> points;
};

/// Bits an edge, directory included, for degrees from a power of two to the next.
std::vector<std::pair<double, double>> bits_by_degree(page_facts const& facts, graph_form form)
{
  std::size_t f = 0;
  while (enum_names<graph_form>[f].value != form) { ++f; }
  double const bits_a_vertex = form == graph_form::csr ? 64 : 8.0 * sizeof(list_block) / list_block::vertices;
  std::vector<std::pair<double, double>> points;
  auto const& classes = facts.sizes.profile.degrees;
  for (std::size_t i = 0; i < classes.size();) {
    std::int64_t const end =
        classes[i].first == 0
            ? 1
            : 2 * static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(classes[i].first)));
    std::int64_t vertices = 0, edges = 0, bits = 0;
    for (; i < classes.size() && classes[i].first < end; ++i) {
      vertices += classes[i].num_vertices;
      edges += classes[i].num_edges;
      bits += classes[i].list_bits[f];
    }
    if (edges == 0) { continue; }
    auto const num_edges = static_cast<double>(edges);
    points.emplace_back(num_edges / static_cast<double>(vertices),
                        (static_cast<double>(bits) + bits_a_vertex * static_cast<double>(vertices)) / num_edges);
  }
  return points;
}

std::string bits_card(page_facts const& facts)
{
  graph_form const best = facts.sizes.profile.smallest().form;
  std::vector<series> lines{{graph_form::csr, "line quiet", {}}, {graph_form::packed, "line a", {}}};
  if (best != graph_form::packed && best != graph_form::csr) { lines.push_back({best, "line b", {}}); }
  double most = 0, largest = 10;
  for (series& s : lines) {
    s.points = bits_by_degree(facts, s.form);
    for (auto const& [degree, bits] : s.points) {
      most = std::max(most, bits);
      largest = std::max(largest, degree);
    }
  }
  constexpr std::string_view title = "Bits an edge by degree";
  if (lines.front().points.empty()) { return card(title, "", none("The graph has no edges.")); }
  std::string text =
      fmt::format("Neighbours and directory, without headers, in the forms {}{} {}", key("quiet", graph_form::csr),
                  lines.size() > 2 ? "," : " and", key("a", graph_form::packed));
  if (lines.size() > 2) { text += " and " + key("b", best); }
  text += ". A vertex with few neighbours takes mostly its part of the directory.";
  chart c({1, std::pow(10, std::ceil(std::log10(largest))), 0, 0, true}, {0, most * 1.05, 0, 0}, 360);
  c.x_ticks(c.x.ticks(), power_text);
  c.y_ticks(c.y.ticks(), [](double v) { return fmt::format("{:g}", v); });
  for (series const& s : lines) {
    std::vector<svg_picture::point> points;
    for (auto const& [degree, bits] : s.points) { points.push_back(c.at(degree, bits)); }
    c.picture.curve(points, s.style);
    c.picture.dots(points, 3, s.style.substr(s.style.find(' ') + 1));
  }
  c.titles("neighbours", "bits an edge");
  return card(title, text, c.picture.str("Bits an edge by degree and form"));
}

std::string code_card(page_facts const& facts)
{
  if (facts.g.form() == graph_form::csr) { return {}; }
  std::string rows;
  auto const all = static_cast<double>(std::max<std::int64_t>(1, facts.g.num_edges()));
  for (auto const& [name, share] : facts.lists.codes()) {
    if (share.num_lists == 0) { continue; }
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1f}</td></tr>", name,
                        grouped(share.num_lists), grouped(share.num_edges),
                        percent(static_cast<double>(share.num_edges) / all), share.bits_per_edge());
  }
  std::string const table =
      fmt::format(R"(<div class="scroll"><table><thead><tr><th>code</th><th>lists</th><th>edges</th><th>of all</th>)"
                  R"(<th>bits each</th></tr></thead><tbody>{}</tbody></table></div>)",
                  rows);
  return card("Lists by code",
              fmt::format("The file has the form <code>{}</code>, in which each list takes one of these codes.",
                          to_string(facts.g.form())),
              table);
}

// --- placement -------------------------------------------------------------------------------------------------------

std::string placement_card(page_facts const& facts)
{
  auto const& sizes = facts.sizes;
  form_size const& placed = sizes.placed();
  constexpr std::string_view title = "What a GPU would hold";
  std::int64_t const all = sizes.total_bytes(placed);
  if (sizes.num_edges == 0) { return card(title, "", none("The graph has no edges.")); }
  std::string text = fmt::format(
      "In the form <code>{}</code>, with the directory in GPU memory and the lists that are read most per byte beside "
      "it: the share of reads that find their list there, of {} and {} ({} neighbours of a vertex at "
      "most). Estimated: walks read a vertex as often as edges lead to it, mini-batches each vertex once.",
      to_string(placed.form), key("a", "walks"), key("b", "mini-batches"), sizes.fanout);
  if (sizes.gpu_memory) {
    gpu_part const part = part_on_gpu(sizes, *sizes.gpu_memory);
    text += part.has_directory
                ? fmt::format(" <b>With {}: {} of the lists, {} of what walks read, {} of what mini-batches read.</b>",
                              round_bytes(*sizes.gpu_memory), percent(part.lists), percent(part.walk_reads),
                              percent(part.batch_reads))
                : fmt::format(" <b>{} are too little for the directory, {}.</b>", round_bytes(*sizes.gpu_memory),
                              bytes_text(placed.directory_bytes));
  }
  chart c({0, static_cast<double>(all) * 1.04, 0, 0}, {0, 1, 0, 0}, 360);
  c.y_ticks({0, 0.25, 0.5, 0.75, 1}, percent);
  c.x_ticks(c.x.ticks(5), [](double v) { return round_bytes(std::llround(v)); });
  double const directory = c.x.at(static_cast<double>(placed.directory_bytes));
  c.picture.rectangle({c.x.from, c.y.to}, directory - c.x.from, c.y.from - c.y.to, "bar faint", "directory");
  if (directory - c.x.from > 70) { c.picture.text({c.x.from + 6, c.y.from - 8}, "directory"); }
  constexpr int steps = 200;
  for (bool const walks : {true, false}) {
    std::vector<svg_picture::point> points;
    for (int i = 0; i <= steps; ++i) {
      std::int64_t const bytes =
          placed.directory_bytes +
          static_cast<std::int64_t>(static_cast<double>(all - placed.directory_bytes) * i / steps);
      gpu_part const part = part_on_gpu(sizes, bytes);
      points.push_back(c.at(static_cast<double>(bytes), walks ? part.walk_reads : part.batch_reads));
    }
    c.picture.curve(points, walks ? "line a" : "line b");
  }
  for (std::int64_t const bytes : marks_below(facts, all)) { c.mark(static_cast<double>(bytes), round_bytes(bytes)); }
  c.titles("GPU memory", "reads there");
  return card(title, text, c.picture.str("Share of reads in GPU memory by its size"));
}

// --- the page --------------------------------------------------------------------------------------------------------

/// What a reader decides from, in two sentences.
std::string lead(page_facts const& facts)
{
  auto const& sizes = facts.sizes;
  form_size const& csr = sizes.profile.size_of(graph_form::csr);
  form_size const& best = sizes.profile.smallest();
  if (sizes.num_edges == 0) { return "A graph without edges."; }
  bool const one_form = &best == &csr;
  std::string text = one_form ? fmt::format("{} in CSR form, the smallest, {:.1f} bits an edge.",
                                            bytes_text(sizes.total_bytes(csr)), sizes.bits_per_edge(csr))
                              : fmt::format("{} in CSR form; {} as <code>{}</code>, {:.1f} bits an edge.",
                                            bytes_text(sizes.total_bytes(csr)), bytes_text(sizes.total_bytes(best)),
                                            to_string(best.form), sizes.bits_per_edge(best));
  auto const least = [&](form_size const& size) {
    return std::find_if(gpu_sizes.begin(), gpu_sizes.end(),
                        [&](std::int64_t gpu) { return fits(sizes.total_bytes(size), gpu); });
  };
  if (least(best) == gpu_sizes.end()) {
    return text + fmt::format(" No GPU of {} holds all of it.", round_bytes(gpu_sizes.back()));
  }
  if (least(csr) == least(best)) {
    return text + fmt::format(" {} fits whole into a GPU of {}.", one_form ? "It" : "Either", round_bytes(*least(csr)));
  }
  return text + fmt::format(" As <code>{}</code> it fits whole into a GPU of {}, in CSR form {}.", to_string(best.form),
                            round_bytes(*least(best)),
                            least(csr) == gpu_sizes.end()
                                ? fmt::format("it is too large for one of {}", round_bytes(gpu_sizes.back()))
                                : fmt::format("it needs one of {}", round_bytes(*least(csr))));
}

/// How to get the smallest form, unless the file has it.
std::string advice(page_facts const& facts)
{
  graph_form const best = facts.sizes.profile.smallest().form;
  if (best == facts.g.form()) { return "The file has the smallest form."; }
  return fmt::format("The smallest form: <code>tendril convert {} OUT.safetensors --compress {}</code>.",
                     escaped(facts.path), best == graph_form::csr ? "none" : to_string(best));
}

}  // namespace

std::string graph_page(page_facts const& facts)
{
  std::string const name = escaped(facts.name);
  std::string page = fmt::format(
      R"(<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{0}: a graph</title><style>{1}</style></head><body><main>
<h1>{0}</h1><p class="lead">{2}</p><p class="machine">{3}</p>
)",
      name, page_style, lead(facts), escaped(facts.path));
  page += R"(<div class="numbers">)" + number(grouped(facts.g.num_vertices()), "vertices") +
          number(grouped(facts.g.num_edges()),
                 facts.g.arrays().symmetric ? "edges, every one in both directions" : "edges") +
          number(grouped(facts.stats.max_degree), "neighbours at most") +
          number(fmt::format("{:.1f}", facts.g.bits_per_edge()),
                 fmt::format("bits an edge in this file ({})", to_string(facts.g.form()))) +
          "</div>\n";
  page += size_card(facts) + "\n";
  page += R"(<div class="grid">)";
  for (std::string const& part :
       {degree_card(facts), gap_card(facts), bits_card(facts), placement_card(facts), code_card(facts)}) {
    page += part + "\n";
  }
  page += fmt::format("</div><footer>Made by <code>tendril info --html</code>. {}</footer>\n</main></body></html>\n",
                      advice(facts));
  return page;
}

}  // namespace tendril::cli
