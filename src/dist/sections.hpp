// Questions and answers in sections: a head, then arrays. A section is made, or read, by one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/transport.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::dist {

/// Bytes of a section's array, up to the next multiple of 8: sections begin at one.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

/// Goes through the sections of a message.
template <class Head>
class section_reader {
 public:
  explicit section_reader(message const& from) : from_(from) {}

  [[nodiscard]] bool at_end() const { return at_ >= from_.size(); }
  [[nodiscard]] std::byte const* data() const { return from_.data() + at_; }
  [[nodiscard]] Head head() const
  {
    Head out;
    std::memcpy(&out, data(), sizeof out);
    return out;
  }
  void skip(std::int64_t bytes) { at_ += bytes; }

 private:
  message const& from_;
  std::int64_t at_ = 0;
};

template <class T>
[[nodiscard]] T const* array_at(std::byte const* section, std::int64_t offset)
{
  return reinterpret_cast<T const*>(section + offset);
}
template <class T>
[[nodiscard]] T* array_at(std::byte* section, std::int64_t offset)
{
  return reinterpret_cast<T*>(section + offset);
}

/// A buffer of at least `size` elements, which are not kept.
template <class T>
T* room(buffer<T>& what, std::int64_t size)
{
  if (what.size() < size) { what = buffer<T>(size + size / 4); }
  return what.data();
}

/// An answer in the making; the storage is used again.
struct made_section {
  buffer<std::byte> storage;
  std::int64_t size = 0;

  /// Begins an answer with its head. @return where it lies.
  template <class Head>
  std::byte* begin(Head const& head, std::int64_t bytes)
  {
    size = bytes;
    std::byte* const out = room(storage, size);
    std::memcpy(out, &head, sizeof head);
    return out;
  }
};

/// Answers messages section by section.
template <class Head>
class section_answers {
 public:
  /// @param answer  answer(head, arrays, thread, made): fills the answer to one section. Any thread, a number below those of
  ///                `exec`, calls it.
  /// @return an answer to each message, whose sections are in the order of the questions.
  template <class Answer>
  [[nodiscard]] std::vector<message> make(std::span<message const> asked, message_pool& pool, cpu_exec const& exec,
                                          Answer answer)
  {
    find(asked);
    int const threads = base::num_threads(exec);
    base::parallel_ranges(exec, std::ssize(questions_), 1, [&](std::int64_t q, std::int64_t) {
      question const& one = questions_[static_cast<std::size_t>(q)];
      std::size_t const thread = threads == 1 ? 0 : static_cast<std::size_t>(base::team_member());
      answer(one.head, one.arrays, thread, made_[static_cast<std::size_t>(q)]);
    });
    return joined(asked.size(), pool, exec);
  }

 private:
  struct question {
    std::size_t from;
    Head head;
    std::byte const* arrays;
  };

  void find(std::span<message const> asked)
  {
    questions_.clear();
    for (std::size_t from = 0; from < asked.size(); ++from) {
      for (section_reader<Head> at(asked[from]); !at.at_end();) {
        Head const head = at.head();
        questions_.push_back({from, head, at.data() + sizeof head});
        at.skip(head.bytes());
      }
    }
    if (made_.size() < questions_.size()) { made_.resize(questions_.size()); }
  }

  std::vector<message> joined(std::size_t num_messages, message_pool& pool, cpu_exec const& exec)
  {
    std::vector<std::int64_t> place(questions_.size()), size(num_messages);
    for (std::size_t q = 0; q < questions_.size(); ++q) {
      place[q] = size[questions_[q].from];
      size[questions_[q].from] += made_[q].size;
    }
    std::vector<message> out(num_messages);
    for (std::size_t to = 0; to < num_messages; ++to) {
      out[to] = pool.take(size[to]);
      out[to].set_size(size[to]);
    }
    base::parallel_ranges(exec, std::ssize(questions_), 1, [&](std::int64_t i, std::int64_t) {
      auto const q = static_cast<std::size_t>(i);
      std::memcpy(out[questions_[q].from].data() + place[q], made_[q].storage.data(),
                  static_cast<std::size_t>(made_[q].size));
    });
    return out;
  }

  std::vector<question> questions_;
  std::vector<made_section> made_;
};

}  // namespace tendril::dist
