#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/error.hpp>

// How ranks talk: the processes of an MPI job, or threads of one process. An engine moves messages from rank to rank; a
// transport makes calls of them that all ranks take part in, and ends them with one line where a rank fails, falls silent or
// calls something else.

namespace tendril {

/// A rank that failed, fell silent, or called something else; what() names it.
class rank_error : public error {
 public:
  rank_error(int rank, std::string const& what, bool of_argument = false)
      : error(what), rank_(rank), of_argument_(of_argument)
  {
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// Whether the rank failed by an argument_error: the CLI then exits with 2 on every rank, else with 1.
  [[nodiscard]] bool of_argument() const noexcept { return of_argument_; }

 private:
  int rank_;
  bool of_argument_;
};

/// What goes before the bytes of every message.
struct message_header {
  enum kinds : std::uint32_t {
    call,     ///< Part of a call of all ranks.
    refusal,  ///< In the place of such a part: the sender can't take part in this call. The bytes say why, and name it.
    beat,     ///< The sender is alive, and busy; `number` is what it has done.
    failure,  ///< The sender can't go on: the bytes are a line that names the rank `number`, itself or another; `service` is 1
              ///< where that rank's argument was wrong. Of a refusal and an echo, too.
    echo,      ///< The sender can't go on, and passes on the line of a failure that it was told of.
    farewell,  ///< The sender makes no more calls: it has made `number`, or, of a rank_service, `service` offers.
    // Of a rank_service:
    offer,       ///< The sender answers questions of `service`, which the bytes describe.
    withdrawal,  ///< The sender asks no more questions of `service`; it has asked the receiver `number`.
    question,    ///< To `service`; the answer gets the same number.
    answer
  };
  std::uint32_t kind = call;
  std::int32_t from = 0;
  std::uint64_t number = 0;    ///< Of the call, from 0.
  std::int64_t num_bytes = 0;  ///< That follow.
  std::int32_t service = 0;
  char what[36] = {};  ///< The name of the call, for messages.
};
static_assert(sizeof(message_header) == 64);

/// Bytes from one rank to another, behind a header. The bytes begin at a multiple of 64. Move-only; the storage outlives
/// its content, so that messages can be used again.
class message {
 public:
  message() = default;
  /// Empty, with room for so many bytes.
  explicit message(std::int64_t capacity) : storage_(checked_sum("bytes of a message", capacity, overhead)) {}

  [[nodiscard]] std::int64_t capacity() const noexcept { return storage_.empty() ? 0 : storage_.size() - overhead; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// Null without storage.
  [[nodiscard]] std::byte* data() noexcept
  {
    return storage_.empty() ? nullptr : storage_.data() + sizeof(message_header);
  }
  [[nodiscard]] std::byte const* data() const noexcept
  {
    return storage_.empty() ? nullptr : storage_.data() + sizeof(message_header);
  }
  [[nodiscard]] std::span<std::byte const> bytes() const noexcept
  {
    return size_ == 0 ? std::span<std::byte const>() : std::span(data(), static_cast<std::size_t>(size_));
  }

  /// @param size  At most capacity(). Bytes beyond the former size are whatever they are.
  void set_size(std::int64_t size) noexcept { size_ = size; }

  /// Appends bytes; the storage grows where it must.
  void append(void const* bytes, std::int64_t count);

  /// Header and bytes as engines send them, in blocks of 64 bytes.
  [[nodiscard]] std::byte* blocks() noexcept { return storage_.data(); }
  [[nodiscard]] std::int64_t num_blocks() const noexcept
  {
    return 1 + (size_ + static_cast<std::int64_t>(sizeof(message_header)) - 1) /
                   static_cast<std::int64_t>(sizeof(message_header));
  }

  [[nodiscard]] message_header header() const noexcept
  {
    message_header out;
    std::memcpy(&out, storage_.data(), sizeof out);
    return out;
  }
  /// Completes a message that is sent. @param header  Whose num_bytes becomes size().
  void set_header(message_header header) noexcept
  {
    header.num_bytes = size_;
    std::memcpy(storage_.data(), &header, sizeof header);
  }

 private:
  static constexpr std::int64_t overhead = 2 * sizeof(message_header);  // the header, and the rest of the last block

  buffer<std::byte> storage_;
  std::int64_t size_ = 0;
};

/// Messages whose storage waits to be used again. Any thread may call.
class message_pool {
 public:
  /// An empty message with room for `capacity` bytes.
  [[nodiscard]] message take(std::int64_t capacity);
  void give_back(message used);

 private:
  static constexpr std::size_t most = 64;
  std::mutex mutex_;
  std::vector<message> free_;
};

/// Moves messages between ranks. Not thread-safe: each rank's engine belongs to one thread.
class message_engine {
 public:
  virtual ~message_engine() = default;
  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;

  /// Takes a message with its header, and sends it without waiting for the receiver.
  virtual void send(int to, message sent, message_pool& pool) = 0;

  /// A message that has arrived as a whole, from any rank; nothing if there is none. Messages may come in any order.
  [[nodiscard]] virtual std::optional<message> receive(message_pool& pool) = 0;

