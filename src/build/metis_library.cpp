#include "build/metis_library.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include <tendril/compress.hpp>  // to_csr

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::build {
namespace {

constexpr char library_name[] = "libmetis.so.5";
constexpr std::size_t num_options = 40;  // METIS_NOPTIONS of version 5
constexpr int status_ok = 1;
constexpr int status_memory = -3;

/// METIS' functions take pointers to integers of 32 or 64 bits, as it was built; here they are untyped.
using set_default_options = int (*)(void* options);
using part_graph_kway = int (*)(void* num_vertices, void* num_constraints, void* indptr, void* indices,
                                void* vertex_weights, void* vertex_sizes, void* edge_weights, void* num_parts,
                                void* targets, void* imbalances, void* options, void* cut, void* parts);

struct library_closer {
  void operator()(void* library) const { dlclose(library); }
};

struct metis_functions {
  std::unique_ptr<void, library_closer> library;
  set_default_options set_options = nullptr;
  part_graph_kway partition = nullptr;
};

metis_functions load()
{
  metis_functions out;
  out.library.reset(dlopen(library_name, RTLD_NOW | RTLD_LOCAL));
  if (!out.library) {
    char const* const why = dlerror();
    throw io_error(fmt::format("{}: can't be loaded ({}), expected METIS 5 (Debian's package libmetis5)", library_name,
                               why != nullptr ? why : "no reason given"));
  }
  out.set_options = reinterpret_cast<set_default_options>(dlsym(out.library.get(), "METIS_SetDefaultOptions"));
  out.partition = reinterpret_cast<part_graph_kway>(dlsym(out.library.get(), "METIS_PartGraphKway"));
  if (out.set_options == nullptr || out.partition == nullptr) {
    throw io_error(fmt::format("{}: has no METIS_PartGraphKway, expected METIS 5", library_name));
  }
  return out;
}

/// Whether the library's integers have 64 bits: it sets 40 options to -1, so it shows how far they reach.
bool has_wide_ids(metis_functions const& metis)
{
  constexpr std::int32_t untouched = 0x5a5a5a5a;
  std::vector<std::int32_t> options(2 * num_options + 2, untouched);
  metis.set_options(options.data());
  return options[num_options] != untouched;
}

/// One call of METIS and all that it reads and writes.
template <class Id>
struct metis_job {
  metis_functions metis;
  std::vector<Id> indptr, indices, parts;
  std::vector<Id> options =
      std::vector<Id>(num_options);  // defaults, a seed among them: versions order options differently
  Id num_vertices = 0, num_parts = 0;

  int run()
  {
    Id num_constraints = 1, cut = 0;
    metis.set_options(options.data());
    return metis.partition(&num_vertices, &num_constraints, indptr.data(), indices.data(), nullptr, nullptr, nullptr,
                           &num_parts, nullptr, nullptr, options.data(), &cut, parts.data());
  }
};

/// Runs a job so that the caller can cancel it. METIS itself can't be stopped: after a cancelled call it goes on in a
/// thread of its own, which holds the job, and nothing looks at the result.
template <class Job>
int run_cancellable(std::shared_ptr<Job> const& job, cpu_exec const& exec)
{
  if (!exec.check_cancel) { return job->run(); }
  std::packaged_task<int()> task([job] { return job->run(); });
  std::future<int> status = task.get_future();
  std::thread(std::move(task)).detach();
  constexpr auto interval = std::chrono::milliseconds(20);
  while (status.wait_for(interval) != std::future_status::ready) { exec.check_cancel(); }
  return status.get();
}

/// @param g  Symmetric, without loops and parallel edges.
template <class Id>
std::vector<vertex_id> partition(metis_functions metis, csr_arrays const& g, std::int64_t num_parts,
                                 cpu_exec const& exec)
{
  constexpr std::int64_t most = std::numeric_limits<Id>::max();
  TENDRIL_EXPECTS(g.num_vertices <= most && g.num_edges <= most,
                  "graph: {} vertices and {} edges in both directions, expected at most {}: {} has ids of {} bits",
                  g.num_vertices, g.num_edges, most, library_name, 8 * sizeof(Id));
  auto const job = std::make_shared<metis_job<Id>>();
  job->metis = std::move(metis);
  job->indptr.assign(g.indptr, g.indptr + g.num_vertices + 1);
  job->indices.assign(g.indices, g.indices + g.num_edges);
  if (job->indices.empty()) { job->indices.resize(1); }  // a null pointer is an error to METIS
  job->parts.resize(static_cast<std::size_t>(g.num_vertices));
  job->num_vertices = static_cast<Id>(g.num_vertices);
  job->num_parts = static_cast<Id>(num_parts);
  int const status = run_cancellable(job, exec);
  if (status == status_memory) { throw memory_error(fmt::format("{}: out of memory", library_name)); }
  if (status != status_ok) {
    throw io_error(fmt::format("{}: partitioning failed with status {}, expected 1", library_name, status));
  }
  auto const& parts = job->parts;
  std::vector<vertex_id> out(parts.size());
  for (std::size_t v = 0; v < parts.size(); ++v) {
    if (parts[v] < 0 || parts[v] >= job->num_parts) {
      throw io_error(fmt::format("{}: vertex {} got part {} of {}", library_name, v, parts[v], num_parts));
    }
    out[v] = static_cast<vertex_id>(parts[v]);
  }
  return out;
}

}  // namespace

std::vector<vertex_id> metis_partition(graph const& graph, std::int64_t num_parts, cpu_exec const& exec)
{
  metis_functions metis = load();
  if (num_parts == 1) { return std::vector<vertex_id>(static_cast<std::size_t>(graph.num_vertices())); }
  graph.check(exec);
  graph_arrays const stored = to_csr(graph, exec).arrays();
  graph_arrays bare;  // without labels, so that no two edges differ by them
  bare.indptr = stored.indptr;
  bare.indices = stored.indices;
  build_options options;
  options.symmetrize = true;
  options.drop_self_loops = true;
  options.drop_duplicates = true;
  auto const undirected = build_graph(tendril::graph(std::move(bare), graph_content::sound), options, exec);
  bool const wide = has_wide_ids(metis);
  return wide ? partition<std::int64_t>(std::move(metis), undirected.csr(), num_parts, exec)
              : partition<std::int32_t>(std::move(metis), undirected.csr(), num_parts, exec);
}

}  // namespace tendril::build
