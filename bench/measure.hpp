// Repeated measurements and what becomes of them.

#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace tendril::bench {

template <class F>
double seconds_of(F&& f)
{
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  std::size_t const n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Jobs that are measured in turn. A job returns its figure for one run.
class session {
 public:
  explicit session(std::string graph, int repeats) : graph_(std::move(graph)), repeats_(repeats) {}

  /// `ceiling`: the job that this one is compared with, by name; empty for a ceiling.
  void add(std::string name, std::string params, std::string unit, std::string ceiling,
           std::function<double()> run_once)
  {
    jobs_.push_back({std::move(name), std::move(params), std::move(unit), std::move(ceiling), std::move(run_once), {}});
  }

  /// One run of every job to warm up, then `repeats` rounds.
  std::vector<row> run()
  {
    for (int round = -1; round < repeats_; ++round) {
      for (auto& j : jobs_) {
        double const figure = j.run();
        if (round >= 0) { j.figures.push_back(figure); }
      }
    }
    std::vector<row> out;
    for (auto const& j : jobs_) {
      row r{j.name,
            graph_,
            j.params,
            median(j.figures),
            j.unit,
            j.ceiling,
            0,
            0,
            repeats_,
            *std::min_element(j.figures.begin(), j.figures.end()),
            *std::max_element(j.figures.begin(), j.figures.end())};
      for (auto const& c : jobs_) {
        if (c.name != j.ceiling) { continue; }
        r.ceiling = median(c.figures);
        r.share = share(j.figures, c.figures);
      }
      out.push_back(std::move(r));
    }
    return out;
  }

 private:
  struct job {
    std::string name, params, unit, ceiling;
    std::function<double()> run;
    std::vector<double> figures;
  };

  /// The median of the rounds' own ratios: a slow moment of the machine hits both alike.
  static double share(std::vector<double> const& job, std::vector<double> const& ceiling)
  {
    std::vector<double> ratios(job.size());
    for (std::size_t i = 0; i < job.size(); ++i) { ratios[i] = job[i] / ceiling[i]; }
    return median(ratios);
  }

  std::string graph_;
  int repeats_;
  std::vector<job> jobs_;
};

}  // namespace tendril::bench
