// How questions get to the ranks that can answer them, and answers back: in calls of all ranks, or whenever a rank asks.

#pragma once

#include <memory>
#include <span>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/rank_service.hpp>
#include <tendril/transport.hpp>

namespace tendril::dist {

/// Knows the answers to questions about a rank's own data. One call at a time.
class answerer {
 public:
  virtual ~answerer() = default;
  /// @param asked  Questions of some ranks. @return an answer to each.
  [[nodiscard]] virtual std::vector<message> answer(std::span<message const> asked, message_pool& pool,
                                                    cpu_exec const& exec) = 0;
};

/// One round of questions and answers at a time: ask, serve, answers. Objects that are used in turn have rounds of their own.
class exchange {
 public:
  virtual ~exchange() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual message_pool& pool() = 0;

  /// Question r is for rank r. Returns at once. @param questions  [size()], moved from.
  virtual void ask(std::span<message> questions) = 0;
  /// Answers the questions that are this caller's work: of all ranks, or its own.
  virtual void serve() = 0;
  /// Waits. @return [size()].
  [[nodiscard]] virtual std::vector<message> answers() = 0;

  /// Lets the caller cancel, and tells the others that it is alive.
  virtual void look() = 0;
  /// How many rounds of work there are, where all ranks must make equally many; `mine` where they need not.
  [[nodiscard]] virtual std::int64_t rounds(std::int64_t mine) = 0;
};

/// In calls of all ranks, which this one answers in serve(). All outlive the exchange.
[[nodiscard]] std::unique_ptr<exchange> exchange_in_calls(transport& ranks, answerer& by, cpu_exec const& exec);

/// At any time. @param by  Answers the caller's own questions to itself.
[[nodiscard]] std::unique_ptr<exchange> exchange_by_service(rank_service& ranks, int service, answerer& by,
                                                            cpu_exec const& exec);

}  // namespace tendril::dist
