#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/exec.hpp>

#include "base/mapped_ranges.hpp"  // give_back_file_pages
#include "base/parallel.hpp"       // exception_keeper, run_team
#include "formats/text_stream.hpp"

namespace tendril::formats {

/// What is wrong with a line; `line` counts from 1 within the block.
struct line_error {
  std::int64_t line;
  std::string what;
};

/// What became of a block of text; parsers derive theirs from it.
struct parsed_block {
  std::int64_t lines = 0;  ///< Lines in the block.
  std::optional<line_error> error;
  bool done = false;
};

/// Parses blocks that are left in `stream`, all or as many as asked for, with `parse(std::string_view text, Block&)`, on its threads: each takes
/// the next block under a lock (for a gzip file that is where it inflates) and parses it outside. Blocks come back in
/// the order of the file, and the stream counts their lines; none at its end. `parse` throws line_error.
/// @throws format_error "path:line: …" for the first line of the file that is wrong, whatever the number of threads.
template <class Block, class Parse>
std::deque<Block> parse_blocks(text_stream& stream, cpu_exec const& exec, Parse const& parse,
                               std::size_t most_blocks = std::numeric_limits<std::size_t>::max())
{
  std::deque<Block> blocks;
  std::mutex mutex;
  std::atomic<bool> stop{false};
  base::exception_keeper keeper;
  auto const take = [&](text_block& text) -> Block* {
    std::lock_guard const lock(mutex);
    if (stop || keeper.failed() || blocks.size() == most_blocks) { return nullptr; }
    text = stream.next_block();
    return text.text.empty() ? nullptr : &blocks.emplace_back();
  };
  auto const work = [&] {
    text_block text;
    while (Block* const block = take(text)) {
      base::check_cancel(exec);
      try {
        parse(text.text, *block);
      } catch (line_error& problem) {
        block->error = std::move(problem);
        stop = true;
      }
      block->done = true;
      if (!text.storage) { base::give_back_file_pages(text.text.data(), text.text.data() + text.text.size()); }
      if (exec.on_progress && base::team_member() == 0) {
        std::int64_t position = 0;
        {
          std::lock_guard const lock(mutex);
          position = stream.position();
        }
        exec.on_progress({"reading", position, stream.compressed() ? 0 : stream.num_bytes()});
      }
    }
  };
  std::int64_t line = stream.line_number();
  base::run_team(stream.num_threads(), [&](int) { keeper.run(work); });

  // Blocks are taken in order, so every block before one with an error is complete, and its lines are known.
  for (Block const& block : blocks) {
    if (!block.done) { break; }
    if (block.error) {
      throw format_error(fmt::format("{}:{}: {}", stream.path(), line + block.error->line, block.error->what));
    }
    line += block.lines;
  }
  keeper.rethrow();
  stream.count_lines(line - stream.line_number());
  return blocks;
}

}  // namespace tendril::formats
