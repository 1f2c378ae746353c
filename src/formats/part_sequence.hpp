// Files of parts of a job that are given one after the other: what each says of its place must fit those before.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/walk_parts.hpp>

namespace tendril::formats {

inline constexpr char const* part_number_entry = "part";  ///< Of metadata: "1/3".

class part_sequence {
 public:
  /// @param item  "walk": what parts consist of, for messages.
  explicit part_sequence(std::string item) : item_(std::move(item)) {}

  /// Takes the next part. @param first  The logical id of its first item, if the file tells it.
  /// @throws format_error if it is not the one that has to follow.
  void take(std::string const& path, std::map<std::string, std::string> const& metadata,
            std::optional<std::int64_t> first, std::int64_t num_items)
  {
    auto const number = number_of(path, metadata);
    if (num_parts_ == 0) {
      if (number) { count_ = number->count; }
      first_ = first;
    }
    expect_number(path, number);
    expect_first(path, first);
    ++num_parts_;
    num_items_ = checked_sum(fmt::format("{}s of all parts", item_).c_str(), num_items_, num_items);
    last_path_ = path;
  }

  /// @throws format_error if parts are missing after the last one.
  void end() const
  {
    if (count_ && *count_ != num_parts_) {
      throw format_error(fmt::format("{}: part {} is the last one given, expected {} after it", last_path_,
                                     to_string(job_part{num_parts_ - 1, *count_}),
                                     to_string(job_part{num_parts_, *count_})));
    }
  }

  [[nodiscard]] std::int64_t num_parts() const { return num_parts_; }
  [[nodiscard]] std::int64_t num_items() const { return num_items_; }

 private:
  static std::optional<job_part> number_of(std::string const& path, std::map<std::string, std::string> const& metadata)
  {
    auto const found = metadata.find(part_number_entry);
    if (found == metadata.end()) { return std::nullopt; }
    try {
      return parse_job_part(found->second);
    } catch (argument_error const& failure) {
      throw format_error(fmt::format("{}: {}: {}", path, part_number_entry, failure.what()));
    }
  }

  void expect_number(std::string const& path, std::optional<job_part> const& number) const
  {
    auto const text = [](std::optional<job_part> const& of) {
      return of ? fmt::format("part {}", to_string(*of)) : std::string("no part of a run");
    };
    std::optional<job_part> needed;
    if (count_) { needed = job_part{num_parts_, *count_}; }
    if (needed && num_parts_ == *count_) {
      throw format_error(fmt::format("{}: {}, expected nothing after part {}", path, text(number),
                                     to_string(job_part{*count_ - 1, *count_})));
    }
    if (text(number) != text(needed)) {
      throw format_error(fmt::format("{}: {}, expected {}", path, text(number), text(needed)));
    }
  }

  void expect_first(std::string const& path, std::optional<std::int64_t> first) const
  {
    if (first.has_value() != first_.has_value()) {
      throw format_error(fmt::format("{}: first_{} is {}, expected it in every part or in none", path, item_,
                                     first ? "given" : "missing"));
    }
    if (!first) { return; }
    std::int64_t const needed = checked_sum(fmt::format("ids of {}s", item_).c_str(), *first_, num_items_);
    if (*first != needed) {
      throw format_error(fmt::format("{}: its first {} has id {}, expected {}", path, item_, *first, needed));
    }
  }

  std::string item_, last_path_;
  std::int64_t num_parts_ = 0, num_items_ = 0;
  std::optional<std::int64_t> count_, first_;  // as the first part says
};

}  // namespace tendril::formats
