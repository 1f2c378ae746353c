// What ranks send each other during walks: chunks of records of one kind each, so that several threads can fill a message, and
// a receiver's threads can share it.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include <tendril/transport.hpp>
#include <tendril/types.hpp>

namespace tendril::dist {

/// A walk: the rank that asked for it, and its number in that rank's batch.
struct walk_name {
  static constexpr int index_bits = 22;
  static constexpr std::uint32_t max_index = (1U << index_bits) - 1;

  std::uint32_t bits;

  [[nodiscard]] static walk_name of(int home, std::int64_t index)
  {
    return {static_cast<std::uint32_t>(home) << index_bits | static_cast<std::uint32_t>(index)};
  }
  [[nodiscard]] int home() const { return static_cast<int>(bits >> index_bits); }
  [[nodiscard]] std::uint32_t index() const { return bits & max_index; }
};

/// Of walks whose walkers are all at the same step.
struct walker_in_step {
  static constexpr std::uint32_t kind = 1;
  walk_name walk;
  vertex_id vertex;
};
struct visit_in_step {
  static constexpr std::uint32_t kind = 2;
  walk_name walk;
  vertex_id vertex;  ///< Where the walk is after the step.
};

/// Of walks whose walkers have taken different numbers of steps.
struct walker_alone {
  static constexpr std::uint32_t kind = 3;
  walk_name walk;
  std::int32_t step;
  vertex_id vertex;  ///< no_vertex: its start, which its home knows.
  vertex_id previous;
};
struct visit_alone {
  static constexpr std::uint32_t kind = 4;
  walk_name walk;
  std::int32_t step;
  vertex_id vertex;
};

/// A walk that has ended before its last step. Homes are told of no other ends.
struct walk_end {
  static constexpr std::uint32_t kind = 8;
  walk_name walk;
  std::int32_t steps;
  std::uint32_t repeats;  ///< 1: the rest of its row is its last vertex.
};

/// Of dynamic walks, which keep step, too: their structs may ask for the start.
struct walker_dynamic {
  static constexpr std::uint32_t kind = 7;
  walk_name walk;
  vertex_id start, vertex, previous;
};

/// Whether previous -> candidate is an edge, asked by a walker that waits.
struct question {
  static constexpr std::uint32_t kind = 5;
  std::uint32_t waiting;  ///< The walker's number at the rank that asks.
  vertex_id previous;
  vertex_id candidate;
};
struct answer {
  static constexpr std::uint32_t kind = 6;
  static constexpr std::uint32_t yes = 1U << 31;
  std::uint32_t waiting_and_yes;
  vertex_id candidate;
};

static_assert(sizeof(walker_in_step) == 8 && sizeof(walker_alone) == 16 && sizeof(walker_dynamic) == 16 &&
              sizeof(question) == 12 && sizeof(walk_end) == 12);

/// A chunk: a head, then records.
struct chunk_head {
  std::uint32_t kind;
  std::uint32_t count;
};
inline constexpr std::int64_t chunk_bytes = 4096;
template <class Record>
inline constexpr std::uint32_t records_a_chunk = (chunk_bytes - sizeof(chunk_head)) / sizeof(Record);

/// What a message of a superstep begins with.
struct superstep_head {
  std::int64_t alive = 0;  ///< Walkers that the sender knows of: those that it sent, kept, or that wait there.
  std::int64_t unused[7] = {};
};
static_assert(sizeof(superstep_head) == 64);

/// A message to one rank in the making: threads take chunks of it.
class outgoing {
 public:
  /// @param num_chunks  That are likely taken at most; more cost a copy.
  void begin(message_pool& pool, std::int64_t num_chunks)
  {
    content_ = pool.take(static_cast<std::int64_t>(sizeof(superstep_head)) + num_chunks * chunk_bytes);
    room_ = num_chunks;
    taken_.store(0, std::memory_order_relaxed);
  }
  [[nodiscard]] std::byte* take_chunk()
  {
    std::int64_t const k = taken_.fetch_add(1, std::memory_order_relaxed);
    if (k < room_) { return content_.data() + sizeof(superstep_head) + k * chunk_bytes; }
    std::lock_guard const lock(more_lock_);
    return more_.emplace_back(chunk_bytes).data();
  }
  [[nodiscard]] message complete(superstep_head const& head)
  {
    std::int64_t const inside = std::min(taken_.load(), room_);
    content_.set_size(static_cast<std::int64_t>(sizeof head) + inside * chunk_bytes);
    std::memcpy(content_.data(), &head, sizeof head);
    for (auto const& chunk : more_) { content_.append(chunk.data(), chunk_bytes); }
    more_.clear();
    return std::move(content_);
  }

 private:
  message content_;
  std::int64_t room_ = 0;
  std::atomic<std::int64_t> taken_{0};
  std::mutex more_lock_;
  std::deque<buffer<std::byte>> more_;
};

/// One thread's way to fill messages with records of one kind. Its chunks tell how many they hold when they are full, and the last
/// ones at its end.
template <class Record>
class record_writer {
 public:
  explicit record_writer(std::span<outgoing> messages) : messages_(messages), places_(messages.size()) {}
  ~record_writer()
  {
    for (place const& p : places_) { p.close(); }
  }
  record_writer(record_writer const&) = delete;
  record_writer& operator=(record_writer const&) = delete;

  void write(int to, Record const& record)
  {
    place& p = places_[static_cast<std::size_t>(to)];
    if (p.next == p.end) {
      p.close();
      p.open(messages_[static_cast<std::size_t>(to)].take_chunk());
    }
    *p.next++ = record;
  }

 private:
  /// The chunk of one message that is being filled; none at first.
  struct place {
    chunk_head* head = nullptr;
    Record *next = nullptr, *end = nullptr;

    void open(std::byte* chunk)
    {
      head = reinterpret_cast<chunk_head*>(chunk);
      next = reinterpret_cast<Record*>(chunk + sizeof(chunk_head));
      end = next + records_a_chunk<Record>;
    }
    void close() const
    {
      if (head == nullptr) { return; }
      *head = {Record::kind, records_a_chunk<Record> - static_cast<std::uint32_t>(end - next)};
    }
  };

  std::span<outgoing> messages_;
  std::vector<place> places_;  // [messages]
};

/// A chunk that has arrived.
class chunk {
 public:
  chunk(std::byte const* bytes, int from) : bytes_(bytes), from_(from) {}

  [[nodiscard]] int from() const { return from_; }

  [[nodiscard]] std::uint32_t kind() const { return reinterpret_cast<chunk_head const*>(bytes_)->kind; }
  template <class Record>
  [[nodiscard]] std::span<Record const> records() const
  {
    return {reinterpret_cast<Record const*>(bytes_ + sizeof(chunk_head)),
            reinterpret_cast<chunk_head const*>(bytes_)->count};
  }

 private:
  std::byte const* bytes_;
  int from_;  // the rank that sent it
};

}  // namespace tendril::dist