  /// Whether all that was sent has left this rank.
  [[nodiscard]] virtual bool all_sent(message_pool& pool) = 0;

  /// Waits until there may be something to receive, for a moment at most. Engines that can wait without a core do.
  virtual void wait(std::chrono::microseconds most);
  /// Ends the wait of the engine's thread. The one member that any thread may call.
  virtual void wake() noexcept {}
};

/// What a transport has done so far.
struct transport_report {
  std::int64_t num_calls = 0;
  std::int64_t sent_bytes = 0;  ///< To other ranks, without headers; those of their GPUs included.
  double waited_seconds = 0;    ///< For messages of others.
};

enum class reduction { sum, min, max };

/// Calls in which every rank takes part, by the order in which they are begun. A call has a name, which all ranks must
/// agree on. Not thread-safe.
///
/// Every waiting call throws rank_error, which names the rank, if a rank failed, if nothing was heard of a missing rank for
/// `deadline`, if it makes another call, or if it has made its last.
class transport {
 public:
  using seconds = std::chrono::duration<double>;
  static constexpr seconds usual_deadline{300};

  explicit transport(std::unique_ptr<message_engine> engine, seconds deadline = usual_deadline);
  transport(transport const&) = delete;
  transport& operator=(transport const&) = delete;
  /// Says farewell to the others, who need not have ended.
  ~transport();

  [[nodiscard]] int rank() const noexcept { return engine_->rank(); }
  [[nodiscard]] int size() const noexcept { return engine_->size(); }

  /// The number of a call.
  using call_number = std::uint64_t;

  /// Begins an all-to-all of bytes: message r goes to rank r, this rank's own included. Returns before anything has
  /// arrived, so that a rank can work meanwhile; other calls may be begun before it is finished.
  /// @param outgoing  [size()], moved from.
  /// @param what      A name of at most 35 characters.
  [[nodiscard]] call_number begin(std::string_view what, std::span<message> outgoing);

  /// Waits for the call's messages. @return [size()], by the rank that sent them. @throws rank_error.
  [[nodiscard]] std::vector<message> finish(call_number call);

  /// Both at once.
  [[nodiscard]] std::vector<message> all_to_all(std::string_view what, std::span<message> outgoing)
  {
    return finish(begin(what, outgoing));
  }

  /// Replaces each value by the sum, the least or the largest of all ranks' values.
  void all_reduce(std::string_view what, std::span<std::int64_t> values, reduction op);
  [[nodiscard]] std::int64_t all_reduce(std::string_view what, std::int64_t value, reduction op)
  {
    all_reduce(what, std::span(&value, 1), op);
    return value;
  }

  /// What each rank gives, in the order of ranks.
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view what, std::string_view given);

  /// The bytes of `root`, for all ranks.
  [[nodiscard]] std::string broadcast(std::string_view what, std::string_view given, int root = 0);

  /// Returns once every rank is there.
  void barrier(std::string_view what) { (void)all_reduce(what, 0, reduction::sum); }

  /// For long work between calls: now and then tells the others that this rank is alive, and how much it has done. Cheap where
  /// it has told them a moment ago. @throws rank_error if another rank has failed.
  void beat(std::int64_t done);
  void beat() { beat(done_); }

  /// Does what can't beat in its midst, such as a write to a slow disk, on a thread of its own, and beats meanwhile.
  /// @param work  Makes no calls. @throws what it throws; when it has ended, rank_error as beat.
  void beat_during(std::function<void()> const& work);

  /// Waits for such work, which was begun before, and beats meanwhile. @throws as beat_during.
  void beat_until(std::future<void>& done);

  /// What all ranks have done, as far as this one was told.
  [[nodiscard]] std::int64_t done_by_all() const noexcept;

  /// Called now and then by calls that wait: a progress bar may go on there.
  std::function<void()> on_wait = {};

  void set_deadline(seconds deadline);
  [[nodiscard]] seconds deadline() const noexcept { return deadline_; }

  /// Takes part in the next call by refusing it, where this rank's arguments are wrong: the others' finish() throws
  /// rank_error, which names this rank and says why. Unlike after fail(), all ranks can go on with their next call. Waits
  /// as the call would, which is one in which every rank sends.
  /// @param of_argument  As that of rank_error.
  void refuse(std::string_view why, bool of_argument = false) noexcept;

  /// prepare(), which checks and prepares what this rank gives to the next call. If it throws, the call is refused.
  template <class Prepare>
  auto or_refuse(Prepare&& prepare)
  {
    try {
      return std::forward<Prepare>(prepare)();
    } catch (argument_error const& e) {
      refuse(e.what(), true);
      throw;
    } catch (std::exception const& e) {
      refuse(e.what());
      throw;
    }
  }

  /// work(), for which other ranks wait. If it throws, they are told at once, by fail(), even if the caller catches what
  /// was thrown. A call that was refused has ended on all ranks: then nothing is told.
  template <class Work>
  auto or_fail(Work&& work)
  {
    call_number const first = next_;
    try {
      return std::forward<Work>(work)();
    } catch (rank_error const& e) {
      if (!was_refused_since(first)) { fail(e.what(), e.rank(), e.of_argument()); }
      throw;
    } catch (argument_error const& e) {
      if (!was_refused_since(first)) { fail(e.what(), {}, true); }
      throw;
    } catch (std::exception const& e) {
      if (!was_refused_since(first)) { fail(e.what()); }
      throw;
    }
  }

