#include "convert/write_parts.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/parallel.hpp"  // parallel_ranges, num_threads
#include "place/list_range.hpp"

namespace tendril::convert {
namespace {

constexpr char const* blocks_name = "part-list_blocks";
constexpr char const* wide_name = "part-wide_lists";
constexpr char const* words_name = "part-lists";
constexpr char const* indptr_name = "part-indptr";
constexpr char const* indices_name = "part-indices";
constexpr char const* weights_name = "part-weights";
constexpr char const* labels_name = "part-edge_labels";
constexpr char const* ids_name = "part-edge_ids";
constexpr char const* original_ids_name = "part-original_ids";

/// A range of vertices on its way to the files.
struct encoded_range {
  row_batch rows;  ///< Without targets, if these are in `lists`.
  place::list_range lists;
};

/// The files of the result's arrays.
class part_writer {
 public:
  /// Goes on with the files of the record, if it has begun some.
  part_writer(workspace const& space, part_kinds const& kinds)
      : kinds_(kinds), num_edges_(space.record.encoded.num_edges)
  {
    open(space, offsets_, is_csr() ? indptr_name : blocks_name);
    if (!is_csr()) { open(space, wide_, wide_name); }
    open(space, neighbors_, is_csr() ? indices_name : words_name);
    if (kinds.columns.weights) { open(space, weights_, weights_name); }
    if (kinds.columns.labels) { open(space, labels_, labels_name); }
    if (kinds.columns.ids) { open(space, ids_, ids_name); }
    edge_id const zero = 0;
    if (is_csr() && offsets_->num_bytes() == 0) { offsets_->write(&zero, sizeof zero); }
  }

  void encode(row_cut const& from, bool is_last, encoded_range& range) const
  {
    if (is_csr()) { return; }
    range.lists = place::write_range(kinds_.form, static_cast<vertex_id>(from.vertex), range.rows.offsets,
                                     range.rows.targets, is_last);
    range.rows.targets = {};
  }

  /// Ranges come in order.
  void append(encoded_range& range)
  {
    auto& rows = range.rows;
    edge_id const num_edges = rows.offsets.back();
    if (is_csr()) {
      for (edge_id& offset : rows.offsets) { offset += num_edges_; }
      offsets_->write(std::span<edge_id const>(rows.offsets).subspan(1));
      neighbors_->write(std::span<vertex_id const>(rows.targets));
    } else {
      range.lists.move_behind(static_cast<std::uint64_t>(neighbors_->num_bytes()),
                              static_cast<std::uint64_t>(wide_->num_bytes()) / sizeof(wide_list), num_edges_);
      offsets_->write(std::span<list_block const>(range.lists.blocks));
      wide_->write(std::span<wide_list const>(range.lists.wide));
      neighbors_->write(std::span<std::uint32_t const>(range.lists.words));
    }
    if (weights_) { weights_->write(std::span<float const>(rows.weights)); }
    if (ids_) { ids_->write(std::span<edge_id const>(rows.ids)); }
    if (labels_ && kinds_.bytes_per_label == 2) { labels_->write(std::span<std::uint16_t const>(rows.labels)); }
    if (labels_ && kinds_.bytes_per_label == 1) {
      std::vector<std::uint8_t> const narrow(rows.labels.begin(), rows.labels.end());
      labels_->write(std::span<std::uint8_t const>(narrow));
    }
    num_edges_ += num_edges;
  }

  [[nodiscard]] edge_id num_edges() const { return num_edges_; }

  std::vector<file_record> close()
  {
    if (!is_csr()) {
      std::vector<std::uint32_t> const beyond(list_codes::words_beyond, 0U);
      neighbors_->write(std::span<std::uint32_t const>(beyond));
    }
    return of_files([](work_file& file) { return file.close(); });
  }

  /// What the files have by now, which stays.
  std::vector<file_record> keep()
  {
    return of_files([](work_file& file) { return file.keep(); });
  }

 private:
  static void open(workspace const& space, std::optional<work_file>& file, char const* name)
  {
    auto const& begun = space.record.encoded.parts;
    auto const found = std::ranges::find(begun, name, &file_record::name);
    found == begun.end() ? file.emplace(space, name) : file.emplace(space, *found);
  }

  template <class F>
  std::vector<file_record> of_files(F f)
  {
    std::vector<file_record> out;
    for (auto* const file : {&offsets_, &wide_, &neighbors_, &weights_, &labels_, &ids_}) {
      if (*file) { out.push_back(f(**file)); }
    }
    return out;
  }

  [[nodiscard]] bool is_csr() const { return kinds_.form == graph_form::csr; }

  part_kinds kinds_;
  std::optional<work_file> offsets_, wide_, neighbors_, weights_, labels_, ids_;
  edge_id num_edges_ = 0;
};

/// Cuts the vertices into ranges of whole blocks with about as many arcs each.
class range_cutter {
 public:
  range_cutter(row_source const& rows, row_cut from, edge_id most) : rows_(rows), most_(most), at_(std::move(from)) {}

  [[nodiscard]] bool at_end() const { return at_.vertex == rows_.num_vertices(); }

