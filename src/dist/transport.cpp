#include <tendril/transport.hpp>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/expects.hpp"       // TENDRIL_EXPECTS
#include "base/thread_limit.hpp"  // aside
#include "dist/beats.hpp"

namespace tendril {
namespace {

void copy_name(std::string_view what, char (&into)[sizeof message_header::what])
{
  std::size_t const size = std::min(what.size(), sizeof into - 1);
  std::memcpy(into, what.data(), size);
  into[size] = 0;
}

/// Waits a little longer each time in vain: a message comes within microseconds, or much later.
class patience {
 public:
  void pass()
  {
    ++rounds_;
    if (rounds_ < 200) { return; }
    if (rounds_ < 2000) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(rounds_ < 10000 ? 20 : 500));
    }
  }
  void reset() { rounds_ = 0; }

 private:
  int rounds_ = 0;
};

}  // namespace

void message::append(void const* bytes, std::int64_t count)
{
  if (count == 0) { return; }
  if (size_ + count > capacity()) {
    message larger(std::max(2 * capacity(), checked_sum("bytes of a message", size_, count)));
    if (size_ > 0) { std::memcpy(larger.data(), data(), static_cast<std::size_t>(size_)); }
    larger.size_ = size_;
    *this = std::move(larger);
  }
  std::memcpy(data() + size_, bytes, static_cast<std::size_t>(count));
  size_ += count;
}

message message_pool::take(std::int64_t capacity)
{
  {
    std::lock_guard const lock(mutex_);
    // The smallest that is large enough; not one that is far too large, which a later call will need.
    std::int64_t const largest = std::max<std::int64_t>(8 * capacity, 1 << 16);
    auto best = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->capacity() >= capacity && at->capacity() <= largest &&
          (best == free_.end() || at->capacity() < best->capacity())) {
        best = at;
      }
    }
    if (best != free_.end()) {
      message out = std::move(*best);
      *best = std::move(free_.back());
      free_.pop_back();
      out.set_size(0);
      return out;
    }
  }
  return message(std::max<std::int64_t>(capacity, 64));
}

void message_pool::give_back(message used)
{
  if (used.capacity() == 0) { return; }
  std::lock_guard const lock(mutex_);
  if (free_.size() < most) { free_.push_back(std::move(used)); }
}

transport::transport(std::unique_ptr<message_engine> engine, seconds deadline)
    : engine_(std::move(engine)), peers_(static_cast<std::size_t>(engine_->size()))
{
  set_deadline(deadline);
  last_beat_ = last_look_ = clock::now();
  for (peer& other : peers_) { other.heard = last_beat_; }
}

void message_engine::wait(std::chrono::microseconds most)
{
  std::this_thread::sleep_for(std::min(most, std::chrono::microseconds(100)));
}

transport::~transport() { leave(); }

void transport::set_deadline(seconds deadline)
{
  TENDRIL_EXPECTS(deadline.count() > 0, "deadline: {} s, expected more than 0", deadline.count());
  deadline_ = deadline;
}

void transport::leave() noexcept
{
  if (std::exchange(left_, true)) { return; }
  try {
    tell_all(message_header::farewell, next_, {});
    auto const end = clock::now() + std::chrono::seconds(2);
    while (!engine_->all_sent(pool_) && clock::now() < end) { (void)listen(); }
  } catch (...) {  // the others notice the silence
  }
}

std::string transport::name_of(int rank) const { return fmt::format("rank {} of {}", rank, size()); }

void transport::send(int to, message sent, message_header header)
{
  if (sent.capacity() == 0) { sent = pool_.take(0); }
  header.from = rank();
  sent.set_header(header);
  engine_->send(to, std::move(sent), pool_);
}

void transport::tell_all(message_header::kinds kind, std::uint64_t number, std::string_view bytes, bool of_argument)
{
  for (int to = 0; to < size(); ++to) {
    if (to == rank()) { continue; }
    message told = pool_.take(std::ssize(bytes));
    told.append(bytes.data(), std::ssize(bytes));
    send(to, std::move(told), {.kind = kind, .number = number, .service = of_argument ? 1 : 0});
  }
}

