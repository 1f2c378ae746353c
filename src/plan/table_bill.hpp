// Which tables a plan takes: those that are there, and those that pay for the job and fit.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include <tendril/graph.hpp>
#include <tendril/plan.hpp>

#include "plan/derived_tables.hpp"

namespace tendril::plan {

/// Costs in nanoseconds of the whole executor; only their ratios matter.
struct table_costs {
  double edge_record = 0;         ///< Building an edge record.
  double edge_record_gain = 0;    ///< What a step saves by them.
  double alias_bucket = 0;        ///< Building an alias bucket or a prefix sum, per edge.
  double label_group = 0;         ///< Placing an edge in its label's group.
  double read_edge = 0;           ///< Reading one edge of a neighbourhood at the step.
  double hop_record = 0;          ///< Building a record with the neighbour's place: one gather.
  double cached_row = 0;          ///< Reading the row of a step, where rows stay in the second-level cache,
  double missed_row = 0;          ///< and where they don't.
  double adjacency_set_edge = 0;  ///< Inserting an edge into a hash set of neighbours.
  double adjacency_search = 0;    ///< A binary search instead of a look into a hash set.
  double narrow_target = 0;       ///< What a step saves whose neighbours stay in the second-level cache more often.
  double listed_edge = 0;         ///< Placing an edge in the list of its label: a radix sort.
  double scanned_edge = 0;        ///< Reading a candidate of a scan.
};

/// One core (bench/walks, axis layout). It has no tables of the last eight kinds.
inline constexpr table_costs cpu_costs{
    .edge_record = 1.5, .edge_record_gain = 15, .alias_bucket = 15, .label_group = 6, .read_edge = 6};

/// A GPU (bench/results, walks on cuda).
inline constexpr table_costs gpu_costs{.edge_record = 0.01,
                                       .edge_record_gain = 0.012,
                                       .alias_bucket = 0.1,
                                       .label_group = 0.1,
                                       .read_edge = 0.006,
                                       .hop_record = 0.03,
                                       .cached_row = 0.006,
                                       .missed_row = 0.012,
                                       .adjacency_set_edge = 0.05,
                                       .adjacency_search = 0.06,
                                       .narrow_target = 0.003,
                                       .listed_edge = 0.04,
                                       .scanned_edge = 0.0008};

/// How many bytes of tables a plan takes, as `table_limit` describes.
struct table_budget {
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = no_limit;
  bool is_saved = false;  ///< The bytes are those that compression saved.

  [[nodiscard]] static table_budget of(graph const& graph, table_limit asked);
};

/// What planners know of a graph and of the executor that would sample it. The functions are called where their answers
/// matter; the last two gather theirs once a graph.
struct plan_context {
  graph const& input;
  table_costs costs;
  bool needs_tables;  ///< Whether the executor takes tables wherever they fit, whatever the size of the job.
  table_budget limit;
  char const* memory;  ///< "the free memory": what free_bytes() counts, for messages.
  std::function<std::int64_t()> free_bytes;
  std::function<std::shared_ptr<weight_statistics const>()> statistics;
  std::function<std::int64_t(grouping)> num_labels;
};

/// A table that may be worth building.
struct table_offer {
  std::int64_t bytes = 0;
  double build_ns = 0;
  double gain_ns = 0;   ///< What the job saves by it.
  std::string without;  ///< What happens without it, for messages.
  /// Without it each step reads a whole list: an executor that needs tables takes it beyond what compression saved, if half
  /// of its memory holds it.
  bool spares_lists = false;
};

/// What stands for a table in a plan.
enum class table_choice { none, smaller, whole };

/// Decides about the tables of one plan and adds them up.
class table_bill {
 public:
  table_bill(plan_context const& where, sampling_plan& plan) : where_(where), plan_(plan) {}

  /// Adds a table that the plan uses whatever it costs.
  template <table_descriptor D>
  void add(D const& table, std::int64_t bytes)
  {
    plan_.table_bytes += bytes;
    if (where_.input.derived().has(table)) { plan_.table_bytes_built += bytes; }
  }

  /// Adds a table if it is there, or if it pays and takes no more than half of the free memory. @return whether it did.
  template <table_descriptor D>
  bool take(D const& table, table_offer const& offer)
  {
    bool const taken = accept(D::name, where_.input.derived().has(table), offer);
    if (taken) { add(table, offer.bytes); }
    return taken;
  }

  /// Adds a table that the rule can't do without. @param instead  What the caller could do without it.
  /// @throws memory_error if it isn't there and doesn't fit.
  template <table_descriptor D>
  void need(D const& table, std::int64_t bytes, char const* instead)
  {
    require(D::name, where_.input.derived().has(table), bytes, instead);
    add(table, bytes);
  }

  /// Adds a table, or the smaller one that stands in for it: for an executor that needs one of them the first that fits,
  /// else take() of the first and, where it is too large, of the second. @return what was added.
  template <table_descriptor D, table_descriptor S>
  table_choice choose(D const& table, table_offer const& offer, S const& smaller, table_offer const& smaller_offer,
                      char const* instead)
  {
    bool const built = where_.input.derived().has(table);
    if (where_.needs_tables ? fits(D::name, built, offer) : accept(D::name, built, offer)) {
      add(table, offer.bytes);
      return table_choice::whole;
    }
    if (where_.needs_tables) {
      need(smaller, smaller_offer.bytes, instead);
      return table_choice::smaller;
    }
    bool const pays = offer.gain_ns >= offer.build_ns;  // and was refused for its size
    bool const is_offered = pays || where_.input.derived().has(smaller);
    return is_offered && take(smaller, smaller_offer) ? table_choice::smaller : table_choice::none;
  }

  /// Adds a table that the executor can do without: for one that takes tables wherever they fit if this one fits, else as
  /// take(). @return whether it did.
  template <table_descriptor D>
  bool choose(D const& table, table_offer const& offer)
  {
    bool const built = where_.input.derived().has(table);
    bool const taken = where_.needs_tables ? fits(D::name, built, offer) : accept(D::name, built, offer);
    if (taken) { add(table, offer.bytes); }
    return taken;
  }

 private:
  bool decide(bool taken, std::string reason);
  [[nodiscard]] bool is_within_limit(table_offer const& offer) const;
  /// Counts what the limit refuses. @return why.
  [[nodiscard]] std::string refuse(char const* name, std::int64_t bytes);
  [[nodiscard]] bool fits(char const* name, bool built, table_offer const& offer);
  [[nodiscard]] bool accept(char const* name, bool built, table_offer const& offer);
  void require(char const* name, bool built, std::int64_t bytes, char const* instead);

  plan_context const& where_;
  sampling_plan& plan_;
};

}  // namespace tendril::plan
