// The ranks of a job as one process sees them: how calls of all ranks, and what goes wrong with them, reach the others.

#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tendril/error.hpp>
#include <tendril/rank_service.hpp>
#include <tendril/transport.hpp>

#include "bind.hpp"

namespace tendril::python {

/// This process' ways to the others: calls of all ranks, one at a time, and questions, which go at any time.
class ranks {
 public:
  ranks(std::vector<std::unique_ptr<message_engine>> engines, transport::seconds deadline)
      : calls_(std::make_unique<transport>(std::move(engines.at(0)), deadline)),
        questions_(std::make_unique<rank_service>(std::move(engines.at(1)), deadline))
  {
  }
  ranks(ranks const&) = delete;
  ranks& operator=(ranks const&) = delete;
  /// The package closes them while the interpreter is whole; this is for ranks that nobody refers to any more. Python's objects
  /// hold them, and let go with the GIL.
  ~ranks()
  {
    nb::gil_scoped_release const no_gil;
    close();
  }

  [[nodiscard]] int rank() const { return questions_->rank(); }
  [[nodiscard]] int size() const { return questions_->size(); }
  [[nodiscard]] rank_service& questions() { return *questions_; }

  /// A call of all ranks. Needs no GIL. Where it fails, the others are told; where a rank refuses it, ranks go on.
  template <class Call>
  auto in_call(Call call)
  {
    std::lock_guard const one_at_a_time(mutex_);
    if (closed_) { throw argument_error("the ranks are closed, expected open ones"); }
    transport::call_number const first = calls_->next_call();
    try {
      return call(*calls_);
    } catch (rank_error const&) {
      throw;
    } catch (std::exception const& e) {
      if (!calls_->was_refused_since(first)) { fail(e.what()); }
      throw;
    }
  }

  /// Ends the next call on all ranks, which go on. Needs no GIL.
  void refuse(std::string const& why)
  {
    std::lock_guard const one_at_a_time(mutex_);
    if (!closed_) { calls_->refuse(why); }
  }

  /// What all ranks do together, by questions.
  template <class Call>
  auto told(Call call)
  {
    try {
      return call();
    } catch (rank_error const&) {
      throw;
    } catch (std::exception const& e) {
      fail(e.what());
      throw;
    }
  }

  void fail(std::string const& why)
  {
    questions_->fail(why);
    calls_->fail(why);
  }

  /// Waits until all ranks have closed. Needs no GIL. A rank that makes one more call than this one must hear of it, or it would
  /// wait for this rank, and this rank for it: so the farewell to calls comes first.
  void close(std::function<void()> const& check_cancel = {})
  {
    {
      std::lock_guard const one_at_a_time(mutex_);
      closed_ = true;
      calls_->leave();
    }
    questions_->close(check_cancel);
  }

  [[nodiscard]] std::int64_t sent_bytes() const { return questions_->sent_bytes() + calls_->report().sent_bytes; }

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::unique_ptr<transport> calls_;
  std::unique_ptr<rank_service> questions_;
};

}  // namespace tendril::python
