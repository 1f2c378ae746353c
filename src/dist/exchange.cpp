#include "dist/exchange.hpp"

#include <utility>

#include "base/parallel.hpp"  // check_cancel

namespace tendril::dist {
namespace {

class in_calls final : public exchange {
 public:
  in_calls(transport& ranks, answerer& by, cpu_exec const& exec) : ranks_(ranks), by_(by), exec_(exec) {}

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  [[nodiscard]] message_pool& pool() override { return ranks_.pool(); }

  void ask(std::span<message> questions) override { call_ = ranks_.begin("questions", questions); }

  void serve() override
  {
    auto asked = ranks_.finish(call_);
    auto made = by_.answer(asked, ranks_.pool(), exec_);
    for (message& m : asked) { ranks_.pool().give_back(std::move(m)); }
    call_ = ranks_.begin("answers", made);
  }

  [[nodiscard]] std::vector<message> answers() override { return ranks_.finish(call_); }

  void look() override
  {
    base::check_cancel(exec_);
    ranks_.beat();
  }

  [[nodiscard]] std::int64_t rounds(std::int64_t mine) override
  {
    return ranks_.all_reduce("rounds of work", mine, reduction::max);
  }

 private:
  transport& ranks_;
  answerer& by_;
  cpu_exec const& exec_;
  transport::call_number call_ = 0;
};

class by_service final : public exchange {
 public:
  by_service(rank_service& ranks, int service, answerer& by, cpu_exec const& exec)
      : ranks_(ranks), service_(service), by_(by), exec_(exec)
  {
  }

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  [[nodiscard]] message_pool& pool() override { return ranks_.pool(); }

  void ask(std::span<message> questions) override
  {
    own_ = std::move(questions[static_cast<std::size_t>(rank())]);
    ticket_ = ranks_.ask(service_, questions);
  }

  void serve() override
  {
    message made = std::move(by_.answer(std::span(&own_, 1), ranks_.pool(), exec_)[0]);
    ranks_.pool().give_back(std::exchange(own_, std::move(made)));
  }

  [[nodiscard]] std::vector<message> answers() override
  {
    auto out = ranks_.wait(ticket_, exec_.check_cancel);
    out[static_cast<std::size_t>(rank())] = std::move(own_);
    return out;
  }

  void look() override { base::check_cancel(exec_); }

  [[nodiscard]] std::int64_t rounds(std::int64_t mine) override { return mine; }

 private:
  rank_service& ranks_;
  int service_;
  answerer& by_;
  cpu_exec const& exec_;
  rank_service::ticket ticket_ = 0;
  message own_;  // the question, then the answer
};

}  // namespace

std::unique_ptr<exchange> exchange_in_calls(transport& ranks, answerer& by, cpu_exec const& exec)
{
  return std::make_unique<in_calls>(ranks, by, exec);
}

std::unique_ptr<exchange> exchange_by_service(rank_service& ranks, int service, answerer& by, cpu_exec const& exec)
{
  return std::make_unique<by_service>(ranks, service, by, exec);
}

}  // namespace tendril::dist
