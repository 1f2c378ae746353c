#include "bench/compressed.hpp"

#include <memory>
#include <sstream>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/io.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"
#include "bench/rmat_spec.hpp"
#include "bench/web_spec.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_walkers = std::int64_t{1} << 20U;
constexpr std::int64_t walk_length = 80;
constexpr std::int64_t num_roots = 40'000;
constexpr std::int64_t batch_size = 1024;
constexpr std::int64_t num_batches = 32;

graph make_graph(std::string const& name, gpu_exec const& exec) { return make_bench_graph(name, exec); }
graph make_graph(std::string const& name, cpu_exec const& exec)
{
  if (is_web_spec(name)) { return make_web(name, exec); }
  graph g = is_rmat_spec(name) ? make_rmat(name, exec) : read_graph(name, {}, exec);
  g.check(exec);
  return g;
}

void wait_for(gpu_exec const& exec) { synchronize(exec); }
void wait_for(cpu_exec const&) {}

buffer<vertex_id> vertices_at(gpu_exec const& exec, graph const& g, std::int64_t count)
{
  return copy_to_gpu(random_vertices(g.num_vertices(), count, 1).span(), exec);
}
buffer<vertex_id> vertices_at(cpu_exec const& exec, graph const& g, std::int64_t count)
{
  return random_vertices(g.num_vertices(), count, 1, exec);
}

template <class T>
std::vector<T> on_host(buffer<T> const& from, gpu_exec const& exec)
{
  std::vector<T> out(static_cast<std::size_t>(from.size()));
  copy_to_host(from.data(), out.data(), out.size() * sizeof(T), exec);
  return out;
}
template <class T>
std::vector<T> on_host(buffer<T> const& from, cpu_exec const&)
{
  return {from.begin(), from.end()};
}

/// A graph, and what jobs on it share.
template <class Exec>
struct bed {
  Exec exec;
  graph g;
  double seconds = 0;  ///< In which it was made or read.

  bed(std::string const& name, Exec const& where) : exec(where)
  {
    seconds = seconds_of([&] {
      g = make_graph(name, where);
      wait_for(where);
    });
  }
  [[nodiscard]] double edges() const { return static_cast<double>(g.num_edges()); }
};

/// A session that takes the jobs that are wanted.
template <class Exec>
class jobs {
 public:
  jobs(std::string const& name, options const& o, Exec const& exec)
      : bed_(std::make_shared<bed<Exec>>(name, exec)), session_(name, o.repeats), only_(o.only)
  {
  }

  std::vector<row> run()
  {
    add("graph", "made or read, once", "edges/s", [b = bed_] { return b->edges() / b->seconds; });
    add("bits an edge", "with the directory", "bits", [b = bed_] { return b->g.bits_per_edge(); });
    if (bed_->g.form() == graph_form::csr) { add_forms(); }
    add_walks();
    add_khop();
    add_minibatches();
    return session_.run();
  }

 private:
  void add(std::string const& name, std::string const& params, std::string const& unit, std::function<double()> job)
  {
    if (name.find(only_) != std::string::npos) { session_.add(name, params, unit, "", std::move(job)); }
  }

  void add_forms()
  {
    for (auto const& [form, text] : enum_names<graph_form>) {
      if (form == graph_form::csr) { continue; }
      std::string const name(text);
      auto const to_form = [b = bed_, which = form] { return compress(b->g, which, b->exec); };
      add("to " + name, "", "edges/s", [b = bed_, to_form] {
        return b->edges() / seconds_of([&] {
                 graph const made = to_form();
                 wait_for(b->exec);
               });
      });
      add("from " + name, "to csr", "edges/s", [b = bed_, to_form] {
        graph const small = to_form();
        return b->edges() / seconds_of([&] {
                 graph const made = to_csr(small, b->exec);
                 wait_for(b->exec);
               });
      });
      add("bits an edge, " + name, "", "bits", [to_form] { return to_form().bits_per_edge(); });
    }
  }

  void add_walks()
  {
    walk_params params;
    params.length = walk_length;
    std::string const name = "uniform walks";
    if (name.find(only_) == std::string::npos) { return; }
    auto const starts = std::make_shared<buffer<vertex_id>>(vertices_at(bed_->exec, bed_->g, num_walkers));
    auto const w = std::make_shared<walker>(bed_->g, params, num_walkers, bed_->exec);
    add(name,
        fmt::format("{} walkers, {} steps, {} MB of tables", num_walkers, walk_length,
                    w->plan().table_bytes / 1'000'000),
        "steps/s", [b = bed_, starts, w] {
          walks made;
          double const seconds = seconds_of([&] {
            made = w->run(starts->span(), 0, b->exec);
            wait_for(b->exec);
          });
          double steps = 0;
          for (auto const length : on_host(made.lengths, b->exec)) { steps += length; }
          return steps / seconds;
        });
  }

  void add_khop()
  {
    khop_params params;
    params.fanouts = {25, 10};
    params.replace = true;
    auto const roots = std::make_shared<buffer<vertex_id>>(vertices_at(bed_->exec, bed_->g, num_roots));
    add("k-hop (25,10) with replacement", "40,000 roots", "ms", [b = bed_, params, roots] {
      return 1e3 * seconds_of([&] {
               auto const made = khop_sample(b->g, roots->span(), params, b->exec, 0, false);
               wait_for(b->exec);
             });
    });
  }

  void add_minibatches()
  {
    std::string const name = "mini-batch (15,10,5)";
    if (name.find(only_) == std::string::npos) { return; }
    minibatch_params params;
    params.num_neighbors = {15, 10, 5};
    auto const seeds = std::make_shared<buffer<vertex_id>>(vertices_at(bed_->exec, bed_->g, batch_size * num_batches));
    auto const sampler = std::make_shared<minibatch_sampler>(hetero_graph(bed_->g), params, bed_->exec);
    add(name, "1,024 seeds, one batch after the other", "ms", [b = bed_, seeds, sampler] {
      double const seconds = seconds_of([&] {
        for (std::int64_t i = 0; i < num_batches; ++i) {
          batch_seeds part;
          part.vertices = {seeds->span().subspan(static_cast<std::size_t>(i * batch_size), batch_size)};
          (void)sampler->sample(part, static_cast<std::uint64_t>(i));
        }
        wait_for(b->exec);
      });
      return 1e3 * seconds / static_cast<double>(num_batches);
    });
  }

  std::shared_ptr<bed<Exec>> bed_;
  session session_;
  std::string only_;
};

}  // namespace

std::vector<row> run_compressed(options const& o)
{
  std::vector<row> rows;
  std::istringstream names(o.graph);
  for (std::string name; std::getline(names, name, ',');) {
    auto const part = o.gpu.has_value() ? jobs(name, o, gpu_exec(*o.gpu)).run() : jobs(name, o, o.exec).run();
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace tendril::bench
