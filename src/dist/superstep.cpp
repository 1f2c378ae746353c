#include "dist/superstep.hpp"

namespace tendril::dist {

void walk_batch_of_ranks::begin_messages(std::int64_t num_records, std::int64_t a_chunk)
{
  constexpr std::int64_t most_kinds = 4;  // that one thread writes at a time
  std::int64_t const open = most_kinds * base::num_threads(exec_);
  for (outgoing& to : messages_) { to.begin(setting_.ranks.pool(), num_records / a_chunk + open); }
}

void walk_batch_of_ranks::take_ends(std::span<walk_end const> ends)
{
  for (walk_end const& e : ends) { rows_.end(e.walk.index(), e.steps, e.repeats != 0); }
}

void walk_batch_of_ranks::send()
{
  superstep_head const head{.alive = alive_.exchange(0) + waiting()};
  std::vector<message> out;
  out.reserve(messages_.size());
  for (outgoing& to : messages_) { out.push_back(to.complete(head)); }
  call_ = setting_.ranks.begin("a step of walkers", out);
}

void walk_batch_of_ranks::start(std::int64_t round, std::span<vertex_id const> starts)
{
  round_ = round;
  supersteps_ = 0;
  first_ids_ = setting_.first_ids;
  for (std::int64_t& first : first_ids_) { first += round * setting_.batch_walks; }
  rows_.begin(starts);
  start_here(starts);
  send();
}

void walk_batch_of_ranks::step()
{
  ++supersteps_;
  step_here();
  for (message& used : arrived_) { setting_.ranks.pool().give_back(std::move(used)); }
  arrived_.clear();
  send();
}

bool walk_batch_of_ranks::finish()
{
  arrived_ = setting_.ranks.finish(call_);
  chunks_.clear();
  std::int64_t alive = 0;
  for (int from = 0; from < setting_.ranks.size(); ++from) {
    message const& m = arrived_[static_cast<std::size_t>(from)];
    superstep_head head;
    std::memcpy(&head, m.data(), sizeof head);
    alive += head.alive;
    for (std::int64_t at = sizeof head; at < m.size(); at += chunk_bytes) { chunks_.emplace_back(m.data() + at, from); }
  }
  take_in(chunks_);
  return alive > 0;
}

}  // namespace tendril::dist