  /// The number that the next call will have.
  [[nodiscard]] call_number next_call() const noexcept { return next_; }
  /// Whether a rank refused the last call, and this is not one before `first`.
  [[nodiscard]] bool was_refused_since(call_number first) const noexcept { return refused_by_ && next_ > first; }

  /// Tells the others that this rank can't go on, and why; their calls end. Only the first time. Where another rank has
  /// failed before, that is passed on instead.
  /// @param about  The rank that `why` names, as rank_error does; without it `why` is about this rank, and its name goes
  ///               before it.
  /// @param of_argument  As that of rank_error.
  void fail(std::string_view why, std::optional<int> about = {}, bool of_argument = false) noexcept;

  /// After an exception: tells the others, hears what they have to say for `patience`, and decides who speaks.
  /// @return whether this rank does: the lowest one that failed by itself. All others keep silent.
  [[nodiscard]] bool speaks(std::string_view why, std::optional<int> about = {}, seconds patience = seconds(2),
                            bool of_argument = false) noexcept;

  /// Tells the others that this rank makes no more calls. Only the first time.
  void leave() noexcept;

  /// Whether this rank or another one that it heard of has failed.
  [[nodiscard]] bool has_failed() const noexcept { return told_failure_ || first_failure() != nullptr; }

  /// Whether every other rank has said its last word: it failed, or makes no more calls.
  [[nodiscard]] bool all_ended() const noexcept;

  /// Messages to be filled; finished ones are given back.
  [[nodiscard]] message_pool& pool() noexcept { return pool_; }

  [[nodiscard]] transport_report const& report() const noexcept { return report_; }
  /// Counts bytes that went to other ranks by other means, such as NCCL.
  void count_sent(std::int64_t bytes) noexcept { report_.sent_bytes += bytes; }

 private:
  using clock = std::chrono::steady_clock;

  struct open_call {
    std::string what;
    std::vector<std::optional<message>> arrived;  // [size]
    std::optional<int> only;                      // the one rank that sends, of a broadcast
  };
  struct failure {
    int rank;  // that the line names
    std::string line;
    bool is_echo;
    bool of_argument;
  };
  /// What another rank was heard to say.
  struct peer {
    clock::time_point heard;
    std::optional<failure> failed;
    std::optional<std::uint64_t> calls_made;  // once it has said farewell
    std::int64_t done = 0;
  };

  [[nodiscard]] call_number begin(std::string_view what, std::span<message> outgoing, std::optional<int> only,
                                  message_header::kinds kind = message_header::call, bool of_argument = false);
  void send(int to, message sent, message_header header);
  void tell_all(message_header::kinds kind, std::uint64_t number, std::string_view bytes, bool of_argument = false);
  [[nodiscard]] failure const* first_failure() const noexcept;
  /// Others may have spoken while this rank did not listen: suspended, without a core, or in a callback.
  void excuse_silence_while_away();
  /// Takes in all that has arrived. @return whether there was something.
  bool listen();
  void take_in(message arrived);
  void beat_if_due();
  [[nodiscard]] bool is_complete(open_call const& call) const;
  [[nodiscard]] bool waits_for(open_call const& call, int rank) const;
  void expect_no_failure() const;
  void expect_others_alive(call_number number, open_call const& call);
  /// @throws rank_error  if the sender refused the call, or made another one.
  void expect_taken_part(open_call const& call, message const& arrived);
  /// Whether another rank passes on why this one refused the last call.
  [[nodiscard]] bool is_own_refusal(failure const& told) const noexcept
  {
    return told.is_echo && told.rank == rank() && refused_by_ == rank();
  }
  [[nodiscard]] std::string name_of(int rank) const;

  std::unique_ptr<message_engine> engine_;
  seconds deadline_;
  message_pool pool_;
  std::map<call_number, open_call> calls_;
  std::vector<peer> peers_;
  call_number next_ = 0;
  clock::time_point last_beat_;
  clock::time_point last_look_;
  std::int64_t done_ = 0;
  bool told_failure_ = false, failed_by_itself_ = false, left_ = false;
  std::optional<int> refused_by_;  // the last call that has begun
  transport_report report_;
};

/// Runs `work` as `num_ranks` ranks, a thread each, and returns when all have ended. For tests, and for one process that
/// holds several parts of a graph.
/// @param wrap  May put an engine around each rank's.
/// @throws what the lowest rank threw that failed by itself.
void run_ranks(int num_ranks, std::function<void(transport&)> const& work,
               transport::seconds deadline = transport::usual_deadline,
               std::function<std::unique_ptr<message_engine>(std::unique_ptr<message_engine>)> const& wrap = {});

/// Whether this process was started by mpirun, or by a launcher that speaks its language, as one of several.
[[nodiscard]] bool started_by_mpi() noexcept;

}  // namespace tendril
