// A file that all ranks write together, each its own elements, in a folder that they share.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/array_file.hpp>
#include <tendril/error.hpp>
#include <tendril/transport.hpp>

namespace tendril::cli {

/// Rank 0 begins the file, and the others join: all of them, or none, so that the first failure is the one that is told.
/// @param make    make(unfinished): the writer of this rank, as constructors of writers take `unfinished`.
/// @param advice  For ranks that don't see the file: "; what to do".
template <class Make>
auto begin_together(transport& ranks, std::string_view advice, Make const& make)
{
  std::optional<decltype(make(std::string()))> writer;
  if (ranks.rank() == 0) { writer.emplace(make(std::string())); }
  std::string const begun = ranks.broadcast("the name of the output", writer ? writer->unfinished_name() : "");
  ranks.or_refuse([&] {
    try {
      if (!writer) { writer.emplace(make(begun)); }
    } catch (io_error const& failure) {
      throw io_error(
          fmt::format("{} (all ranks write one file, in a folder that they share{})", failure.what(), advice));
    }
  });
  ranks.barrier("the output is begun");
  return std::move(*writer);
}

/// Completes the file, on rank 0 after all others. What is still to go to the disk may take long.
template <class Writer>
void commit_together(transport& ranks, Writer& writer)
{
  auto const commit = [&] { ranks.beat_during([&] { writer.commit(); }); };
  if (ranks.rank() != 0) { commit(); }
  ranks.barrier("the end of writing");
  if (ranks.rank() == 0) { commit(); }
  ranks.barrier("the complete output");
}

inline void commit_together(transport& ranks, array_writer& writer)
{
  auto const written = ranks.all_gather("what was written", writer.written());
  for (int rank = 1; ranks.rank() == 0 && rank < ranks.size(); ++rank) {
    writer.add_written(written[static_cast<std::size_t>(rank)]);
  }
  commit_together<array_writer>(ranks, writer);
}

/// The numbers of all ranks, in the order of ranks; without ranks this process's own.
[[nodiscard]] inline std::vector<std::int64_t> numbers_of_all(transport* ranks, std::string_view what,
                                                              std::vector<std::int64_t> own)
{
  if (ranks == nullptr) { return own; }
  std::string_view const bytes(reinterpret_cast<char const*>(own.data()), own.size() * sizeof(std::int64_t));
  std::vector<std::int64_t> all;
  for (std::string const& theirs : ranks->all_gather(what, bytes)) {
    std::size_t const before = all.size();
    all.resize(before + theirs.size() / sizeof(std::int64_t));
    theirs.copy(reinterpret_cast<char*>(all.data() + before), theirs.size());
  }
  return all;
}

}  // namespace tendril::cli
