// Successor lists of WebGraph BV graphs. The format's own words: the documentation of it.unimi.dsi.webgraph.BVGraph.

#include "formats/webgraph_lists.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tendril::formats {
namespace {

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> what, Args&&... args)
{
  throw bitstream_error(fmt::format(what, std::forward<Args>(args)...));
}

/// Naturals stand for integers in the order 0, -1, 1, -2, 2, …
std::int64_t to_integer(std::uint64_t natural)
{
  auto const half = static_cast<std::int64_t>(natural >> 1U);
  return (natural & 1U) != 0 ? -half - 1 : half;
}

}  // namespace

std::int64_t webgraph_lists::read_outdegree()
{
  auto const degree = static_cast<std::int64_t>(bits_.read(properties_.outdegrees));
  if (degree > properties_.num_vertices) {
    fail("outdegree {}, expected at most the number of vertices, {}", degree, properties_.num_vertices);
  }
  return degree;
}

void webgraph_lists::read_head(std::int64_t x, edge_id const* begin)
{
  outdegree_ = read_outdegree();
  reference_ = 0;
  num_extras_ = outdegree_;
  blocks_.clear();
  intervals_.clear();
  if (outdegree_ > 0 && properties_.window > 0) { read_reference(x, begin); }
  num_residuals_ = num_extras_;
  if (num_extras_ > 0 && properties_.min_interval_length > 0) { read_intervals(x); }
}

void webgraph_lists::read_reference(std::int64_t x, edge_id const* begin)
{
  reference_ = static_cast<std::int64_t>(bits_.read(properties_.references));
  if (reference_ > std::min(properties_.window, x)) {
    fail("a reference {} lists back, expected at most {}", reference_, std::min(properties_.window, x));
  }
  if (reference_ == 0) { return; }

  std::int64_t left = begin[1 - reference_] - begin[-reference_];  // entries not covered by a block yet
  auto const num_blocks = static_cast<std::int64_t>(bits_.read(properties_.block_counts));
  if (num_blocks > left + 1) { fail("{} copy blocks of a list of {}", num_blocks, left); }
  std::int64_t copied = 0;
  for (std::int64_t i = 0; i < num_blocks; ++i) {
    std::int64_t const length = static_cast<std::int64_t>(bits_.read(properties_.blocks)) + (i == 0 ? 0 : 1);
    if (length > left) { fail("a copy block of {}, expected at most the {} entries left", length, left); }
    blocks_.push_back(length);
    left -= length;
    if (i % 2 == 0) { copied += length; }
  }
  if (num_blocks % 2 == 0) {  // what no block covers is copied
    blocks_.push_back(left);
    copied += left;
  }
  if (copied > outdegree_) { fail("{} entries copied, expected at most the outdegree, {}", copied, outdegree_); }
  num_extras_ = outdegree_ - copied;
}

void webgraph_lists::read_intervals(std::int64_t x)
{
  auto const num_intervals = static_cast<std::int64_t>(bits_.read(properties_.intervals));
  if (num_intervals > num_residuals_ / properties_.min_interval_length) {
    fail("{} intervals in {} entries, each at least {} long", num_intervals, num_residuals_,
         properties_.min_interval_length);
  }
  std::int64_t next = 0;  // the smallest vertex that the next interval may begin with
  for (std::int64_t i = 0; i < num_intervals; ++i) {
    std::uint64_t const coded = bits_.read(properties_.intervals);
    std::int64_t const left = i == 0 ? x + to_integer(coded) : next + static_cast<std::int64_t>(coded);
    auto const coded_length = static_cast<std::int64_t>(bits_.read(properties_.intervals));
    std::int64_t const length = coded_length + properties_.min_interval_length;
    if (length > num_residuals_) { fail("an interval of {}, expected at most {}", length, num_residuals_); }
    if (left < 0 || left > properties_.num_vertices - length) {
      fail("an interval of {} from vertex {}, expected vertices in [0, {})", length, left, properties_.num_vertices);
    }
    intervals_.push_back({left, length});
    num_residuals_ -= length;
    next = left + length + 1;
  }
}

template <class F>
void webgraph_lists::read_residuals(std::int64_t x, F&& take)
{
  std::int64_t vertex = x;
  for (std::int64_t i = 0; i < num_residuals_; ++i) {
    std::uint64_t const coded = bits_.read(properties_.residuals);
    vertex += i == 0 ? to_integer(coded) : static_cast<std::int64_t>(coded) + 1;
    if (vertex < 0 || vertex >= properties_.num_vertices) {
      fail("neighbour {}, expected one in [0, {})", vertex, properties_.num_vertices);
    }
    take(static_cast<vertex_id>(vertex));
  }
}

void webgraph_lists::skip_residuals(std::int64_t x)
{
  read_residuals(x, [](vertex_id) {});
}

/// Merges intervals and residuals, which ascend each.
vertex_id* webgraph_lists::write_extras(std::int64_t x, vertex_id* out)
{
  auto interval = intervals_.begin();
  auto const write_interval = [&] {
    for (std::int64_t i = 0; i < interval->length; ++i) { *out++ = static_cast<vertex_id>(interval->left + i); }
    ++interval;
  };
  read_residuals(x, [&](vertex_id residual) {
    while (interval != intervals_.end() && interval->left < std::int64_t{residual}) { write_interval(); }
    *out++ = residual;
  });
  while (interval != intervals_.end()) { write_interval(); }
  return out;
}

void webgraph_lists::write_list(std::int64_t x, edge_id const* begin, vertex_id* indices)
{
  vertex_id* const first = indices + *begin;
  vertex_id* out = first;
  if (reference_ == 0) {
    out = write_extras(x, out);
  } else {
    extras_.resize(static_cast<std::size_t>(num_extras_));
    write_extras(x, extras_.data());
    auto extra = extras_.cbegin();
    vertex_id const* from = indices + begin[-reference_];
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      vertex_id const* const end = from + blocks_[block];
      if (block % 2 == 0) {
        for (; from < end; ++from) {
          while (extra != extras_.cend() && *extra < *from) { *out++ = *extra++; }
          *out++ = *from;
        }
      }
      from = end;
    }
    out = std::copy(extra, extras_.cend(), out);
  }
  // Intervals, residuals and copies are disjoint in a well-formed list.
  auto const twice = std::adjacent_find(first, out, [](vertex_id a, vertex_id b) { return a >= b; });
  if (twice != out) { fail("neighbours don't ascend: {} follows {}", *(twice + 1), *twice); }
}

}  // namespace tendril::formats
