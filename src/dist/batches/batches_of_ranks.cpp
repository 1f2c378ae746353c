#include "dist/batches/batches_of_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"  // parallel_ranges
#include "dist/batches/records.hpp"
#include "samplers/batches/checks.hpp"

namespace tendril::dist {
namespace {

/// Vertices of a section: so many that a thread's scratch for their edges stays in its cache.
std::uint32_t vertices_a_section(std::int64_t fanout)
{
  constexpr std::int64_t slots = 32768;
  return static_cast<std::uint32_t>(
      fanout < 0 ? 256 : std::clamp<std::int64_t>(slots / std::max<std::int64_t>(fanout, 1), 64, 4096));
}

template <class Key>
class batches final : public batches_of_ranks {
 public:
  batches(batch_setting const& setting, std::unique_ptr<exchange> ranks, std::shared_ptr<cpu::block_pool> const& pool,
          batch_counts& counts)
      : setting_(setting),
        ranks_(std::move(ranks)),
        pool_(pool),
        counts_(counts),
        num_hops_(static_cast<std::uint32_t>(samplers::hops_of(setting.job.params)))
  {
  }

  void begin(std::span<wanted_batch const> wanted) override
  {
    size_ = wanted.size();
    while (open_.size() < size_) { open_.push_back(std::make_unique<open_batch>(setting_.job, pool_)); }
    for_each_batch([&](open_batch& one, std::size_t b) {
      one.number = wanted[b].number;
      one.maker.begin({{wanted[b].seeds}, {}}, one.number);
    });
    hop_ = 0;
    ask();
  }

  void serve() override
  {
    ranks_->serve();
    ranks_->look();
  }

  bool take() override
  {
    auto answers = ranks_->answers();
    find_sections(answers);
    for_each_batch([&](open_batch& one, std::size_t) { take(one); });
    for (message& m : answers) { ranks_->pool().give_back(std::move(m)); }
    for (std::size_t b = 0; b < size_; ++b) {
      auto const& offsets = open_[b]->what.offsets;
      counts_.edges += offsets[open_[b]->what.count] - offsets[0];
    }
    ++hop_;
    if (hop_ >= num_hops_ + (is_induced() ? 1U : 0U)) { return false; }
    ask();
    return true;
  }

  [[nodiscard]] std::vector<minibatch> finish() override
  {
    std::vector<minibatch> out(size_);
    for_each_batch([&](open_batch& one, std::size_t b) { out[b] = one.maker.finish(); });
    return out;
  }

 private:
  using question = frontier_question<Key>;
  struct section {
    std::uint32_t begin, count;  // in `order`
    std::byte const* answer = nullptr;
  };
  struct open_batch {
    open_batch(cpu::minibatch_job const& job, std::shared_ptr<cpu::block_pool> const& pool) : maker(job, pool) {}

    cpu::minibatch_maker<Key> maker;
    std::uint64_t number = 0;
    cpu::hop_expansion<Key> what;
    std::vector<std::uint32_t> order;          // places in the frontier, by the rank that has the vertex
    std::vector<std::uint32_t> rank_begin;     // [ranks + 1] in `order`
    std::vector<std::vector<section>> asked;   // [ranks]
    std::vector<std::int64_t> question_bytes;  // [ranks], later their places in messages
  };

  [[nodiscard]] bool is_induced() const { return setting_.job.params.subgraph == subgraph_type::induced; }
  /// Whether the edges between all vertices are asked for, after the hops.
  [[nodiscard]] bool asks_for_inner() const { return hop_ == num_hops_; }
  [[nodiscard]] std::size_t num_ranks() const { return static_cast<std::size_t>(ranks_->size()); }

  template <class F>
  void for_each_batch(F&& f)
  {
    base::parallel_ranges(setting_.exec, static_cast<std::int64_t>(size_), 1, [&](std::int64_t b, std::int64_t) {
      f(*open_[static_cast<std::size_t>(b)], static_cast<std::size_t>(b));
    });
  }

  void ask()
  {
    for_each_batch([&](open_batch& one, std::size_t) {
      if (asks_for_inner()) {
        one.what = one.maker.all_vertices(0);
      } else {
        one.maker.begin_hop();
        one.what = one.maker.frontier(0, hop_);
      }
      sort_by_rank(one);
      cut_sections(one);
    });
    std::vector<message> questions(num_ranks());
    for (std::size_t r = 0; r < num_ranks(); ++r) {
      std::int64_t size = 0;
      for (std::size_t b = 0; b < size_; ++b) { size += std::exchange(open_[b]->question_bytes[r], size); }
      questions[r] = ranks_->pool().take(size);
      questions[r].set_size(size);
    }
    for_each_batch([&](open_batch& one, std::size_t) {
      for (std::size_t r = 0; r < num_ranks(); ++r) {
        write_questions(one, r, questions[r].data() + one.question_bytes[r]);
      }
    });
    for (std::size_t b = 0; b < size_; ++b) {
      counts_.asked += open_[b]->what.count;
      auto const& begin = open_[b]->rank_begin;
      auto const me = static_cast<std::size_t>(ranks_->rank());
      counts_.asked_away += open_[b]->what.count - (begin[me + 1] - begin[me]);
    }
    ranks_->ask(questions);
  }

  /// The places of a frontier, grouped by the rank that has the vertex, and in order within a group.
  void sort_by_rank(open_batch& one) const
  {
    std::vector<std::uint32_t> next(num_ranks() + 1);
    for (std::int64_t i = 0; i < one.what.count; ++i) { ++next[owner_of(one, i) + 1]; }
    std::partial_sum(next.begin(), next.end(), next.begin());
    one.rank_begin = next;
    one.order.resize(static_cast<std::size_t>(one.what.count));
    for (std::int64_t i = 0; i < one.what.count; ++i) {
      one.order[next[owner_of(one, i)]++] = static_cast<std::uint32_t>(i);
    }
  }
  [[nodiscard]] std::size_t owner_of(open_batch const& one, std::int64_t i) const
  {
    return static_cast<std::size_t>(setting_.here.owner(cpu::vertex_of(one.what.vertices[i])));
  }