  /// The end of the next range: as far as there are `most` arcs, but a block at least.
  row_cut next()
  {
    std::int64_t const all = rows_.num_vertices();
    auto const at = [&](std::int64_t blocks) {
      return rows_.cut_at(at_, std::min(all, at_.vertex + blocks * list_block::vertices));
    };
    auto const fits = [&](row_cut const& cut) { return cut.num_arcs - at_.num_arcs <= most_; };
    // Neighbouring ranges are about as wide.
    constexpr std::int64_t most_blocks = std::int64_t{1} << 16U;
    std::int64_t good = 0, bad = std::clamp<std::int64_t>(width_, 1, most_blocks);
    row_cut best = at(bad);
    if (fits(best)) {
      good = bad;
      for (bad = 2 * good; good < most_blocks && best.vertex < all; bad *= 2) {
        row_cut wider = at(bad);
        if (!fits(wider)) { break; }
        good = bad;
        best = std::move(wider);
      }
    }
    while (bad - good > 1 + good / 8 && best.vertex < all) {
      std::int64_t const middle = good + (bad - good) / 2;
      row_cut cut = at(middle);
      if (fits(cut)) {
        good = middle;
        best = std::move(cut);
      } else {
        bad = middle;
      }
    }
    if (good == 0) { best = at(1); }
    width_ = std::max<std::int64_t>(good, 1);
    at_ = best;
    return best;
  }

 private:
  row_source const& rows_;
  edge_id most_;
  row_cut at_;
  std::int64_t width_ = 1024;
};

}  // namespace

void write_parts(row_source const& rows, part_kinds const& kinds, workspace& space, std::int64_t memory_bytes,
                 cpu_exec const& exec)
{
  // An arc as it was read, merged, and encoded.
  std::int64_t const bytes_an_arc = 4 + 8 + 8 + 5 + 2 * kinds.columns.bytes_an_arc();
  int const num_ranges = 4 * base::num_threads(exec);  // at a time
  constexpr std::int64_t least_arcs = 1 << 10, most_arcs = 1 << 22;
  std::int64_t const most = std::clamp(memory_bytes / 2 / (bytes_an_arc * num_ranges), least_arcs, most_arcs);
  std::int64_t const most_of_all = std::max(memory_bytes, std::int64_t{1} << 26U) / bytes_an_arc;

  part_writer parts(space, kinds);
  row_cut from = rows.first_cut();
  if (space.record.encoded.vertex > 0) { from = rows.cut_at(from, space.record.encoded.vertex); }
  range_cutter cutter(rows, from, most);
  for (bool done = false; !done;) {
    if (exec.on_progress) { exec.on_progress({"encoding", from.vertex, rows.num_vertices()}); }
    std::vector<row_cut> cuts{from};
    while (static_cast<int>(cuts.size()) <= num_ranges && !cutter.at_end()) {
      cuts.push_back(cutter.next());
      std::int64_t const arcs = cuts.back().num_arcs - cuts[cuts.size() - 2].num_arcs;
      if (arcs > most_of_all) {
        throw memory_error(fmt::format("vertices {} to {} have {} edges, expected at most {} in {} bytes of memory",
                                       cuts[cuts.size() - 2].vertex, cuts.back().vertex - 1, arcs, most_of_all,
                                       memory_bytes));
      }
    }
    done = cutter.at_end();
    if (cuts.size() == 1) { cuts.push_back(from); }  // a graph without vertices
    std::vector<encoded_range> ranges(cuts.size() - 1);
    base::parallel_ranges(exec, static_cast<std::int64_t>(ranges.size()), 1, [&](std::int64_t r, std::int64_t) {
      auto const i = static_cast<std::size_t>(r);
      rows.read(cuts[i], cuts[i + 1], ranges[i].rows);
      parts.encode(cuts[i], done && i + 1 == ranges.size(), ranges[i]);
    });
    for (encoded_range& range : ranges) {
      parts.append(range);
      range = {};
    }
    rows.release_pages();
    from = cuts.back();
    if (done) { break; }
    space.record.encoded = {from.vertex, parts.num_edges(), parts.keep()};
    space.save();
  }
  space.record.encoded = {};
  space.record.parts = parts.close();
  space.record.num_vertices = rows.num_vertices();
  space.record.num_edges = parts.num_edges();
}

void write_original_ids(std::span<vertex_id const> ids, workspace& space)
{
  work_file file(space, original_ids_name);
  file.write(ids);
  space.record.parts.push_back(file.close());
}

graph_arrays map_parts(workspace const& space, part_kinds const& kinds,
                       std::vector<std::shared_ptr<formats::mapped_file const>>& files)
{
  auto const has = [&](char const* name) {
    return std::ranges::any_of(space.record.parts, [&](file_record const& part) { return part.name == name; });
  };
  auto const map = [&]<class T>(char const* name, shared_array<T>& to) {
    if (!has(name)) { return; }
    auto const file = formats::mapped_file::open(space.path_of(name));
    files.push_back(file);
    if (file->bytes().empty()) { return; }
    to = {std::span(reinterpret_cast<T const*>(file->bytes().data()), file->bytes().size() / sizeof(T)), file};
  };
  graph_arrays arrays;
  map(indptr_name, arrays.indptr);
  map(indices_name, arrays.indices);
  if (kinds.form != graph_form::csr) {
    auto& lists = arrays.compressed;
    map(blocks_name, lists.blocks);
    map(wide_name, lists.wide);
    map(words_name, lists.words);
    lists.num_vertices = space.record.num_vertices;
    lists.num_edges = space.record.num_edges;
    lists.form = kinds.form;
  }
  map(weights_name, arrays.weights);
  map(ids_name, arrays.edge_ids);
  map(original_ids_name, arrays.original_ids);
  auto const map_labels = [&]<class T>(shared_array<T> labels) {
    map(labels_name, labels);
    arrays.edge_labels = labels;  // there are labels even where no edge is left to have one
  };
  if (has(labels_name) && kinds.bytes_per_label == 1) { map_labels(shared_array<std::uint8_t>()); }
  if (has(labels_name) && kinds.bytes_per_label == 2) { map_labels(shared_array<std::uint16_t>()); }
  return arrays;
}

}  // namespace tendril::convert
