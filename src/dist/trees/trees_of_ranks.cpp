#include "dist/trees/trees_of_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <tendril/checked.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::dist {

/// The slots that hold vertices, grouped by the rank that has them, and in order within a group.
void trees_of_ranks::sort_by_rank(cpu::hop_slots const& parents)
{
  auto const num_ranks = static_cast<std::size_t>(ranks_.size());
  auto const owner = [&](std::int64_t s) { return static_cast<std::size_t>(here_.owner(parents.vertices[s])); };
  std::vector<std::int64_t> next(num_ranks + 1);
  for (std::int64_t s = 0; s < parents.size; ++s) {
    if (parents.vertices[s] != no_vertex) { ++next[owner(s) + 1]; }
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  rank_begin_ = next;
  slots_.resize(static_cast<std::size_t>(next.back()));
  for (std::int64_t s = 0; s < parents.size; ++s) {
    if (parents.vertices[s] != no_vertex) { slots_[static_cast<std::size_t>(next[owner(s)]++)] = s; }
  }
}

void trees_of_ranks::cut_sections(std::int64_t fanout)
{
  constexpr std::int64_t slots_a_section = 32768;
  std::int64_t const most = fanout == -1 ? 256 : std::clamp<std::int64_t>(slots_a_section / fanout, 16, 4096);
  sections_.clear();
  rank_sections_.assign(1, 0);
  for (std::size_t r = 0; r + 1 < rank_begin_.size(); ++r) {
    for (std::int64_t at = rank_begin_[r]; at < rank_begin_[r + 1]; at += most) {
      sections_.push_back({at, static_cast<std::uint32_t>(std::min(most, rank_begin_[r + 1] - at))});
    }
    rank_sections_.push_back(sections_.size());
  }
}

void trees_of_ranks::write_questions(cpu::hop_slots const& parents, cpu::tree_job const& job, std::size_t hop,
                                     std::size_t rank, message& out) const
{
  auto const head_of = [&](section const& one) {
    return slots_question{.first_root = job.first_root,
                          .hop = static_cast<std::uint32_t>(hop),
                          .with_edges = job.with_edges ? 1U : 0U,
                          .count = one.count};
  };
  std::vector<std::int64_t> place(sections_.size() + 1);
  for (std::size_t k = rank_sections_[rank]; k < rank_sections_[rank + 1]; ++k) {
    place[k + 1] = place[k] + head_of(sections_[k]).bytes();
  }
  std::int64_t const bytes = place[rank_sections_[rank + 1]];
  out = ranks_.pool().take(bytes);
  out.set_size(bytes);
  auto const count = static_cast<std::int64_t>(rank_sections_[rank + 1] - rank_sections_[rank]);
  base::parallel_ranges(job.exec, count, 1, [&](std::int64_t i, std::int64_t) {
    std::size_t const k = rank_sections_[rank] + static_cast<std::size_t>(i);
    slots_question const head = head_of(sections_[k]);
    std::byte* const to = out.data() + place[k];
    std::memcpy(to, &head, sizeof head);
    auto* const vertices = array_at<vertex_id>(to, sizeof head);
    auto* const roots = array_at<std::uint32_t>(to, static_cast<std::int64_t>(sizeof head) + head.array_bytes());
    auto* const places = array_at<std::uint32_t>(to, static_cast<std::int64_t>(sizeof head) + 2 * head.array_bytes());
    for (std::uint32_t j = 0; j < head.count; ++j) {
      std::int64_t const slot = slots_[static_cast<std::size_t>(sections_[k].begin + j)];
      std::int64_t const root = parents.root_of(slot);
      vertices[j] = parents.vertices[slot];
      roots[j] = static_cast<std::uint32_t>(root);
      places[j] = static_cast<std::uint32_t>(slot - parents.begin_of(root));
    }
  });
}

std::vector<message> trees_of_ranks::asked(cpu::hop_slots const& parents, cpu::tree_job const& job, std::size_t hop)
{
  sort_by_rank(parents);
  cut_sections(job.params.fanouts[hop]);
  auto const num_ranks = static_cast<std::size_t>(ranks_.size());
  std::vector<message> questions(num_ranks);
  for (std::size_t r = 0; r < num_ranks; ++r) { write_questions(parents, job, hop, r, questions[r]); }
  ranks_.ask(questions);
  ranks_.serve();
  ranks_.look();
  std::vector<message> answers = ranks_.answers();
  for (std::size_t r = 0; r < num_ranks; ++r) {
    section_reader<slots_answer> at(answers[r]);
    for (std::size_t k = rank_sections_[r]; k < rank_sections_[r + 1]; ++k) {
      sections_[k].answer = at.data();
      at.skip(at.head().bytes());
    }
  }
  return answers;
}

template <class F>
void trees_of_ranks::for_each_answer(cpu_exec const& exec, F f) const
{
  base::parallel_ranges(exec, std::ssize(sections_), 1, [&](std::int64_t k, std::int64_t) {
    section const& one = sections_[static_cast<std::size_t>(k)];
    slots_answer head;
    std::memcpy(&head, one.answer, sizeof head);
    f(one, head);
  });
}

void trees_of_ranks::give_back(std::vector<message>& answers)
{
  for (message& m : answers) { ranks_.pool().give_back(std::move(m)); }
}

tree_hop trees_of_ranks::sample(cpu::hop_slots const& parents, cpu::tree_job const& job, std::size_t hop,
                                std::uint32_t fanout)
{
  std::vector<message> answers = asked(parents, job, hop);
  tree_hop out = job.room_for(fanout, checked_product("slots of a hop", parents.size, fanout));
  for (std::int64_t s = 0; s < parents.size; ++s) {
    if (parents.vertices[s] != no_vertex) { continue; }
    std::fill_n(out.vertices.data() + s * fanout, fanout, no_vertex);
    if (job.with_edges) { std::fill_n(out.edges.data() + s * fanout, fanout, edge_id{-1}); }
  }
  for_each_answer(job.exec, [&](section const& one, slots_answer const& head) {
    auto const* const neighbors = array_at<vertex_id>(one.answer, head.neighbors());
    auto const* const edges = array_at<edge_id>(one.answer, head.edges());
    for (std::uint32_t j = 0; j < one.count; ++j) {
      std::int64_t const to = slots_[static_cast<std::size_t>(one.begin + j)] * fanout;
      std::copy_n(neighbors + std::int64_t{j} * fanout, fanout, out.vertices.data() + to);
      if (job.with_edges) { std::copy_n(edges + std::int64_t{j} * fanout, fanout, out.edges.data() + to); }
    }
  });
  give_back(answers);
  return out;
}

tree_hop trees_of_ranks::take_all(cpu::hop_slots const& parents, cpu::tree_job const& job, std::size_t hop)
{
  std::vector<message> answers = asked(parents, job, hop);
  buffer<std::int64_t> offsets(parents.size + 1, *job.exec.memory);
  std::fill(offsets.begin(), offsets.end(), 0);
  for_each_answer(job.exec, [&](section const& one, slots_answer const& head) {
    auto const* const counts = array_at<std::uint32_t>(one.answer, head.counts());
    for (std::uint32_t j = 0; j < one.count; ++j) {
      offsets[slots_[static_cast<std::size_t>(one.begin + j)] + 1] = counts[j];
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  cpu::expect_memory_of_all(job, hop, offsets[parents.size]);
  tree_hop out = job.room_for(-1, offsets[parents.size]);
  for_each_answer(job.exec, [&](section const& one, slots_answer const& head) {
    auto const* const counts = array_at<std::uint32_t>(one.answer, head.counts());
    auto const* neighbors = array_at<vertex_id>(one.answer, head.neighbors());
    auto const* edges = array_at<edge_id>(one.answer, head.edges());
    for (std::uint32_t j = 0; j < one.count; ++j) {
      std::int64_t const to = offsets[slots_[static_cast<std::size_t>(one.begin + j)]];
      std::copy_n(neighbors, counts[j], out.vertices.data() + to);
      neighbors += counts[j];
      if (!job.with_edges) { continue; }
      std::copy_n(edges, counts[j], out.edges.data() + to);
      edges += counts[j];
    }
  });
  out.offsets = std::move(offsets);
  give_back(answers);
  return out;
}

}  // namespace tendril::dist