  void cut_sections(open_batch& one) const
  {
    one.asked.assign(num_ranks(), {});
    one.question_bytes.assign(num_ranks(), 0);
    std::uint32_t const most = asks_for_inner() ? 0xffffffff : vertices_a_section(one.what.fanout);
    for (std::size_t r = 0; r < num_ranks(); ++r) {
      for (std::uint32_t at = one.rank_begin[r]; at < one.rank_begin[r + 1];) {
        std::uint32_t const count = std::min(most, one.rank_begin[r + 1] - at);
        one.asked[r].push_back({at, count});
        one.question_bytes[r] += head_of(one, one.asked[r].back()).bytes();
        at += count;
      }
    }
  }
  [[nodiscard]] question head_of(open_batch const& one, section const& asked) const
  {
    if (asks_for_inner()) { return {one.number, question::all_inner, static_cast<std::uint32_t>(one.what.count)}; }
    return {one.number, hop_, asked.count};
  }

  void write_questions(open_batch const& one, std::size_t rank, std::byte* to) const
  {
    for (section const& asked : one.asked[rank]) {
      question const head = head_of(one, asked);
      std::memcpy(to, &head, sizeof head);
      Key* const keys = array_at<Key>(to, sizeof head);
      if (asks_for_inner()) {
        std::copy_n(one.what.vertices, one.what.count, keys);
      } else {
        for (std::uint32_t k = 0; k < asked.count; ++k) { keys[k] = one.what.vertices[one.order[asked.begin + k]]; }
      }
      to += head.bytes();
    }
  }

  /// Answers come in the order of the questions.
  void find_sections(std::span<message const> answers)
  {
    for (std::size_t r = 0; r < num_ranks(); ++r) {
      section_reader<frontier_answer> at(answers[r]);
      for (std::size_t b = 0; b < size_; ++b) {
        for (section& asked : open_[b]->asked[r]) {
          asked.answer = at.data();
          at.skip(answer_layout(at.head()).bytes());
        }
      }
    }
  }

  /// Puts the edges into the order of the frontier.
  void take(open_batch& one) const
  {
    auto& what = one.what;
    for_each_answer(
        one, [&](std::byte const* answer, answer_layout const& layout, std::uint32_t begin, std::uint32_t count) {
          auto const* const counts = array_at<std::uint32_t>(answer, layout.counts());
          for (std::uint32_t k = 0; k < count; ++k) { what.offsets[one.order[begin + k] + 1] = counts[k]; }
        });
    one.maker.make_slots(0, what);
    for_each_answer(
        one, [&](std::byte const* answer, answer_layout const& layout, std::uint32_t begin, std::uint32_t count) {
          put_edges(one, answer, layout, {one.order.data() + begin, count});
        });
    if (asks_for_inner()) {
      one.maker.keep_numbers(0, what);
      return;
    }
    one.maker.number(0, what);
    one.maker.end_hop();
  }

  template <class F>
  void for_each_answer(open_batch const& one, F&& f) const
  {
    for (auto const& of_rank : one.asked) {
      for (section const& asked : of_rank) {
        frontier_answer head;
        std::memcpy(&head, asked.answer, sizeof head);
        f(asked.answer, answer_layout(head), asked.begin, asked.count);
      }
    }
  }

  /// @param places  Of the answer's vertices in the frontier.
  void put_edges(open_batch const& one, std::byte const* answer, answer_layout const& layout,
                 std::span<std::uint32_t const> places) const
  {
    auto const& what = one.what;
    std::int64_t const base = what.offsets[0];
    auto const* const first = array_at<edge_id>(answer, layout.first());
    auto const* const weights = array_at<float>(answer, layout.weights());
    auto const* neighbor = array_at<vertex_id>(answer, layout.neighbors());
    auto const* position = array_at<std::uint32_t>(answer, layout.positions());
    for (std::size_t k = 0; k < places.size(); ++k) {
      std::int64_t const i = places[k];
      Key const from = what.vertices[i];
      for (std::int64_t s = what.offsets[i]; s < what.offsets[i + 1]; ++s) {
        what.row[s] = what.first_local + i;
        what.edge[s] = first[k] + *position++;
        what.reached[s - base] = asks_for_inner() ? Key{*neighbor++} : cpu::neighbor_key(from, *neighbor++);
        if (what.weights != nullptr) { what.weights[s] = weights[k]; }
      }
    }
  }

  batch_setting setting_;
  std::unique_ptr<exchange> ranks_;
  std::shared_ptr<cpu::block_pool> pool_;
  batch_counts& counts_;
  std::uint32_t num_hops_;
  std::uint32_t hop_ = 0;
  std::size_t size_ = 0;  // of the batches under way
  std::vector<std::unique_ptr<open_batch>> open_;
};

}  // namespace

std::unique_ptr<batches_of_ranks> make_batches_of_ranks(batch_setting const& setting, std::unique_ptr<exchange> ranks,
                                                        std::shared_ptr<cpu::block_pool> const& pool,
                                                        batch_counts& counts)
{
  if (setting.job.params.disjoint) {
    return std::make_unique<batches<std::uint64_t>>(setting, std::move(ranks), pool, counts);
  }
  return std::make_unique<batches<std::uint32_t>>(setting, std::move(ranks), pool, counts);
}

}  // namespace tendril::dist
