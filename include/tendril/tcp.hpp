#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tendril/transport.hpp>

// Ranks as processes that talk over TCP, on one machine or several: for launchers without MPI, such as torchrun.

namespace tendril {

/// One rank's end of the connections to be. Ranks tell each other their addresses by other means (the launcher's store, a
/// file), and then connect.
class tcp_listener {
 public:
  /// Listens on a free port.
  /// @param host  A name or number of this machine that the other ranks reach: "127.0.0.1" where all are on one machine.
  /// @throws io_error  a host that isn't this machine's, or no port.
  explicit tcp_listener(std::string const& host);
  tcp_listener(tcp_listener&& other) noexcept;
  tcp_listener& operator=(tcp_listener&&) = delete;
  ~tcp_listener();

  /// "host:port", for the other ranks.
  [[nodiscard]] std::string const& address() const noexcept { return address_; }

  /// Connects every rank with every other, by one connection for each engine. Strangers, who don't know the secret, are turned
  /// away.
  /// @param rank       This one's.
  /// @param addresses  [ranks] of all ranks, this one's included.
  /// @param secret     The same on all ranks, and known to nobody else: ranks of two jobs don't get mixed up. At most 60 bytes
  ///                   count. Nothing is encrypted: the network must be trusted.
  /// @param patience   For the others to connect.
  /// @param num_engines  The same on all ranks.
  /// @param check_cancel  Called now and then; what it throws ends the wait.
  /// @throws argument_error  a rank that is none of them, an address that is none; rank_error  naming a rank that doesn't answer
  ///                         in time.
  [[nodiscard]] std::vector<std::unique_ptr<message_engine>> connect(
      int rank, std::span<std::string const> addresses, std::string const& secret,
      std::chrono::duration<double> patience, int num_engines, std::function<void()> const& check_cancel = {}) const;
  /// One engine.
  [[nodiscard]] std::unique_ptr<message_engine> connect(int rank, std::span<std::string const> addresses,
                                                        std::string const& secret,
                                                        std::chrono::duration<double> patience) const
  {
    return std::move(connect(rank, addresses, secret, patience, 1)[0]);
  }

 private:
  int socket_ = -1;
  std::string address_;
};

}  // namespace tendril
