#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <tendril/transport.hpp>

// Ranks that answer each other at any time: a thread of each takes in questions and answers them, whatever the rank does
// meanwhile. So ranks may ask unequally often, from several threads, and one that has nothing more to ask goes on answering
// (a transport's calls are made by all ranks together).

namespace tendril {

class rank_service {
 public:
  /// Makes the answer to a question. Called by the service's thread, for one question at a time.
  using handler = std::function<message(message const& question, message_pool& pool)>;

  /// @param deadline  After so much silence of a rank that is waited for, it counts as lost.
  explicit rank_service(std::unique_ptr<message_engine> engine,
                        transport::seconds deadline = transport::usual_deadline);
  rank_service(rank_service const&) = delete;
  rank_service& operator=(rank_service const&) = delete;
  /// As close(), to its end.
  ~rank_service();

  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;

  /// Offers answers. All ranks offer the same services, in the same order; returns once all have.
  /// @param description  Lines of what they must agree on; those of rank 0 count.
  /// @param verbs        For each line, what goes before it in a message: "samples from".
  /// @return the number of the service. The handler lives until every rank has withdrawn, or the end.
  /// @throws rank_error  naming the first rank whose description differs, and in which line; also as wait().
  [[nodiscard]] int offer(std::string_view description, std::span<char const* const> verbs, handler answer);

  /// This rank asks no more of a service; it goes on answering until no rank asks. Returns at once.
  void withdraw(int service) noexcept;

  /// What belongs to a question that is on its way.
  using ticket = std::uint64_t;

  /// Asks ranks: question r goes to rank r, unless it is empty. Returns at once. The question to this rank itself is not sent,
  /// either: its answer is the caller's work.
  /// @param questions  [size()], moved from.
  /// @throws argument_error  after close().
  [[nodiscard]] ticket ask(int service, std::span<message> questions);

  /// Waits for the answers. @return [size()], by rank; empty ones where nothing was asked.
  /// @param check_cancel  Called now and then; what it throws ends the wait.
  /// @throws rank_error  naming a rank that failed, fell silent, or has ended.
  [[nodiscard]] std::vector<message> wait(ticket asked, std::function<void()> const& check_cancel = {});

  /// Messages to be filled; finished ones are given back.
  [[nodiscard]] message_pool& pool() noexcept;

  /// Tells the others that this rank can't go on, and why; what they ask of it fails. Words that begin with the name of a rank, as those
  /// of a rank_error do, are told as they are. Returns at once.
  void fail(std::string_view why) noexcept;

  /// This rank asks no more. Answers the others until all have closed, or one has failed.
  /// @param check_cancel  Called now and then; what it throws ends the wait, but not the answers: fail() does.
  void close(std::function<void()> const& check_cancel = {});

  /// Bytes sent to other ranks so far, without headers; of questions and answers.
  [[nodiscard]] std::int64_t sent_bytes() const noexcept;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace tendril
