#include "share_samples.hpp"

#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace tendril::cli {
namespace {

/// Numbers and arrays one after the other.
class packer {
 public:
  explicit packer(message& into) : into_(into) {}

  void number(std::int64_t value) { into_.append(&value, sizeof value); }
  template <class Array>
  void array(Array const& from)
  {
    number(static_cast<std::int64_t>(from.size()));
    into_.append(from.data(), static_cast<std::int64_t>(from.size()) * static_cast<std::int64_t>(sizeof *from.data()));
  }

 private:
  message& into_;
};

class unpacker {
 public:
  explicit unpacker(message const& from) : at_(from.data()) {}

  std::int64_t number()
  {
    std::int64_t value = 0;
    take(&value, sizeof value);
    return value;
  }
  template <class T>
  void array(buffer<T>& into)
  {
    into = buffer<T>(number());
    take(into.data(), static_cast<std::size_t>(into.size()) * sizeof(T));
  }
  template <class T>
  void array(shared_array<T>& into)
  {
    buffer<T> own;
    array(own);
    into = shared_array<T>(std::move(own));
  }
  template <class T>
  void array(std::vector<T>& into)
  {
    into.resize(static_cast<std::size_t>(number()));
    take(into.data(), into.size() * sizeof(T));
  }

 private:
  void take(void* to, std::size_t bytes)
  {
    if (bytes > 0) { std::memcpy(to, at_, bytes); }
    at_ += bytes;
  }

  std::byte const* at_;
};

/// The arrays that files have.
template <class Batch, class Each>
void for_each_array(Batch& batch, Each const& each)
{
  each(batch.vertices[0].node);
  each(batch.vertices[0].batch);
  each(batch.vertices[0].num_sampled);
  each(batch.edges[0].row);
  each(batch.edges[0].col);
  each(batch.edges[0].edge);
  each(batch.edges[0].weights);
  each(batch.edges[0].num_sampled);
}

template <class Hop, class Each>
void for_each_array_of_hop(Hop& hop, Each const& each)
{
  each(hop.vertices);
  each(hop.edges);
  each(hop.offsets);
}

}  // namespace

void pack(khop_trees const& made, message& into)
{
  packer out(into);
  out.number(made.num_roots);
  out.number(std::ssize(made.hops));
  for (tree_hop const& hop : made.hops) {
    out.number(hop.fanout);
    for_each_array_of_hop(hop, [&](auto const& array) { out.array(array); });
  }
}

void unpack(message const& from, khop_trees& made)
{
  unpacker in(from);
  made.num_roots = in.number();
  made.hops.resize(static_cast<std::size_t>(in.number()));
  for (tree_hop& hop : made.hops) {
    hop.fanout = in.number();
    for_each_array_of_hop(hop, [&](auto& array) { in.array(array); });
  }
}

void pack(std::vector<minibatch> const& made, message& into)
{
  packer out(into);
  out.number(std::ssize(made));
  for (minibatch const& batch : made) {
    for_each_array(batch, [&](auto const& array) { out.array(array); });
  }
}

void unpack(message const& from, std::vector<minibatch>& made)
{
  unpacker in(from);
  made.resize(static_cast<std::size_t>(in.number()));
  for (minibatch& batch : made) {
    batch.vertices.resize(1);
    batch.edges.resize(1);
    for_each_array(batch, [&](auto& array) { in.array(array); });
  }
}

}  // namespace tendril::cli