transport::call_number transport::begin(std::string_view what, std::span<message> outgoing)
{
  return begin(what, outgoing, std::nullopt);
}

transport::call_number transport::begin(std::string_view what, std::span<message> outgoing, std::optional<int> only,
                                        message_header::kinds kind, bool of_argument)
{
  TENDRIL_EXPECTS(std::ssize(outgoing) == size(), "{}: {} messages, expected one a rank: {}", what, outgoing.size(),
                  size());
  if (told_failure_) {  // or ranks that failed at the same place would go on together
    expect_no_failure();
    throw rank_error(rank(), fmt::format("{} has failed before, and makes no more calls", name_of(rank())));
  }
  call_number const number = next_++;
  refused_by_.reset();
  open_call& call = calls_[number];
  call.what = what;
  call.only = only;
  call.arrived.resize(peers_.size());
  ++report_.num_calls;
  bool const sends = !only || *only == rank();
  for (int to = 0; to < size(); ++to) {
    message& sent = outgoing[static_cast<std::size_t>(to)];
    if (to == rank()) {
      call.arrived[static_cast<std::size_t>(to)] = std::move(sent);
      continue;
    }
    if (!sends) { continue; }
    message_header header{.kind = kind, .number = number, .service = of_argument ? 1 : 0};
    copy_name(what, header.what);
    report_.sent_bytes += sent.size();
    send(to, std::move(sent), header);
  }
  return number;
}

bool transport::waits_for(open_call const& call, int from) const
{
  return (!call.only || *call.only == from) && !call.arrived[static_cast<std::size_t>(from)];
}

bool transport::is_complete(open_call const& call) const
{
  for (int from = 0; from < size(); ++from) {
    if (waits_for(call, from)) { return false; }
  }
  return true;
}

transport::failure const* transport::first_failure() const noexcept
{
  for (peer const& other : peers_) {
    if (other.failed) { return &*other.failed; }
  }
  return nullptr;
}

void transport::expect_no_failure() const
{
  if (auto const* const failed = first_failure()) { throw rank_error(failed->rank, failed->line, failed->of_argument); }
}

void transport::expect_taken_part(open_call const& call, message const& arrived)
{
  message_header const header = arrived.header();
  if (header.kind == message_header::refusal) {
    refused_by_ = header.from;
    throw rank_error(header.from, std::string(dist::text_of(arrived)), header.service != 0);
  }
  char mine[sizeof header.what];
  copy_name(call.what, mine);
  if (std::strncmp(mine, header.what, sizeof mine) == 0) { return; }
  throw rank_error(header.from, fmt::format("{} calls '{}' where rank {} calls '{}' (call {}): all ranks must make the "
                                            "same calls",
                                            name_of(header.from), header.what, rank(), call.what, header.number));
}

void transport::expect_others_alive(call_number number, open_call const& call)
{
  for (int other = 0; other < size(); ++other) {
    if (!waits_for(call, other)) { continue; }
    peer const& missing = peers_[static_cast<std::size_t>(other)];
    if (missing.calls_made && *missing.calls_made <= number) {
      throw rank_error(other, fmt::format("{} has ended after {} calls, while rank {} waits for it in '{}'",
                                          name_of(other), *missing.calls_made, rank(), call.what));
    }
    seconds const silence = last_look_ - missing.heard;
    if (silence > deadline_) {
      throw rank_error(other,
                       fmt::format("{}: nothing was heard of it for {:.3g} s, while rank {} waits for it in '{}'",
                                   name_of(other), silence.count(), rank(), call.what));
    }
  }
}

