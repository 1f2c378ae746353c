#include <tendril/rank_service.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "dist/agreement.hpp"
#include "dist/beats.hpp"

namespace tendril {
namespace {

using clock = std::chrono::steady_clock;

constexpr auto look_ahead = std::chrono::microseconds(50);  // without sleep, for the next message
constexpr auto between_cancels = std::chrono::milliseconds(20);

}  // namespace

/// The engine belongs to the thread; everything else is shared, and needs the lock.
class rank_service::impl {
 public:
  impl(std::unique_ptr<message_engine> engine, transport::seconds deadline)
      : engine_(std::move(engine)),
        rank_(engine_->rank()),
        size_(engine_->size()),
        deadline_(deadline),
        peers_(static_cast<std::size_t>(size_))
  {
    TENDRIL_EXPECTS(deadline.count() > 0, "deadline: {} s, expected more than 0", deadline.count());
    for (peer& p : peers_) { p.heard = clock::now(); }
    thread_ = std::thread([this] { run(); });
  }

  ~impl()
  {
    begin_close();
    if (thread_.joinable()) { thread_.join(); }
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  int offer(std::string_view description, std::span<char const* const> verbs, handler answer)
  {
    std::unique_lock lock(mutex_);
    int const number = num_offered_++;
    service& own = service_of(number);
    own.answer = std::move(answer);
    own.descriptions[static_cast<std::size_t>(rank_)] = description;
    tell_all(message_header::offer, number, description);
    auto const is_everywhere = [&] {
      return std::all_of(own.descriptions.begin(), own.descriptions.end(), [](auto const& d) { return d.has_value(); });
    };
    wait_until(lock, is_everywhere, {}, [&](int other) {
      bool const is_missing = !own.descriptions[static_cast<std::size_t>(other)];
      // A rank may close right after this offer, so that its farewell comes first.
      auto const& closed_after = peers_[static_cast<std::size_t>(other)].closed_after;
      if (is_missing && closed_after && *closed_after <= number) {
        throw rank_error(other,
                         fmt::format("{} has closed, while rank {} begins a call of all", name_of(other), rank_));
      }
      return is_missing;
    });
    std::vector<std::string> all;
    for (auto const& d : own.descriptions) { all.push_back(*d); }
    lock.unlock();
    dist::expect_same_texts(all, verbs);
    return number;
  }

  void withdraw(int number) noexcept
  {
    std::lock_guard const lock(mutex_);
    try {
      service& own = service_of(number);
      for (int to = 0; to < size_; ++to) {
        auto const there = static_cast<std::size_t>(to);
        if (to != rank_) { tell(to, message_header::withdrawal, number, {}, own.calls[there].asked); }
      }
      note_withdrawal(number, rank_, 0);
    } catch (...) {  // the handler lives longer
    }
  }

  ticket ask(int number, std::span<message> questions)
  {
    std::lock_guard const lock(mutex_);
    if (closing_ && !failed_) { throw is_closed(); }  // wait() tells of a failure
    ticket const made = next_ticket_++;
    open_ticket& open = tickets_[made];
    open.answers.resize(peers_.size());
    open.waits.resize(peers_.size());
    service& there = service_of(number);
    for (int to = 0; to < size_; ++to) {
      message& question = questions[static_cast<std::size_t>(to)];
      if (to == rank_ || question.size() == 0) { continue; }
      open.waits[static_cast<std::size_t>(to)] = 1;
      post(to, std::move(question), {.kind = message_header::question, .number = made, .service = number});
      ++there.calls[static_cast<std::size_t>(to)].asked;
    }
    return made;
  }

  std::vector<message> wait(ticket asked, std::function<void()> const& check_cancel)
  {
    std::unique_lock lock(mutex_);
    auto const found = tickets_.find(asked);
    TENDRIL_EXPECTS(found != tickets_.end(), "ticket {}, expected one that was asked", asked);
    open_ticket& open = found->second;
    wait_until(
        lock, [&] { return std::none_of(open.waits.begin(), open.waits.end(), [](char w) { return w != 0; }); },
        check_cancel, [&](int other) { return open.waits[static_cast<std::size_t>(other)] != 0; });
    auto out = std::move(open.answers);
    tickets_.erase(found);
    return out;
  }

  [[nodiscard]] message_pool& pool() noexcept { return pool_; }

  void fail(std::string_view why) noexcept
  {
    try {
      int about = rank_;
      std::string line = fmt::format("{}: {}", name_of(rank_), why);
      for (int blamed = 0; blamed < size_; ++blamed) {
        if (!why.starts_with(name_of(blamed))) { continue; }  // else the words name a rank themselves
        about = blamed;
        line = why;
      }
      std::lock_guard const lock(mutex_);
      set_failed(about, std::move(line), true);
    } catch (...) {  // the others notice the silence
    }
  }

  void close(std::function<void()> const& check_cancel)
  {
    begin_close();
    std::unique_lock lock(mutex_);
    while (!ended_) {
      changed_.wait_for(lock, between_cancels);
      if (!check_cancel || ended_) { continue; }
      lock.unlock();
      check_cancel();
      lock.lock();
    }
  }

  [[nodiscard]] std::int64_t sent_bytes() const noexcept { return sent_bytes_.load(std::memory_order_relaxed); }

 private:
  /// Between this rank and another, about one service. Messages may overtake each other, so a withdrawal says how many
  /// questions there were: those that are still on their way get their answers, too.
  struct calls_with {
    std::uint64_t asked = 0, heard = 0;         // questions to the other, and from it
    std::optional<std::uint64_t> asked_in_all;  // by the other, which has withdrawn
  };
  struct service {
    handler answer;
    std::vector<std::optional<std::string>> descriptions;  // [size]
    std::vector<calls_with> calls;                         // [size]
  };
  struct open_ticket {
    std::vector<message> answers;  // [size]
    std::vector<char> waits;       // [size]
  };
  struct peer {
    clock::time_point heard;
    std::optional<int> closed_after;  // so many offers: it asks no more
  };
  struct failure {
    int rank;  // that the line names
    std::string line;
  };
  struct posted {
    int to;
    message content;
  };

  /// Says farewell, once.
  void begin_close() noexcept
  {
    std::lock_guard const lock(mutex_);
    if (!std::exchange(closing_, true)) {
      try {
        tell_all(message_header::farewell, num_offered_, {});
      } catch (...) {  // the others notice the silence
      }
    }
    wake();
  }

  // --- Any thread, with the lock ---

  void post(int to, message content, message_header header)
  {
    if (content.capacity() == 0) { content = pool_.take(0); }
    header.from = rank_;
    sent_bytes_.fetch_add(content.size(), std::memory_order_relaxed);
    content.set_header(header);
    outbox_.push_back({to, std::move(content)});
    wake();
  }

  void wake() noexcept
  {
    if (engine_) { engine_->wake(); }
  }

  void tell_all(message_header::kinds kind, int number, std::string_view text, std::uint64_t about = 0)
  {
    for (int to = 0; to < size_; ++to) {
      if (to != rank_) { tell(to, kind, number, text, about); }
    }
  }

  void tell(int to, message_header::kinds kind, int number, std::string_view text, std::uint64_t about)
  {
    message told = pool_.take(std::ssize(text));
    told.append(text.data(), std::ssize(text));
    post(to, std::move(told), {.kind = kind, .number = about, .service = number});
  }

  void set_failed(int about, std::string line, bool tell)
  {
    if (failed_) { return; }
    if (tell) { tell_all(message_header::failure, 0, line, static_cast<std::uint64_t>(about)); }
    failed_ = {about, std::move(line)};
    changed_.notify_all();
  }

  /// What is there of a service, which other ranks may have offered before this one.
  service& service_of(int number)
  {
    service& out = services_[number];
    out.descriptions.resize(peers_.size());
    out.calls.resize(peers_.size());
    return out;
  }

  void note_withdrawal(int number, int from, std::uint64_t asked_in_all)
  {
    service& there = service_of(number);
    there.calls[static_cast<std::size_t>(from)].asked_in_all = asked_in_all;
    release_if_unused(there);
  }

  /// Frees the handler once every rank has withdrawn, and all their questions have come.
  static void release_if_unused(service& of)
  {
    if (std::all_of(of.calls.begin(), of.calls.end(), [](calls_with const& c) { return c.asked_in_all == c.heard; })) {
      of.answer = {};
    }
  }

  /// @param waits_for  Whether a rank is waited for.
  template <class Done, class WaitsFor>
  void wait_until(std::unique_lock<std::mutex>& lock, Done done, std::function<void()> const& check_cancel,
                  WaitsFor waits_for)
  {
    auto const since = clock::now();
    while (!done()) {
      if (failed_) { throw rank_error(failed_->rank, failed_->line); }
      if (closing_) { throw is_closed(); }
      for (int other = 0; other < size_; ++other) {
        peer const& there = peers_[static_cast<std::size_t>(other)];
        if (other == rank_ || !waits_for(other)) { continue; }
        transport::seconds const silence = clock::now() - std::max(there.heard, since);
        if (silence > deadline_) {
          throw rank_error(other,
                           fmt::format("{}: nothing was heard of it for {:.3g} s", name_of(other), silence.count()));
        }
      }
      changed_.wait_for(lock, between_cancels);
      if (check_cancel) {
        lock.unlock();
        check_cancel();
        lock.lock();
      }
    }
  }

  [[nodiscard]] static argument_error is_closed() { return argument_error("the ranks are closed, expected open ones"); }

  [[nodiscard]] std::string name_of(int number) const { return fmt::format("rank {} of {}", number, size_); }

  // --- The thread ---

  void run() noexcept
  {
    try {
      auto last_work = clock::now();
      while (!is_over()) {
        bool const worked = send_posted() | receive();
        beat_if_due();
        auto const now = clock::now();
        if (worked) {
          last_work = now;
        } else if (now - last_work > look_ahead) {
          engine_->wait(std::chrono::milliseconds(50));
        } else {
          std::this_thread::yield();
        }
      }
      send_rest();
    } catch (rank_error const& e) {
      end_by(e.rank(), e.what());
    } catch (std::exception const& e) {
      end_by(rank_, fmt::format("{}: {}", name_of(rank_), e.what()));
    }
    std::unique_ptr<message_engine> used;  // its end may wait for others, and so comes after the lock's
    {
      std::lock_guard const lock(mutex_);
      used.swap(engine_);
    }
    used.reset();
    std::lock_guard const lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void end_by(int about, std::string line) noexcept
  {
    try {
      {
        std::lock_guard const lock(mutex_);
        set_failed(about, std::move(line), true);
      }
      send_rest();
    } catch (...) {  // the others notice the silence
    }
  }

  /// Whether nobody asks any more.
  bool is_over()
  {
    std::lock_guard const lock(mutex_);
    if (failed_ && closing_) { return true; }
    return closing_ && std::all_of(peers_.begin(), peers_.end(), [&](peer const& p) {
             return &p == &peers_[static_cast<std::size_t>(rank_)] || p.closed_after ||
                    clock::now() - p.heard > deadline_;
           });
  }

  bool send_posted()
  {
    std::vector<posted> now;
    {
      std::lock_guard const lock(mutex_);
      now.swap(outbox_);
    }
    for (posted& one : now) { engine_->send(one.to, std::move(one.content), pool_); }
    (void)engine_->all_sent(pool_);
    return !now.empty();
  }

  void send_rest()
  {
    (void)send_posted();
    auto const end = clock::now() + std::chrono::seconds(2);
    while (!engine_->all_sent(pool_) && clock::now() < end) { engine_->wait(std::chrono::milliseconds(1)); }
  }

  bool receive()
  {
    bool heard = false;
    while (auto arrived = engine_->receive(pool_)) {
      take_in(std::move(*arrived));
      heard = true;
    }
    return heard;
  }

  void take_in(message arrived)
  {
    message_header const header = arrived.header();
    if (header.from < 0 || header.from >= size_) { return; }
    arrived.set_size(header.num_bytes);
    auto const from = static_cast<std::size_t>(header.from);
    std::unique_lock lock(mutex_);
    peers_[from].heard = clock::now();
    switch (header.kind) {
      case message_header::question: {
        // Nobody asks before this rank's offer has come, so the service is there.
        service& asked = service_of(header.service);
        handler const by = asked.answer;
        ++asked.calls[from].heard;
        release_if_unused(asked);
        lock.unlock();
        answer(by, std::move(arrived));
        return;
      }
      case message_header::answer:
        if (auto const found = tickets_.find(header.number); found != tickets_.end()) {
          found->second.answers[from] = std::exchange(arrived, message());
          found->second.waits[from] = 0;
        }
        break;
      case message_header::offer: {
        service_of(header.service).descriptions[from] = dist::text_of(arrived);
        break;
      }
      case message_header::withdrawal: note_withdrawal(header.service, header.from, header.number); break;
      case message_header::failure:
        set_failed(static_cast<int>(header.number), std::string(dist::text_of(arrived)), false);
        break;
      case message_header::farewell: peers_[from].closed_after = header.service; break;
      default: break;  // a beat
    }
    changed_.notify_all();
    lock.unlock();
    pool_.give_back(std::move(arrived));
  }

  void answer(handler const& by, message question)
  {
    message_header const header = question.header();
    if (!by) { throw error(fmt::format("rank {} asks what it said it would not ask again", header.from)); }
    message made = by(question, pool_);
    pool_.give_back(std::move(question));
    sent_bytes_.fetch_add(made.size(), std::memory_order_relaxed);
    made.set_header(
        {.kind = message_header::answer, .from = rank_, .number = header.number, .service = header.service});
    engine_->send(header.from, std::move(made), pool_);
  }

  void beat_if_due()
  {
    auto const now = clock::now();
    if (now - last_beat_ < std::min(dist::longest_pause_between_beats, deadline_ / dist::beats_a_deadline)) { return; }
    last_beat_ = now;
    std::lock_guard const lock(mutex_);
    tell_all(message_header::beat, 0, {});
  }

  std::unique_ptr<message_engine> engine_;
  int rank_, size_;
  transport::seconds deadline_;
  message_pool pool_;
  clock::time_point last_beat_ = clock::now();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<peer> peers_;
  std::map<int, service> services_;
  int num_offered_ = 0;
  std::map<ticket, open_ticket> tickets_;
  ticket next_ticket_ = 0;
  std::vector<posted> outbox_;
  std::optional<failure> failed_;
  bool closing_ = false, ended_ = false;
  std::atomic<std::int64_t> sent_bytes_{0};

  std::thread thread_;
};

rank_service::rank_service(std::unique_ptr<message_engine> engine, transport::seconds deadline)
    : impl_(std::make_unique<impl>(std::move(engine), deadline))
{
}
rank_service::~rank_service() = default;

int rank_service::rank() const noexcept { return impl_->rank(); }
int rank_service::size() const noexcept { return impl_->size(); }
int rank_service::offer(std::string_view description, std::span<char const* const> verbs, handler answer)
{
  return impl_->offer(description, verbs, std::move(answer));
}
void rank_service::withdraw(int service) noexcept { impl_->withdraw(service); }
rank_service::ticket rank_service::ask(int service, std::span<message> questions)
{
  return impl_->ask(service, questions);
}
std::vector<message> rank_service::wait(ticket asked, std::function<void()> const& check_cancel)
{
  return impl_->wait(asked, check_cancel);
}
message_pool& rank_service::pool() noexcept { return impl_->pool(); }
void rank_service::fail(std::string_view why) noexcept { impl_->fail(why); }
void rank_service::close(std::function<void()> const& check_cancel) { impl_->close(check_cancel); }
std::int64_t rank_service::sent_bytes() const noexcept { return impl_->sent_bytes(); }

}  // namespace tendril
