// Ranks as threads of one process: a message is moved into the inbox of its receiver.

#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <tendril/transport.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {
namespace {

struct inbox {
  std::mutex lock;
  std::deque<message> messages;
};

class thread_engine final : public message_engine {
 public:
  thread_engine(int rank, std::shared_ptr<std::vector<inbox>> inboxes) : rank_(rank), inboxes_(std::move(inboxes)) {}

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(inboxes_->size()); }

  void send(int to, message sent, message_pool&) override
  {
    inbox& there = (*inboxes_)[static_cast<std::size_t>(to)];
    std::lock_guard const lock(there.lock);
    there.messages.push_back(std::move(sent));
  }

  [[nodiscard]] std::optional<message> receive(message_pool&) override
  {
    inbox& here = (*inboxes_)[static_cast<std::size_t>(rank_)];
    std::lock_guard const lock(here.lock);
    if (here.messages.empty()) { return std::nullopt; }
    message out = std::move(here.messages.front());
    here.messages.pop_front();
    return out;
  }

  [[nodiscard]] bool all_sent(message_pool&) override { return true; }

 private:
  int rank_;
  std::shared_ptr<std::vector<inbox>> inboxes_;
};

constexpr transport::seconds grace{0.2};  // for what other ranks say of a failure

/// Work of one rank, whose exception is kept.
struct rank_end {
  std::exception_ptr thrown;
  bool speaks = false;
};

rank_end run_rank(std::unique_ptr<message_engine> engine, std::function<void(transport&)> const& work,
                  transport::seconds deadline)
{
  transport ranks(std::move(engine), deadline);
  try {
    work(ranks);
    return {};
  } catch (rank_error const& failure) {
    bool const speaks = ranks.speaks(failure.what(), failure.rank(), grace, failure.of_argument());
    return {std::current_exception(), speaks};
  } catch (argument_error const& failure) {
    bool const speaks = ranks.speaks(failure.what(), {}, grace, true);
    return {std::current_exception(), speaks};
  } catch (std::exception const& failure) {
    bool const speaks = ranks.speaks(failure.what(), {}, grace);
    return {std::current_exception(), speaks};
  } catch (...) {
    return {std::current_exception(), ranks.speaks("unknown exception", {}, grace)};
  }
}

}  // namespace

void run_ranks(int num_ranks, std::function<void(transport&)> const& work, transport::seconds deadline,
               std::function<std::unique_ptr<message_engine>(std::unique_ptr<message_engine>)> const& wrap)
{
  TENDRIL_EXPECTS(num_ranks >= 1, "ranks: {}, expected 1 or more", num_ranks);
  auto const inboxes = std::make_shared<std::vector<inbox>>(static_cast<std::size_t>(num_ranks));
  std::vector<rank_end> ends(static_cast<std::size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank) {
    std::unique_ptr<message_engine> engine = std::make_unique<thread_engine>(rank, inboxes);
    if (wrap) { engine = wrap(std::move(engine)); }
    threads.emplace_back([&, rank, mine = std::move(engine)]() mutable {
      ends[static_cast<std::size_t>(rank)] = run_rank(std::move(mine), work, deadline);
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  std::exception_ptr any;
  for (rank_end const& end : ends) {
    if (end.thrown && end.speaks) { std::rethrow_exception(end.thrown); }
    if (end.thrown && !any) { any = end.thrown; }
  }
  if (any) { std::rethrow_exception(any); }
}

}  // namespace tendril
