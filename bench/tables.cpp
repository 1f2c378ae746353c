#include "bench/tables.hpp"

#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/io.hpp>

#include "base/parallel.hpp"  // num_threads
#include "bench/measure.hpp"
#include "bench/rmat_spec.hpp"
#include "plan/tables.hpp"

namespace tendril::bench {
namespace {

/// The time that the threads of this process have had a core.
double core_seconds()
{
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Gives the same blocks again: the first run of a session brings them in. One table at a time.
class kept_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes) override
  {
    for (auto& block : free_) {
      if (block.size() != static_cast<std::int64_t>(bytes)) { continue; }
      taken_.push_back(std::move(block));
      std::swap(block, free_.back());
      free_.pop_back();
      return taken_.back().data();
    }
    taken_.emplace_back(static_cast<std::int64_t>(bytes));
    return taken_.back().data();
  }
  void deallocate(void* pointer, std::size_t) noexcept override
  {
    for (auto& block : taken_) {
      if (block.data() != pointer) { continue; }
      free_.push_back(std::move(block));
      std::swap(block, taken_.back());
      taken_.pop_back();
      return;
    }
  }

 private:
  std::vector<buffer<std::byte>> free_, taken_;
};

struct table_bed {
  graph g;
  kept_memory memory;
};

template <class Make>
void add_table(session& s, std::shared_ptr<table_bed> const& b, cpu_exec const& exec, std::string const& name,
               Make make)
{
  s.add(fmt::format("{} on {} thread{}", name, exec.num_threads, exec.num_threads == 1 ? "" : "s"), "",
        "edges/s and core", "", [b, exec, make] {
          double const before = core_seconds();
          (void)make(b->g.view(), exec);
          return static_cast<double>(b->g.num_edges()) / (core_seconds() - before);
        });
}

}  // namespace

std::vector<row> run_tables(options const& o)
{
  auto const b = std::make_shared<table_bed>();
  b->g = is_rmat_spec(o.graph) ? make_rmat(o.graph, o.exec) : read_graph(o.graph, {}, o.exec);
  if (!b->g.has_weights()) {
    throw argument_error(fmt::format("bench tables: {}: no weights, expected some", o.graph));
  }
  session s(o.graph, o.repeats);
  for (int const threads : {1, base::num_threads(o.exec)}) {
    cpu_exec exec = o.exec;
    exec.num_threads = threads;
    add_table(s, b, exec, "alias table, new memory", plan::make_alias_records);
    exec.memory = &b->memory;
    add_table(s, b, exec, "alias table", plan::make_alias_records);
    add_table(s, b, exec, "alias buckets", plan::make_alias_buckets);
    add_table(s, b, exec, "prefix sums", plan::make_prefix_sums);
    add_table(s, b, exec, "sums of weights", plan::make_weight_sums);
    add_table(s, b, exec, "weight statistics", plan::make_weight_statistics);
    if (base::num_threads(o.exec) == 1) { break; }
  }
  return s.run();
}

}  // namespace tendril::bench
