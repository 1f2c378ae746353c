// Messages over TCP: each pair of ranks has one connection, which never waits. A message goes out and comes in as its blocks,
// header first; what the system doesn't take at once follows when this rank sends, receives or waits the next time.

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/tcp.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {
namespace {

using clock = std::chrono::steady_clock;

/// A file descriptor that is closed.
class descriptor {
 public:
  explicit descriptor(int fd = -1) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept
  {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor()
  {
    if (fd_ >= 0) { close(fd_); }
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// What a rank says first on a connection.
struct greeting {
  char magic[8] = {'t', 'e', 'n', 'd', 'r', 'i', 'l', '1'};
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t channel = 0;
  char secret[60] = {};

  [[nodiscard]] bool is_of(greeting const& job) const
  {
    return std::memcmp(magic, job.magic, sizeof magic) == 0 && size == job.size &&
           std::memcmp(secret, job.secret, sizeof secret) == 0;
  }
};

struct free_addresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using address_list = std::unique_ptr<addrinfo, free_addresses>;

/// @throws io_error  for a host that nobody knows.
address_list look_up(std::string const& host, std::string const& port, int flags)
{
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  int const code = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
  if (code != 0) { throw io_error(fmt::format("{}: {}", host, gai_strerror(code))); }
  return address_list(found);
}

/// Host and port. @throws argument_error.
std::pair<std::string, std::string> split(std::string const& address)
{
  std::size_t const colon = address.rfind(':');
  TENDRIL_EXPECTS(colon != std::string::npos && colon > 0 && colon + 1 < address.size(),
                  "address '{}', expected 'host:port'", address);
  return {address.substr(0, colon), address.substr(colon + 1)};
}

void make_ready(int fd)
{
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);  // NOLINT
  int const on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  int const bytes = 4 << 20;  // so that a message leaves while this rank works
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/// Waits until a connection can be read or written. @return whether it can before `end`.
bool await(int fd, short what, clock::time_point end)
{
  pollfd one{fd, what, 0};
  for (;;) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    if (left <= 0) { return false; }
    int const ready = poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, 1000)));
    if (ready > 0) { return true; }
    if (ready < 0 && errno != EINTR) { return false; }
  }
}

/// Sends or receives all of something, or gives up at `end`.
template <class Transfer, class Bytes>
bool whole(int fd, Bytes* data, std::size_t size, short what, clock::time_point end, Transfer transfer)
{
  while (size > 0) {
    if (!await(fd, what, end)) { return false; }
    ssize_t const moved = transfer(fd, data, size);
    if (moved > 0) {
      data += moved;
      size -= static_cast<std::size_t>(moved);
    } else if (moved == 0 || (errno != EAGAIN && errno != EINTR)) {
      return false;
    }
  }
  return true;
}
bool send_greeting(int fd, greeting const& said, clock::time_point end)
{
  return whole(fd, reinterpret_cast<char const*>(&said), sizeof said, POLLOUT, end,
               [](int to, char const* data, std::size_t size) { return ::send(to, data, size, MSG_NOSIGNAL); });
}
std::optional<greeting> receive_greeting(int fd, clock::time_point end)
{
  greeting heard;
  bool const came = whole(fd, reinterpret_cast<char*>(&heard), sizeof heard, POLLIN, end,
                          [](int from, char* data, std::size_t size) { return ::recv(from, data, size, 0); });
  return came ? std::optional(heard) : std::nullopt;
}

/// One connection, with what is on its way.
class connection {
 public:
  explicit connection(descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] bool has_sent_all() const { return going_.empty() || !open_; }
  /// Whether the rank there said that it makes no more calls, or why.
  [[nodiscard]] bool has_said_its_last() const { return last_word_; }

  void send(message content, message_pool& pool)
  {
    going_.push_back(std::move(content));
    push(pool);
  }

  /// Sends as much as the system takes.
  void push(message_pool& pool)
  {
    while (open_ && !going_.empty()) {
      message& first = going_.front();
      auto const size = static_cast<std::size_t>(first.num_blocks()) * sizeof(message_header);
      ssize_t const moved = ::send(fd(), first.blocks() + sent_, size - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (moved < 0) {
        if (errno == EINTR) { continue; }
        if (errno != EAGAIN && errno != EWOULDBLOCK) { open_ = false; }
        return;
      }
      sent_ += static_cast<std::size_t>(moved);
      if (sent_ < size) { continue; }
      pool.give_back(std::move(first));
      going_.pop_front();
      sent_ = 0;
    }
  }

  /// A message that is here as a whole. @throws io_error for bytes that are no message.
  [[nodiscard]] std::optional<message> pull(int from, message_pool& pool)
  {
    while (open_) {
      bool const head = came_ < sizeof(message_header);
      std::byte* const to = head ? reinterpret_cast<std::byte*>(&header_) + came_ : coming_.blocks() + came_;
      std::size_t const size = head ? sizeof(message_header) : expected_;
      if (came_ < size) {
        ssize_t const moved = ::recv(fd(), to, size - came_, MSG_DONTWAIT);
        if (moved < 0 && errno == EINTR) { continue; }
        if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) { return std::nullopt; }
        if (moved <= 0) {
          open_ = false;
          return std::nullopt;
        }
        came_ += static_cast<std::size_t>(moved);
        if (came_ < size) { continue; }
        if (head) { begin_message(from, pool); }
      }
      if (came_ == expected_) {
        came_ = 0;
        expected_ = sizeof(message_header);
        coming_.set_header(header_);
        last_word_ = last_word_ || header_.kind == message_header::farewell ||
                     header_.kind == message_header::failure || header_.kind == message_header::echo;
        return std::move(coming_);
      }
    }
    return std::nullopt;
  }

  void say_no_more() { shutdown(fd(), SHUT_WR); }

  /// What to wait for; nothing of a connection that is closed.
  [[nodiscard]] pollfd awaited() const
  {
    return {open_ ? fd() : -1, static_cast<short>(going_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  }

 private:
  /// The header has come.
  void begin_message(int from, message_pool& pool)
  {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
    if (header_.from != from || header_.num_bytes < 0 || header_.num_bytes > most_bytes ||
        header_.kind > message_header::answer) {
      throw io_error(fmt::format("what came over the connection to rank {} is no message", from));
    }
    coming_ = pool.take(header_.num_bytes);
    coming_.set_size(header_.num_bytes);
    expected_ = static_cast<std::size_t>(coming_.num_blocks()) * sizeof(message_header);
  }

  descriptor socket_;
  bool open_ = true, last_word_ = false;
  std::deque<message> going_;
  std::size_t sent_ = 0;  // of the first
  message_header header_;
  message coming_;
  std::size_t came_ = 0, expected_ = sizeof(message_header);
};

class tcp_engine final : public message_engine {
 public:
  /// @param sockets  [ranks] to each; that of this rank is none.
  tcp_engine(int rank, std::vector<descriptor> sockets) : rank_(rank), bell_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))
  {
    for (descriptor& socket : sockets) { peers_.emplace_back(std::move(socket)); }
  }

  /// Says the end, and hears what others still send: a connection that is closed before would take back what was sent.
  ~tcp_engine() override
  {
    auto const end = clock::now() + std::chrono::seconds(1);
    for_each_peer([](connection& peer, int) { peer.say_no_more(); });
    message_pool pool;
    try {
      bool any = true;
      while (any && clock::now() < end) {
        any = false;
        for_each_peer([&](connection& peer, int from) {
          while (peer.pull(from, pool)) {}
          any = any || peer.is_open();
        });
        if (any) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
      }
    } catch (...) {  // nobody is left who would read it
    }
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return static_cast<int>(peers_.size()); }

  void send(int to, message sent, message_pool& pool) override
  {
    peers_[static_cast<std::size_t>(to)].send(std::move(sent), pool);
  }

  [[nodiscard]] std::optional<message> receive(message_pool& pool) override
  {
    for (int k = 0; k < size(); ++k) {
      next_ = (next_ + 1) % size();
      if (next_ == rank_) { continue; }
      connection& peer = peers_[static_cast<std::size_t>(next_)];
      if (auto came = peer.pull(next_, pool)) { return came; }
      if (!peer.is_open() && !peer.has_said_its_last()) {
        throw rank_error(next_, fmt::format("rank {} of {} has ended without a word", next_, size()));
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool all_sent(message_pool& pool) override
  {
    bool out = true;
    for_each_peer([&](connection& peer, int) {
      peer.push(pool);
      out = out && peer.has_sent_all();
    });
    return out;
  }

  void wait(std::chrono::microseconds most) override
  {
    awaited_.clear();
    for_each_peer([&](connection& peer, int) { awaited_.push_back(peer.awaited()); });
    awaited_.push_back({bell_.get(), POLLIN, 0});
    auto const milliseconds = static_cast<int>((most.count() + 999) / 1000);
    if (poll(awaited_.data(), awaited_.size(), milliseconds) > 0 && awaited_.back().revents != 0) {
      std::uint64_t rung = 0;
      (void)!read(bell_.get(), &rung, sizeof rung);
    }
  }
  void wake() noexcept override
  {
    std::uint64_t const one = 1;
    (void)!write(bell_.get(), &one, sizeof one);
  }

 private:
  template <class F>
  void for_each_peer(F&& f)
  {
    for (int r = 0; r < size(); ++r) {
      if (r != rank_) { f(peers_[static_cast<std::size_t>(r)], r); }
    }
  }

  int rank_;
  int next_ = 0;
  std::vector<connection> peers_;
  descriptor bell_;
  std::vector<pollfd> awaited_;
};

/// A socket that is connected to a listener, which may not listen yet. None if it takes too long.
descriptor connect_to(std::string const& address, clock::time_point end, std::function<void()> const& check_cancel)
{
  auto const [host, port] = split(address);
  address_list const found = look_up(host, port, AI_NUMERICSERV);
  while (clock::now() < end) {
    for (addrinfo const* at = found.get(); at != nullptr; at = at->ai_next) {
      descriptor one(socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
      if (!one) { continue; }
      make_ready(one.get());
      if (::connect(one.get(), at->ai_addr, at->ai_addrlen) == 0) { return one; }
      if (errno != EINPROGRESS) { continue; }
      int code = 0;
      socklen_t size = sizeof code;
      if (await(one.get(), POLLOUT, std::min(end, clock::now() + std::chrono::seconds(5))) &&
          getsockopt(one.get(), SOL_SOCKET, SO_ERROR, &code, &size) == 0 && code == 0) {
        return one;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (check_cancel) { check_cancel(); }
  }
  return descriptor();
}

}  // namespace

tcp_listener::tcp_listener(std::string const& host)
{
  address_list const found = look_up(host, "0", AI_PASSIVE | AI_NUMERICSERV);
  std::string why = "no address";
  for (addrinfo const* at = found.get(); at != nullptr; at = at->ai_next) {
    descriptor one(socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (!one || bind(one.get(), at->ai_addr, at->ai_addrlen) != 0 || listen(one.get(), SOMAXCONN) != 0 ||
        getsockname(one.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
      why = std::strerror(errno);
      continue;
    }
    make_ready(one.get());
    int const port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                                       : reinterpret_cast<sockaddr_in&>(bound).sin_port);
    address_ = fmt::format("{}:{}", host, port);
    socket_ = one.release();
    break;
  }
  if (socket_ < 0) { throw io_error(fmt::format("{}: can't listen: {}", host, why)); }
}

tcp_listener::tcp_listener(tcp_listener&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), address_(std::move(other.address_))
{
}

tcp_listener::~tcp_listener()
{
  if (socket_ >= 0) { close(socket_); }
}

std::vector<std::unique_ptr<message_engine>> tcp_listener::connect(int rank, std::span<std::string const> addresses,
                                                                   std::string const& secret,
                                                                   std::chrono::duration<double> patience,
                                                                   int num_engines,
                                                                   std::function<void()> const& check_cancel) const
{
  int const size = static_cast<int>(addresses.size());
  TENDRIL_EXPECTS(rank >= 0 && rank < size, "rank: {}, expected one below {}", rank, size);
  auto const end = clock::now() + std::chrono::duration_cast<clock::duration>(patience);
  greeting mine;
  mine.rank = rank;
  mine.size = size;
  std::copy_n(secret.begin(), std::min(secret.size(), sizeof mine.secret), mine.secret);
  std::vector<std::vector<descriptor>> sockets(static_cast<std::size_t>(num_engines));
  for (auto& of_engine : sockets) { of_engine.resize(addresses.size()); }
  auto const silent = [&](int other) {
    return rank_error(other, fmt::format("rank {} of {}: no connection to it at {} within {:.3g} s", other, size,
                                         addresses[static_cast<std::size_t>(other)], patience.count()));
  };
  // To lower ranks; then higher ones come. Rank 0 waits for all, rank 1 for all but one that waits: no ring of waiters.
  for (int other = 0; other < rank; ++other) {
    for (int channel = 0; channel < num_engines; ++channel) {
      mine.channel = channel;
      descriptor one = connect_to(addresses[static_cast<std::size_t>(other)], end, check_cancel);
      if (!one || !send_greeting(one.get(), mine, end)) { throw silent(other); }
      auto const heard = receive_greeting(one.get(), end);
      if (!heard || !heard->is_of(mine) || heard->rank != other) { throw silent(other); }
      sockets[static_cast<std::size_t>(channel)][static_cast<std::size_t>(other)] = std::move(one);
    }
  }
  for (int missing = num_engines * (size - 1 - rank); missing > 0;) {
    auto const first_missing = [&] {
      int other = rank + 1;
      while (std::all_of(sockets.begin(), sockets.end(),
                         [&](auto const& s) { return static_cast<bool>(s[static_cast<std::size_t>(other)]); })) {
        ++other;
      }
      return other;
    };
    if (!await(socket_, POLLIN, std::min(end, clock::now() + std::chrono::milliseconds(100)))) {
      if (clock::now() >= end) { throw silent(first_missing()); }
      if (check_cancel) { check_cancel(); }
      continue;
    }
    descriptor one(accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
    if (!one) { continue; }
    make_ready(one.get());
    auto const heard = receive_greeting(one.get(), std::min(end, clock::now() + std::chrono::seconds(5)));
    if (!heard || !heard->is_of(mine) || heard->rank <= rank || heard->rank >= size || heard->channel < 0 ||
        heard->channel >= num_engines) {
      continue;
    }
    descriptor& place = sockets[static_cast<std::size_t>(heard->channel)][static_cast<std::size_t>(heard->rank)];
    mine.channel = heard->channel;
    if (place || !send_greeting(one.get(), mine, end)) { continue; }
    place = std::move(one);
    --missing;
  }
  std::vector<std::unique_ptr<message_engine>> out;
  out.reserve(sockets.size());
  for (auto& of_engine : sockets) { out.push_back(std::make_unique<tcp_engine>(rank, std::move(of_engine))); }
  return out;
}

}  // namespace tendril