void transport::take_in(message arrived)
{
  message_header const header = arrived.header();
  if (header.from < 0 || header.from >= size()) { return; }
  peer& from = peers_[static_cast<std::size_t>(header.from)];
  from.heard = clock::now();
  arrived.set_size(header.num_bytes);
  switch (header.kind) {
    case message_header::failure:
    case message_header::echo:
      from.failed = {static_cast<int>(header.number), std::string(dist::text_of(arrived)),
                     header.kind == message_header::echo, header.service != 0};
      break;
    case message_header::farewell: from.calls_made = header.number; break;
    case message_header::beat: from.done = static_cast<std::int64_t>(header.number); break;
    default: {
      open_call& call = calls_[header.number];  // which this rank may not have begun yet
      call.arrived.resize(peers_.size());
      call.arrived[static_cast<std::size_t>(header.from)] = std::move(arrived);
      return;
    }
  }
  pool_.give_back(std::move(arrived));
}

void transport::excuse_silence_while_away()
{
  auto const now = clock::now();
  auto const away = now - std::exchange(last_look_, now);
  if (away < deadline_ / dist::beats_a_deadline) { return; }
  for (peer& other : peers_) { other.heard += away; }
}

bool transport::listen()
{
  excuse_silence_while_away();
  bool heard = false;
  while (auto arrived = engine_->receive(pool_)) {
    take_in(std::move(*arrived));
    heard = true;
  }
  (void)engine_->all_sent(pool_);
  return heard;
}

void transport::beat_if_due()
{
  auto const now = clock::now();
  if (now - last_beat_ < std::min(dist::longest_pause_between_beats, deadline_ / dist::beats_a_deadline)) { return; }
  last_beat_ = now;
  tell_all(message_header::beat, static_cast<std::uint64_t>(done_), {});
  if (on_wait) { on_wait(); }
}

std::int64_t transport::done_by_all() const noexcept
{
  std::int64_t out = done_;
  for (peer const& other : peers_) { out += other.done; }
  return out;
}

void transport::beat(std::int64_t done)
{
  done_ = done;
  beat_if_due();
  (void)listen();
  expect_no_failure();
}

void transport::beat_during(std::function<void()> const& work)
{
  std::future<void> done = std::async(base::aside, work);  // a beat that throws waits for it
  beat_until(done);
}

void transport::beat_until(std::future<void>& done)
{
  auto const pause = std::min(dist::longest_pause_between_beats, deadline_ / dist::beats_a_deadline);
  while (done.wait_for(pause) == std::future_status::timeout) { beat(); }
  done.get();
  beat();
}

std::vector<message> transport::finish(call_number number)
{
  auto const found = calls_.find(number);
  TENDRIL_EXPECTS(found != calls_.end() && number < next_, "call {}, expected one that was begun", number);
  open_call& call = found->second;
  auto const since = clock::now();
  for (peer& other : peers_) { other.heard = std::max(other.heard, since); }
  patience wait;
  while (!is_complete(call)) {
    if (listen()) {
      wait.reset();
    } else {
      wait.pass();
      beat_if_due();
    }
    expect_no_failure();
    if (!is_complete(call)) { expect_others_alive(number, call); }
  }
  report_.waited_seconds += seconds(clock::now() - since).count();
  open_call ended = std::move(call);
  calls_.erase(found);
  std::vector<message> out(peers_.size());
  for (int from = 0; from < size(); ++from) {
    auto& arrived = ended.arrived[static_cast<std::size_t>(from)];
    if (!arrived) { continue; }
    if (from != rank()) { expect_taken_part(ended, *arrived); }
    out[static_cast<std::size_t>(from)] = std::move(*arrived);
  }
  return out;
}

void transport::refuse(std::string_view why, bool of_argument) noexcept
{
  try {
    std::string const line = fmt::format("{}: {}", name_of(rank()), why);
    std::vector<message> told(peers_.size());
    for (message& m : told) {
      m = pool_.take(std::ssize(line));
      m.append(line.data(), std::ssize(line));
    }
    (void)finish(begin("", told, {}, message_header::refusal, of_argument));
  } catch (...) {  // what is wrong with others, their next call tells
  }
  refused_by_ = rank();
}

