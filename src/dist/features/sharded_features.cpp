#include <tendril/sharded_features.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "dist/agreement.hpp"
#include "dist/exchange.hpp"
#include "dist/features/kept_rows.hpp"
#include "features/gpu_ranks.hpp"

namespace tendril {
namespace {

/// What a table is made of, but for its rows.
feature_rows with_rows(feature_table const& like, std::int64_t count)
{
  feature_rows out{like.type(), like.shape(), like.row_stride()};
  out.shape[0] = count;
  return out;
}

void expect_in_host_memory(feature_table const& table)
{
  TENDRIL_EXPECTS(table.device() < 0, "features: on GPU {}, expected rows in host memory", table.device());
}

void expect_rows(std::span<std::int64_t const> ids, std::int64_t num_rows)
{
  for (std::size_t i = 0; i < ids.size(); ++i) {
    TENDRIL_EXPECTS(ids[i] >= 0 && ids[i] < num_rows, "ids[{}] is {}, expected 0 to {}", i, ids[i], num_rows - 1);
  }
}

/// @param out  For so many rows.
void expect_room(std::span<std::byte const> out, std::int64_t count, std::int64_t row_bytes)
{
  TENDRIL_EXPECTS(std::ssize(out) == checked_product("bytes of rows", count, row_bytes),
                  "out: {} bytes, expected {} rows of {}", out.size(), count, row_bytes);
}

constexpr std::int64_t ids_a_range = 4096;

/// The places of ids in their list, grouped by the rank that has the row, and in order within a group. A last group is of rows
/// that are kept here.
struct places_by_rank {
  places_by_rank(std::span<std::int64_t const> ids, std::vector<std::int64_t> const& bounds,
                 dist::kept_rows const& kept, cpu_exec const& exec)
      : begin(bounds.size() + 1), order(ids.size())
  {
    std::vector<std::uint16_t> owners(ids.size());
    base::parallel_ranges(exec, std::ssize(ids), ids_a_range, [&](std::int64_t first, std::int64_t last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        auto const next_bound = std::upper_bound(bounds.begin() + 1, bounds.end(), ids[i]);
        owners[i] = static_cast<std::uint16_t>((kept.has(ids[i]) ? bounds.end() : next_bound) - bounds.begin() - 1);
      }
    });
    for (auto const r : owners) { ++begin[r + std::size_t{1}]; }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next = begin;
    for (std::size_t i = 0; i < ids.size(); ++i) { order[next[owners[i]]++] = i; }
  }

  [[nodiscard]] std::span<std::size_t const> of(std::size_t rank) const
  {
    return std::span(order).subspan(begin[rank], begin[rank + 1] - begin[rank]);
  }

  [[nodiscard]] std::span<std::size_t const> of_kept() const { return of(begin.size() - 2); }

  std::vector<std::size_t> begin;  // [ranks + 2] in `order`
  std::vector<std::size_t> order;
};

/// The rows that are wanted of one rank, by their numbers there.
message question_for(std::span<std::size_t const> places, std::span<std::int64_t const> ids, std::int64_t first_id,
                     message_pool& pool, cpu_exec const& exec)
{
  auto const bytes = static_cast<std::int64_t>(places.size() * sizeof(std::int64_t));
  message out = pool.take(bytes);
  out.set_size(bytes);
  auto* const rows = reinterpret_cast<std::int64_t*>(out.data());
  base::parallel_ranges(exec, std::ssize(places), ids_a_range, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) { rows[k] = ids[places[static_cast<std::size_t>(k)]] - first_id; }
  });
  return out;
}

class asked_rows final : public dist::answerer {
 public:
  explicit asked_rows(feature_table here) : here_(std::move(here)) {}

  [[nodiscard]] std::vector<message> answer(std::span<message const> asked, message_pool& pool,
                                            cpu_exec const& exec) override
  {
    std::vector<message> out;
    for (message const& question : asked) {
      std::span const wanted(reinterpret_cast<std::int64_t const*>(question.data()),
                             static_cast<std::size_t>(question.size()) / sizeof(std::int64_t));
      std::int64_t const bytes = checked_product("bytes of rows", std::ssize(wanted), here_.row_bytes());
      message& rows = out.emplace_back(pool.take(bytes));
      rows.set_size(bytes);
      gather(here_, wanted, {rows.data(), static_cast<std::size_t>(bytes)}, exec);
    }
    return out;
  }

 private:
  feature_table here_;
};

