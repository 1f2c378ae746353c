// What all ranks must agree on before they work together.

#pragma once

#include <span>
#include <string>
#include <vector>

#include <tendril/partition.hpp>
#include <tendril/transport.hpp>

namespace tendril::dist {

/// One thing that a rank says of its job: "walks on" "graph 5f… in 3 parts at …".
struct job_line {
  char const* verb;
  std::string what;
};

/// @param call  The name of the call, as for transport.
/// @throws rank_error  naming the first rank that differs from rank 0, and in which line.
void expect_same(transport& ranks, char const* call, std::span<job_line const> lines);

/// The same of what each rank has said already, [ranks]: lines with a verb each.
void expect_same_texts(std::span<std::string const> texts, std::span<char const* const> verbs);

/// The lines as one text, and their verbs.
[[nodiscard]] std::string text_of(std::span<job_line const> lines);
[[nodiscard]] std::vector<char const*> verbs_of(std::span<job_line const> lines);

/// The version of everything that ranks send each other.
[[nodiscard]] job_line wire_line();

/// A graph in parts. @param verb  What is done with it.
[[nodiscard]] job_line graph_line(char const* verb, partition_info const& whole);

/// @throws argument_error  unless there are as many parts as ranks, and `part` is that of this rank.
void expect_own_part(int rank, int num_ranks, graph_part const& part);

/// A call that other ranks may wait for: a check of this rank's arguments, which makes no call itself, then the work.
/// Where the check throws, the call is refused; where the work does, the others are told.
/// @param ranks  Null where no other rank takes part.
template <class Check, class Work>
auto checked_call(transport* ranks, Check const& check, Work const& work)
{
  if (ranks == nullptr) {
    check();
    return work();
  }
  return ranks->or_fail([&] {
    ranks->or_refuse(check);
    return work();
  });
}

/// @param what   "seed", "start".
/// @param first  Number of the first vertex in the caller's list.
/// @throws argument_error naming the first that is no vertex of the whole graph.
void expect_vertices(char const* what, std::span<vertex_id const> vertices, partition_info const& whole,
                     std::int64_t first = 0);

}  // namespace tendril::dist