std::vector<std::string> transport::all_gather(std::string_view what, std::string_view given)
{
  std::vector<message> out(peers_.size());
  for (message& m : out) {
    m = pool_.take(std::ssize(given));
    m.append(given.data(), std::ssize(given));
  }
  std::vector<std::string> gathered;
  for (message& m : all_to_all(what, out)) {
    gathered.emplace_back(dist::text_of(m));
    pool_.give_back(std::move(m));
  }
  return gathered;
}

void transport::all_reduce(std::string_view what, std::span<std::int64_t> values, reduction op)
{
  std::string_view const mine(reinterpret_cast<char const*>(values.data()), values.size_bytes());
  std::vector<std::string> const all = all_gather(what, mine);
  for (int from = 0; from < size(); ++from) {
    std::string const& theirs = all[static_cast<std::size_t>(from)];
    if (theirs.size() != values.size_bytes()) {
      throw rank_error(from, fmt::format("{} gives {} values to '{}', rank {} gives {}", name_of(from),
                                         theirs.size() / sizeof(std::int64_t), what, rank(), values.size()));
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t from = 0; from < all.size(); ++from) {
      std::int64_t value = 0;
      std::memcpy(&value, all[from].data() + i * sizeof value, sizeof value);
      if (from == 0) {
        values[i] = value;
      } else if (op == reduction::sum) {
        values[i] = checked_sum(std::string(what).c_str(), values[i], value);
      } else {
        values[i] = op == reduction::min ? std::min(values[i], value) : std::max(values[i], value);
      }
    }
  }
}

std::string transport::broadcast(std::string_view what, std::string_view given, int root)
{
  TENDRIL_EXPECTS(root >= 0 && root < size(), "root: {}, expected a rank below {}", root, size());
  std::vector<message> out(peers_.size());
  if (rank() == root) {
    for (message& m : out) {
      m = pool_.take(std::ssize(given));
      m.append(given.data(), std::ssize(given));
    }
  }
  auto const arrived = finish(begin(what, out, root));
  return std::string(dist::text_of(arrived[static_cast<std::size_t>(root)]));
}

void transport::fail(std::string_view why, std::optional<int> about, bool of_argument) noexcept
{
  if (std::exchange(told_failure_, true)) { return; }
  try {
    auto const* const before = first_failure();
    if (before != nullptr && !is_own_refusal(*before)) {
      tell_all(message_header::echo, static_cast<std::uint64_t>(before->rank), before->line, before->of_argument);
      return;
    }
    std::string const line = about ? std::string(why) : fmt::format("{}: {}", name_of(rank()), why);
    failed_by_itself_ = !about || about == rank() || about != refused_by_;
    tell_all(failed_by_itself_ ? message_header::failure : message_header::echo,
             static_cast<std::uint64_t>(about.value_or(rank())), line, of_argument);
  } catch (...) {  // the others notice the silence
  }
}

bool transport::all_ended() const noexcept
{
  for (int other = 0; other < size(); ++other) {
    peer const& there = peers_[static_cast<std::size_t>(other)];
    if (other != rank() && !there.failed && !there.calls_made) { return false; }
  }
  return true;
}

bool transport::speaks(std::string_view why, std::optional<int> about, seconds wait, bool of_argument) noexcept
{
  try {
    (void)listen();
    fail(why, about, of_argument);
    auto const end = clock::now() + wait;
    while (!all_ended() && clock::now() < end) {
      if (!listen()) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
    }
    return failed_by_itself_ && std::none_of(peers_.begin(), peers_.begin() + rank(),
                                             [](peer const& lower) { return lower.failed && !lower.failed->is_echo; });
  } catch (...) {
    return true;
  }
}

bool started_by_mpi() noexcept
{
  for (char const* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    char const* const size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1) { return true; }
  }
  return false;
}

}  // namespace tendril