/// Copies rows that this rank has to where they are wanted. @param row_of  (id) -> its bytes
template <class RowOf>
void copy_rows_here(std::span<std::size_t const> places, std::span<std::int64_t const> ids, std::size_t width,
                    std::byte* out, cpu_exec const& exec, RowOf const& row_of)
{
  if (width == 0) { return; }
  base::parallel_ranges(exec, std::ssize(places), ids_a_range, [&](std::int64_t first, std::int64_t last) {
    constexpr std::int64_t ahead = 8;
    auto const row = [&](std::int64_t k) { return row_of(ids[places[static_cast<std::size_t>(k)]]); };
    for (std::int64_t k = first; k < last; ++k) {
      for (std::size_t line = 0; line < std::min<std::size_t>(width, 512); line += 64) {
        __builtin_prefetch(row(std::min(k + ahead, last - 1)) + line);
      }
      std::memcpy(out + places[static_cast<std::size_t>(k)] * width, row(k), width);
    }
  });
}

/// Puts the rows of an answer where they were asked for.
void put_rows(message const& rows, std::span<std::size_t const> places, std::size_t width, std::byte* out,
              cpu_exec const& exec)
{
  if (width == 0) { return; }
  base::parallel_ranges(exec, std::ssize(places), ids_a_range, [&](std::int64_t first, std::int64_t last) {
    for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
      std::memcpy(out + places[k] * width, rows.data() + k * width, width);
    }
  });
}

}  // namespace

feature_table slice_rows(feature_table const& table, std::int64_t first, std::int64_t count)
{
  TENDRIL_EXPECTS(first >= 0 && count >= 0 && first <= table.num_rows() - count,
                  "rows {} to {}, expected a range of the table's {} rows", first, first + count - 1, table.num_rows());
  std::span<std::byte const> bytes;
  if (count > 0) {
    bytes = table.bytes().subspan(static_cast<std::size_t>(first * table.row_stride()),
                                  static_cast<std::size_t>((count - 1) * table.row_stride() + table.row_bytes()));
  }
  if (table.device() >= 0) {
    return feature_table::on_gpu(table.device(), bytes, with_rows(table, count), table.owner());
  }
  return feature_table(bytes, with_rows(table, count), table.owner(), table.misses_pages() != nullptr);
}

feature_table rows_of_part(feature_table const& whole, graph_part const& part, cpu_exec const& exec)
{
  expect_in_host_memory(whole);
  TENDRIL_EXPECTS(whole.num_rows() == part.info.num_vertices, "features: {} rows, expected one a vertex: {}",
                  whole.num_rows(), part.info.num_vertices);
  if (part.info.method != partition_method::metis || part.original_ids.empty()) {
    return slice_rows(whole, part.first_vertex(), part.num_vertices());
  }
  std::vector<std::int64_t> const ids(part.original_ids.begin() + part.first_vertex(),
                                      part.original_ids.begin() + part.last_vertex());
  auto const rows = std::make_shared<buffer<std::byte>>(
      checked_product("bytes of rows", part.num_vertices(), whole.row_bytes()), *exec.memory);
  gather(whole, ids, {rows->data(), static_cast<std::size_t>(rows->size())}, exec);
  feature_rows made = with_rows(whole, part.num_vertices());
  made.row_stride = 0;
  return feature_table({rows->data(), static_cast<std::size_t>(rows->size())}, std::move(made), rows);
}

namespace {

/// What all ranks must agree on. @throws argument_error  unless rows and bounds fit the rank.
std::array<dist::job_line, 2> description_of(feature_table const& here, std::vector<std::int64_t> const& bounds,
                                             int rank, int num_ranks)
{
  TENDRIL_EXPECTS(std::ssize(bounds) == num_ranks + 1 && bounds[0] == 0 && std::is_sorted(bounds.begin(), bounds.end()),
                  "bounds: {}, expected {} ascending ones, from 0", fmt::join(bounds, " "), num_ranks + 1);
  auto const r = static_cast<std::size_t>(rank);
  std::int64_t const mine = bounds[r + 1] - bounds[r];
  TENDRIL_EXPECTS(here.num_rows() == mine, "features: {} rows, expected one for each of this rank's ids: {}",
                  here.num_rows(), mine);
  std::vector<std::int64_t> shape = here.shape();
  shape[0] = bounds.back();
  return {dist::wire_line(),
          dist::job_line{"has features", fmt::format("of type {}, shape {}, at {}", here.type(), fmt::join(shape, "x"),
                                                     fmt::join(bounds, " "))}};
}

}  // namespace

