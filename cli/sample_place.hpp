// Where samples are made: on this machine's cores, or on a GPU, to which arrays go and from which they come back.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/graph.hpp>

#include "gpu_graph.hpp"

namespace tendril::cli {

class sample_place {
 public:
  /// @param index  Of several places that share a job, from 0 on.
  /// @param there  The graph that calls on a GPU run on: on it, or in host memory, from which calls stream it; nothing: the
  ///               CPU. @throws device_error; memory_error.
  sample_place(int index, graph const& g, std::optional<int> gpu, std::optional<graph> there, cpu_exec const& exec)
      : index_(index), host_(g), exec_(exec), there_(std::move(there))
  {
    exec_.on_progress = {};  // commands count what is done themselves
    if (gpu) { gpu_ = gpu_exec(*gpu); }
  }

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] graph const& host_graph() const { return host_; }
  /// The graph that calls run on.
  [[nodiscard]] graph const& used_graph() const { return there_ ? *there_ : host_; }
  [[nodiscard]] cpu_exec const& host_exec() const { return exec_; }
  [[nodiscard]] bool on_gpu() const { return gpu_.has_value(); }

  /// call(graph, exec), with the graph of the place and a cpu_exec or a gpu_exec.
  template <class Call>
  auto run(Call const& call) const
  {
    if (gpu_) { return call(*there_, *gpu_); }
    return call(host_, exec_);
  }

  /// Elements where calls want them.
  template <class T>
  class placed {
   public:
    [[nodiscard]] std::span<T const> span() const { return here_; }

   private:
    friend class sample_place;
    buffer<vertex_id> copy_;
    std::span<T const> here_;
  };

  /// Refers to `elements`, or copies them to the GPU. Vertices, and what is as large: a copy has bytes, no meaning.
  template <class T>
  [[nodiscard]] placed<T> put(std::span<T const> elements) const
  {
    static_assert(sizeof(T) == sizeof(vertex_id));
    placed<T> out;
    out.here_ = elements;
    if (gpu_) {
      out.copy_ = copy_to_gpu({reinterpret_cast<vertex_id const*>(elements.data()), elements.size()}, *gpu_);
      out.here_ = {reinterpret_cast<T const*>(out.copy_.data()), elements.size()};
    }
    return out;
  }

  /// What a call made, in host memory. Synchronises.
  template <class T>
  [[nodiscard]] buffer<T> bring(buffer<T>&& made) const
  {
    if (!gpu_) { return std::move(made); }
    buffer<T> out(made.size());
    if (made.size() > 0) {
      copy_to_host(made.data(), out.data(), static_cast<std::size_t>(made.size()) * sizeof(T), *gpu_);
    }
    return out;
  }

 private:
  int index_;
  graph host_;
  cpu_exec exec_;
  std::optional<gpu_exec> gpu_;
  std::optional<graph> there_;
};

}  // namespace tendril::cli
