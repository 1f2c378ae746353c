// A graph that is cut into files is the same graph when it is read, part by part and as a whole.

#include <tendril/partition.hpp>

#include <filesystem>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>
#include <tendril/io.hpp>

#include "dist/partition_support.hpp"
#include "support/graph_forms.hpp"

namespace tendril::test {
namespace {

void expect_same_part(graph_part const& a, graph_part const& b)
{
  EXPECT_EQ(a.info, b.info);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(to_vector(a.rows.indptr), to_vector(b.rows.indptr));
  EXPECT_EQ(to_vector(a.rows.indices), to_vector(b.rows.indices));
  EXPECT_EQ(to_vector(a.rows.weights), to_vector(b.rows.weights));
  EXPECT_EQ(to_vector(a.rows.edge_labels), to_vector(b.rows.edge_labels));
  EXPECT_EQ(a.rows.edge_labels.bytes_per_label(), b.rows.edge_labels.bytes_per_label());
  EXPECT_EQ(to_vector(a.rows.edge_ids), to_vector(b.rows.edge_ids));
  EXPECT_EQ(to_vector(a.node_types), to_vector(b.node_types));
  EXPECT_EQ(to_vector(a.original_ids), to_vector(b.original_ids));
}

TEST(partition_files, hold_the_graph)
{
  for (graph const& g : graphs_to_cut()) {
    for (auto const method : {partition_method::range, partition_method::degree}) {
      for (std::int64_t const n : part_counts) {
        SCOPED_TRACE(fmt::format("{} vertices, {} {}", g.num_vertices(), to_string(method), n));
        scratch_folder const folder;
        partition_params const params{n, method};
        partition_info const info = partition_graph(g, folder / "cut", params);
        EXPECT_TRUE(is_partition(folder / "cut"));
        EXPECT_EQ(read_partition_info(folder / "cut"), info);
        graph const whole = read_parts_as_graph(folder / "cut");
        whole.validate();
        expect_same_arrays(whole, g);
        EXPECT_EQ(whole.arrays().symmetric, g.arrays().symmetric);
        EXPECT_EQ(whole.arrays().metadata, g.arrays().metadata);
        EXPECT_EQ(whole.arrays().edge_label_names, g.arrays().edge_label_names);
        EXPECT_EQ(whole.arrays().node_type_names, g.arrays().node_type_names);
        for (std::int64_t p = 0; p < n; ++p) { expect_same_part(read_part(folder / "cut", p), part_of(g, params, p)); }
      }
    }
  }
}

TEST(partition_files, do_not_depend_on_form_and_threads)
{
  graph const g = make_full_graph();
  for (graph_form const form : {graph_form::csr, graph_form::best}) {
    scratch_folder const folder;
    partition_params const params{.num_parts = 3, .form = form};
    partition_graph(g, folder / "first", params);
    int forms = 0;
    for (graph const& other : in_all_forms(g)) {
      std::string const cut = folder / fmt::format("{}", forms++);
      cpu_exec exec;
      exec.num_threads = forms;
      partition_graph(other, cut, params, exec);
      int files = 0;
      for (auto const& file : std::filesystem::directory_iterator(folder / "first")) {
        std::string const name = file.path().filename().string();
        EXPECT_EQ(read_bytes(cut + "/" + name), read_bytes(file.path().string())) << name;
        ++files;
      }
      EXPECT_EQ(files, 5);  // three parts, vertices, graph.json
    }
    EXPECT_EQ(forms, 3);
  }
}

TEST(partition_files, of_a_graph_without_offsets_have_some)
{
  scratch_folder const folder;
  partition_graph(graph(), folder / "cut", {2});
  EXPECT_EQ(read_part(folder / "cut", 1).rows.indptr.size(), 1);
  EXPECT_EQ(read_parts_as_graph(folder / "cut").num_vertices(), 0);
}

TEST(partition_files, of_a_mapped_graph_hold_it)
{
  scratch_folder const folder;
  write_graph(make_zoo(2), folder / "g.safetensors");
  partition_graph(read_graph(folder / "g.safetensors"), folder / "cut", {5});
  expect_same_arrays(read_parts_as_graph(folder / "cut"), make_zoo(2));
}

TEST(partition_files, are_built_as_asked)
{
  scratch_folder const folder;
  partition_graph(make_zoo(2), folder / "cut", {5});
  build_options const build{.reverse = true, .drop_duplicates = true};
  expect_same_arrays(read_parts_as_graph(folder / "cut", {}, build), build_graph(make_zoo(2), build));
}

TEST(partition_files, appear_complete_or_not_at_all)
{
  struct stopped {};
  scratch_folder const folder;
  std::vector<std::string> stages;
  cpu_exec exec;
  exec.on_progress = [&](progress const& p) { stages.emplace_back(p.what); };
  partition_graph(make_zoo(1), folder / "all", {4}, exec);
  ASSERT_GT(std::ranges::count(stages, "writing"), 4);
  for (std::size_t last = 0; last < stages.size(); ++last) {
    std::size_t calls = 0;
    exec.on_progress = [&](progress const&) {
      if (calls++ == last) { throw stopped(); }
    };
    EXPECT_THROW(partition_graph(make_zoo(1), folder / "some", {4}, exec), stopped);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1) << stages[last];
  }
}

TEST(partition_files, are_told_of_in_order)
{
  for (graph_form const form : {graph_form::csr, graph_form::packed}) {
    scratch_folder const folder;
    std::int64_t last = 0, told = 0;
    cpu_exec exec;
    exec.on_progress = [&](progress const& p) {
      if (std::string_view(p.what) != "writing") { return; }
      EXPECT_GE(p.done, last);
      EXPECT_LE(p.done, p.total);
      last = p.done;
      ++told;
    };
    partition_graph(make_zoo(1), folder / "cut", {.num_parts = 4, .form = form}, exec);
    EXPECT_GT(told, 4);
    EXPECT_GT(last, 0);
  }
}

TEST(partition_files, replace_an_empty_folder_alone)
{
  scratch_folder const folder;
  std::filesystem::create_directory(folder / "empty");
  partition_graph(make_karate(), folder / "empty/", {2});
  EXPECT_EQ(read_partition_info(folder / "empty").num_parts(), 2);
  auto const refused = [&](std::string const& name) {
    return message_of<argument_error>([&] { partition_graph(make_karate(), name, {2}); });
  };
  EXPECT_EQ(refused(folder / "empty"),
            "'" + folder / "empty" + "': the folder is not empty, expected a new or an empty one");
  folder.write("file", std::string("x"));
  EXPECT_EQ(refused(folder / "file"), "'" + folder / "file" + "': not a folder, expected the name of a new one");
  EXPECT_EQ(refused(""), "'': expected the name of a new folder");
  EXPECT_EQ(message_of<io_error>([&] { partition_graph(make_karate(), folder / "no/such", {2}); }),
            folder / "no/such" + ": cannot create: No such file or directory");
}

TEST(partition_files, of_one_part_are_refused_as_a_graph)
{
  scratch_folder const folder;
  partition_graph(make_karate(), folder / "cut", {1});
  std::string const path = folder / "cut/part-00000-of-00001.safetensors";
  EXPECT_EQ(message_of<format_error>([&] { (void)read_graph(path); }),
            path + ": a part of a cut graph, expected the folder that it is in");
}

}  // namespace
}  // namespace tendril::test
