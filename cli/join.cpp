// tendril join: the files of `tendril walk --part` and of `mpirun tendril sample --parts`, put together.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tendril/sample_parts.hpp>
#include <tendril/walk_parts.hpp>

#include "common.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace tendril::cli {
namespace {

struct join_command {
  std::vector<std::string> parts;
  std::string output;
  common_options common;

  void run() const;
};

void join_command::run() const
{
  stopwatch const overall;
  progress_bar bar(common.shown());
  bool const of_samples = output.ends_with(".npz") || is_sample_file(parts.front());
  json told{{"num_parts", parts.size()}};
  std::string joined;
  if (of_samples) {
    joined_samples const done = join_samples(parts, output, common.exec(bar));
    told["num_arrays"] = done.num_arrays;
    joined = counted(done.num_arrays, "array", "arrays");
  } else {
    joined_walks const done = join_walks(parts, output, common.exec(bar));
    told["num_walks"] = done.num_walks;
    joined = counted(done.num_walks, "walk", "walks");
  }
  bar.clear();
  double const seconds = overall.seconds();
  if (common.json) {
    told.update(json{{"output", output},
                     {"output_bytes", file_bytes(output)},
                     {"threads", common.num_threads()},
                     {"seconds", seconds},
                     {"peak_memory_bytes", peak_memory()},
                     {"version", TENDRIL_VERSION}});
    print(told);
  } else if (!common.quiet) {
    print(fmt::format("parts   {}, {}\noutput  {} ({})\ntotal   {}, {} of memory at most", grouped(std::ssize(parts)),
                      joined, output, bytes_text(file_bytes(output)), duration(seconds), bytes_text(peak_memory())));
  }
}

}  // namespace

void add_join(CLI::App& application)
{
  auto command = std::make_shared<join_command>();
  CLI::App* const verb =
      application.add_subcommand("join", "Join the files of 'walk --part', or of 'sample --parts', into one");
  verb->add_option("FILE", command->parts,
                   "Files of the parts, in order: all .npy, all .safetensors or all .txt; of samples all .npz or all "
                   ".safetensors")
      ->required();
  verb->add_option("-o,--output", command->output, "Output file of the same format: the bytes that one run writes")
      ->required()
      ->type_name("OUT");
  command->common.add_to(*verb);
  verb->footer(
      "Files of .safetensors carry the number of their part: join notices a part that is missing, is given twice or "
      "is\n"
      "out of order. Files of .npy, .npz and .txt don't: name each part, or number parts so that the shell sorts "
      "them.\n"
      "\n"
      "Examples:\n"
      "  tendril join part-0.safetensors part-1.safetensors part-2.safetensors -o walks.safetensors\n"
      "  tendril join part-*.npy -o walks.npy                                  part-0000.npy, part-0001.npy, …\n"
      "  tendril join trees.part-*.npz -o trees.npz                            of mpirun tendril sample --parts");
  verb->callback([command] { command->run(); });
}

}  // namespace tendril::cli