struct sharded_features::state {
  state(feature_table the_rows, std::vector<std::int64_t> the_bounds, int the_rank, cpu_exec const& the_exec)
      : here(std::move(the_rows)),
        bounds(std::move(the_bounds)),
        rank(static_cast<std::size_t>(the_rank)),
        shape(here.shape()),
        exec(the_exec),
        own(here)
  {
    shape[0] = bounds.back();
  }
  state(state const&) = delete;
  state& operator=(state const&) = delete;
  ~state()
  {
    if (withdraw) { withdraw(); }
  }

  /// Those of some ids that other ranks have, each once, in order. @throws argument_error  for an id out of range.
  [[nodiscard]] std::vector<std::int64_t> of_others(std::span<std::int64_t const> ids) const
  {
    expect_rows(ids, bounds.back());
    std::vector<std::int64_t> out(ids.begin(), ids.end());
    std::erase_if(out, [&](std::int64_t id) { return id >= bounds[rank] && id < bounds[rank + 1]; });
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  /// As sharded_features::gather, on CPUs, of ids in range.
  void gather(std::span<std::int64_t const> ids, std::span<std::byte> out);

  transport* calls = nullptr;  // null by a service, whose calls are each rank's own
  feature_table here;
  std::vector<std::int64_t> bounds;
  std::size_t rank;
  std::vector<std::int64_t> shape;
  cpu_exec exec;  // of the call
  asked_rows own;
  std::unique_ptr<dist::exchange> ranks;
  dist::kept_rows kept;
  std::function<std::int64_t()> sent_bytes;
  std::function<void()> withdraw;
  std::unique_ptr<features::rows_on_gpu_ranks> on_gpu;  // instead of what CPUs exchange
  sharded_features_report report;
};

sharded_features::sharded_features(feature_table here, std::vector<std::int64_t> bounds, transport& ranks)
{
  auto const lines = ranks.or_refuse([&] {
    expect_in_host_memory(here);
    return description_of(here, bounds, ranks.rank(), ranks.size());
  });
  dist::expect_same(ranks, "what features there are", lines);
  state_ = std::make_unique<state>(std::move(here), std::move(bounds), ranks.rank(), cpu_exec());
  state_->ranks = dist::exchange_in_calls(ranks, state_->own, state_->exec);
  state_->calls = &ranks;
  state_->sent_bytes = [&ranks] { return ranks.report().sent_bytes; };
}

sharded_features::sharded_features(feature_table here, std::vector<std::int64_t> bounds, rank_service& ranks,
                                   cpu_exec const& exec)
{
  expect_in_host_memory(here);
  auto const lines = description_of(here, bounds, ranks.rank(), ranks.size());
  cpu_exec serving;
  serving.num_threads = exec.num_threads;
  auto const for_others = std::make_shared<asked_rows>(here);
  int const service = ranks.offer(dist::text_of(lines), dist::verbs_of(lines),
                                  [for_others, serving](message const& asked, message_pool& pool) {
                                    return std::move(for_others->answer(std::span(&asked, 1), pool, serving)[0]);
                                  });
  state_ = std::make_unique<state>(std::move(here), std::move(bounds), ranks.rank(), exec);
  state_->ranks = dist::exchange_by_service(ranks, service, state_->own, state_->exec);
  state_->sent_bytes = [&ranks] { return ranks.sent_bytes(); };
  state_->withdraw = [&ranks, service] { ranks.withdraw(service); };
}

sharded_features::sharded_features(feature_table here, std::vector<std::int64_t> bounds, transport& ranks,
                                   gpu_exec const& exec)
{
  auto const lines = ranks.or_refuse([&] {
    auto out = description_of(here, bounds, ranks.rank(), ranks.size());
    TENDRIL_EXPECTS(bounds.back() < std::int64_t{no_vertex}, "features: {} rows, expected less than 2^32 - 1 on GPUs",
                    bounds.back());
    return out;
  });
  dist::expect_same(ranks, "what features there are", lines);
  state_ = std::make_unique<state>(std::move(here), std::move(bounds), ranks.rank(), cpu_exec());
  state_->sent_bytes = [&ranks] { return ranks.report().sent_bytes; };
  state_->calls = &ranks;
  state_->on_gpu = features::make_rows_on_gpu_ranks(state_->here, state_->bounds, ranks, exec);
}

sharded_features::~sharded_features() = default;
sharded_features::sharded_features(sharded_features&&) noexcept = default;
sharded_features& sharded_features::operator=(sharded_features&&) noexcept = default;

feature_table const& sharded_features::here() const noexcept { return state_->here; }
std::vector<std::int64_t> const& sharded_features::shape() const noexcept { return state_->shape; }
sharded_features_report const& sharded_features::report() const noexcept { return state_->report; }

void sharded_features::state::gather(std::span<std::int64_t const> ids, std::span<std::byte> out)
{
  std::int64_t const sent_before = sent_bytes();
  message_pool& pool = ranks->pool();
  auto const num_ranks = static_cast<std::size_t>(ranks->size());
  places_by_rank const places(ids, bounds, kept, exec);
  std::vector<message> questions(num_ranks);
  // Rows of a mapped file are read many at a time by gather; those in memory need no message.
  bool const copies_own = here.misses_pages() == nullptr;
  for (std::size_t r = 0; r < num_ranks; ++r) {
    if (r == rank && copies_own) { continue; }
    questions[r] = question_for(places.of(r), ids, bounds[r], pool, exec);
  }
  ranks->ask(questions);
  auto const width = static_cast<std::size_t>(here.row_bytes());
  if (copies_own) {
    copy_rows_here(places.of(rank), ids, width, out.data(), exec,
                   [&](std::int64_t id) { return here.data() + (id - bounds[rank]) * here.row_stride(); });
  }
  copy_rows_here(places.of_kept(), ids, width, out.data(), exec, [&](std::int64_t id) { return kept.row(id); });
  ranks->serve();
  ranks->look();
  std::vector<message> rows = ranks->answers();
  for (std::size_t r = 0; r < num_ranks; ++r) {
    if (r == rank && copies_own) { continue; }
    put_rows(rows[r], places.of(r), width, out.data(), exec);
    pool.give_back(std::move(rows[r]));
  }
  report.rows += std::ssize(ids);
  report.rows_away += std::ssize(ids) - std::ssize(places.of(rank));
  report.rows_kept += std::ssize(places.of_kept());
  report.sent_bytes += sent_bytes() - sent_before;
}

void sharded_features::gather(std::span<std::int64_t const> ids, std::span<std::byte> out, cpu_exec const& exec)
{
  dist::checked_call(
      state_->calls,
      [&] {
        TENDRIL_EXPECTS(!state_->on_gpu, "sharded_features: made for a GPU, expected a gpu_exec");
        expect_room(out, std::ssize(ids), row_bytes());
        expect_rows(ids, num_rows());
        state_->exec = exec;
      },
      [&] { state_->gather(ids, out); });
}

void sharded_features::keep(std::span<std::int64_t const> ids, cpu_exec const& exec)
{
  state& s = *state_;
  std::vector<std::int64_t> wanted;
  buffer<std::byte> rows;
  dist::checked_call(
      s.calls,
      [&] {
        TENDRIL_EXPECTS(!s.on_gpu, "sharded_features: made for a GPU, expected a gpu_exec");
        wanted = s.of_others(ids);
        s.kept = {};
        rows = buffer<std::byte>(checked_product("bytes of rows", std::ssize(wanted), row_bytes()), *exec.memory);
        s.exec = exec;
      },
      [&] {
        sharded_features_report const before = s.report;
        s.gather(wanted, rows.span());
        s.report = before;
        s.kept = dist::kept_rows(wanted, std::move(rows), num_rows(), row_bytes());
      });
}

void sharded_features::gather(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec)
{
  state& s = *state_;
  dist::checked_call(
      s.calls,
      [&] {
        TENDRIL_EXPECTS(s.on_gpu, "sharded_features: made for CPUs, expected a cpu_exec");
        TENDRIL_EXPECTS(ids.num_columns == 1, "ids: {} columns, expected one", ids.num_columns);
        expect_room(out, ids.num_rows, row_bytes());
      },
      [&] {
        std::int64_t const sent_before = s.sent_bytes();
        auto const [away, kept] = s.on_gpu->gather(ids, out, exec);
        s.report.rows += ids.num_rows;
        s.report.rows_away += away;
        s.report.rows_kept += kept;
        s.report.sent_bytes += s.sent_bytes() - sent_before;
      });
}

void sharded_features::keep(std::span<std::int64_t const> ids, gpu_exec const& exec)
{
  std::vector<std::int64_t> wanted;
  dist::checked_call(
      state_->calls,
      [&] {
        TENDRIL_EXPECTS(state_->on_gpu, "sharded_features: made for CPUs, expected a cpu_exec");
        wanted = state_->of_others(ids);
      },
      [&] { state_->on_gpu->keep(wanted, exec); });
}

}  // namespace tendril
