#include "bench/compressed.hpp"

#include <memory>
#include <sstream>

#include <fmt/format.h>

#include <tendril/starts.hpp>

#include "bench/sampling_jobs.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_walkers = std::int64_t{1} << 20U;

/// A graph, and how long it took to make.
template <class Exec>
struct subject {
  Exec exec;
  graph g;
  double seconds = 0;  ///< In which it was made or read.

  subject(std::string const& name, Exec const& where) : exec(where)
  {
    seconds = seconds_with(where, [&] { g = make_graph(name, where); });
  }
  [[nodiscard]] double edges() const { return static_cast<double>(g.num_edges()); }
};

/// A session that takes the jobs that are wanted.
template <class Exec>
class jobs {
 public:
  jobs(std::string const& name, options const& o, Exec const& exec)
      : on_(std::make_shared<subject<Exec>>(name, exec)), session_(name, o.repeats), only_(o.only)
  {
  }

  std::vector<row> run()
  {
    add("graph", "made or read, once", "edges/s", [on = on_] { return on->edges() / on->seconds; });
    add("bits an edge", "with the directory", "bits", [on = on_] { return on->g.bits_per_edge(); });
    if (on_->g.form() == graph_form::csr) { add_forms(); }
    add_sampling();
    return session_.run();
  }

 private:
  void add(std::string const& name, std::string const& params, std::string const& unit, std::function<double()> job)
  {
    if (wanted(name)) { session_.add(name, params, unit, "", std::move(job)); }
  }
  [[nodiscard]] bool wanted(std::string const& name) const { return name.find(only_) != std::string::npos; }

  void add_forms()
  {
    for (auto const& [form, text] : enum_names<graph_form>) {
      if (form == graph_form::csr) { continue; }
      std::string const name(text);
      auto const to_form = [on = on_, which = form] { return compress(on->g, which, on->exec); };
      add("to " + name, "", "edges/s", [on = on_, to_form] {
        graph made;
        return on->edges() / seconds_with(on->exec, [&] { made = to_form(); });
      });
      add("from " + name, "to csr", "edges/s", [on = on_, to_form] {
        graph const small = to_form();
        graph made;
        return on->edges() / seconds_with(on->exec, [&] { made = to_csr(small, on->exec); });
      });
      add("bits an edge, " + name, "", "bits", [to_form] { return to_form().bits_per_edge(); });
    }
  }

  void add_sampling()
  {
    Exec const& exec = on_->exec;
    auto const b = std::make_shared<job_bed<Exec>>(random_vertices(on_->g.num_vertices(), num_walkers, 1), exec);
    walk_params walk;
    walk.length = job_walk_length;
    if (wanted("uniform walks")) {
      auto const w = std::make_shared<walker>(on_->g, walk, num_walkers, exec);
      add("uniform walks",
          fmt::format("{} walkers, {} steps, {} MB of tables", num_walkers, job_walk_length,
                      w->plan().table_bytes / 1'000'000),
          "steps/s", [job = walk_job(b, w, num_walkers)] { return job().rate(); });
    }
    add("k-hop (25,10) with replacement", "40,000 roots", "ms",
        [job = khop_job(b, on_->g, true)] { return 1e3 * job().seconds; });
    if (wanted("mini-batch (15,10,5)")) {
      add("mini-batch (15,10,5)", "1,024 seeds, one batch after the other", "ms",
          [job = batches_job(b, on_->g)] { return 1e3 * job().seconds / static_cast<double>(job_batches); });
    }
  }

  std::shared_ptr<subject<Exec>> on_;
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
