// The GPU's functions in a build without CUDA: each says so.

#include <utility>

#include <tendril/cluster.hpp>
#include <tendril/compress.hpp>
#include <tendril/custom_application.hpp>
#include <tendril/custom_walk.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/gpu_feature_cache.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/labor.hpp>
#include <tendril/layer_sampling.hpp>
#include <tendril/layers.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/multidim.hpp>
#include <tendril/mvs.hpp>
#include <tendril/place.hpp>
#include <tendril/saint.hpp>
#include <tendril/sample.hpp>
#include <tendril/segment_multinomial.hpp>
#include <tendril/several_gpus.hpp>
#include <tendril/shadow.hpp>
#include <tendril/subgraph.hpp>
#include <tendril/walk.hpp>
#include <tendril/walk_stream.hpp>

#include "features/gpu_ranks.hpp"
#include "samplers/batches/gpu_ranks.hpp"
#include "samplers/batches/state.hpp"
#include "samplers/trees/gpu_ranks.hpp"
#include "samplers/walks/gpu_ranks.hpp"
#include "samplers/walks/walker_state.hpp"

namespace tendril {
namespace {

[[noreturn]] void refuse()
{
  throw device_error(
      "no GPU: this build of Tendril has no CUDA (configure with -DTENDRIL_CUDA=ON, or run ./scripts/setup --cuda; "
      "Python: pip install . --config-settings=cmake.define.TENDRIL_CUDA=ON)");
}

}  // namespace

std::unique_ptr<features::rows_on_gpu_ranks> features::make_rows_on_gpu_ranks(feature_table here,
                                                                              std::vector<std::int64_t> const&,
                                                                              transport&, gpu_exec const&)
{
  (void)feature_table(std::move(here));  // a GPU's rows keep it
  refuse();
}
std::unique_ptr<samplers::batches_on_gpu_ranks> samplers::make_batches_on_gpu_ranks(graph_part const&, graph const&,
                                                                                    minibatch_params const&, transport&,
                                                                                    gpu_exec const&)
{
  refuse();
}
std::unique_ptr<samplers::trees_on_gpu_ranks> samplers::make_trees_on_gpu_ranks(graph_part const&, graph const&,
                                                                                khop_params const&, transport&,
                                                                                gpu_exec const&)
{
  refuse();
}
std::unique_ptr<samplers::walk_on_gpu_ranks> samplers::make_walk_on_gpu_ranks(graph_part const&, graph const&,
                                                                              walk_params const&, std::int64_t,
                                                                              transport&, gpu_exec const&)
{
  refuse();
}

std::unique_ptr<samplers::walk_on_gpu_ranks> samplers::make_walk_on_gpu_ranks(graph_part const&, graph const&,
                                                                              custom_walk const&,
                                                                              dynamic_walk_params const&, transport&,
                                                                              gpu_exec const&)
{
  refuse();
}

int num_gpus() noexcept { return 0; }
gpu_info describe_gpu(int) { refuse(); }
memory_resource& gpu_memory(int, cuda_stream) { refuse(); }
memory_resource& memory_of(gpu_exec const&) { refuse(); }
memory_resource& pinned_memory() { refuse(); }
std::int64_t free_gpu_bytes(int) { refuse(); }
void synchronize(gpu_exec const&) { refuse(); }

memory_resource& lasting_gpu_memory(int, cuda_stream) { refuse(); }
memory_resource& lendable_gpu_memory(int) { refuse(); }
gpu_event::gpu_event(gpu_exec const& exec) : device_(exec.device) { refuse(); }
gpu_event::~gpu_event() = default;
void gpu_event::wait_on(cuda_stream) const { refuse(); }
void gpu_event::synchronize() const { refuse(); }
gpu_stream::gpu_stream(int) { refuse(); }
gpu_stream::~gpu_stream() = default;
int gpu_of(void const*) { refuse(); }
buffer<vertex_id> copy_to_gpu(std::span<vertex_id const>, gpu_exec const&) { refuse(); }
void copy_to_host(void const*, void*, std::size_t, gpu_exec const&) { refuse(); }
void copy_on_gpu(void const*, void*, std::size_t, gpu_exec const&) { refuse(); }
buffer<vertex_id> narrow_ids(id_matrix const&, gpu_exec const&) { refuse(); }
void expect_ids(id_matrix const&, std::string_view, gpu_exec const&) { refuse(); }
void expect_vertices(std::span<vertex_id const>, std::string_view, std::int64_t, gpu_exec const&) { refuse(); }
buffer<vertex_id> every_vertex(std::int64_t, std::int64_t, gpu_exec const&) { refuse(); }
void widen_ids(vertex_id const*, std::int64_t, std::int64_t, std::int64_t*, std::int64_t, gpu_exec const&) { refuse(); }
void write_edge_lists(std::span<batch_edge_list const>, std::int64_t*, gpu_exec const&) { refuse(); }

struct gpu_features::history {};
gpu_features::gpu_features(feature_table table, gpu_exec const&, work_share) : table_(std::move(table)) { refuse(); }
void gpu_features::gather(id_matrix const&, std::span<std::byte>, gpu_exec const&) const { refuse(); }
void gpu_features::gather_unchecked(id_matrix const&, std::span<std::byte>, gpu_exec const&, gather_way) const
{
  refuse();
}

struct gpu_cache_step::state {};
std::int64_t gpu_cache_step::num_ids() const noexcept { return 0; }
gpu_cache_step::counts const& gpu_cache_step::count() const { refuse(); }
std::span<vertex_id const> gpu_cache_step::missed() const noexcept { return {}; }
std::span<std::uint32_t const> gpu_cache_step::sources() const noexcept { return {}; }
std::span<std::uint32_t const> gpu_cache_step::kept() const noexcept { return {}; }
std::span<std::uint32_t const> gpu_cache_step::kept_slots() const noexcept { return {}; }

struct gpu_row_cache::state {
  row_cache_params params;
};
gpu_row_cache::gpu_row_cache(row_cache_params const&, gpu_exec const&) { refuse(); }
gpu_row_cache::~gpu_row_cache() = default;
gpu_row_cache::gpu_row_cache(gpu_row_cache&&) noexcept = default;
gpu_row_cache& gpu_row_cache::operator=(gpu_row_cache&&) noexcept = default;
void gpu_row_cache::fill(std::span<vertex_id const>, gpu_exec const&) { refuse(); }
void gpu_row_cache::rank(std::span<std::uint8_t const>, gpu_exec const&) { refuse(); }
void gpu_row_cache::see(id_matrix const&, gpu_exec const&) { refuse(); }
gpu_cache_step gpu_row_cache::serve(gpu_exec const&) { refuse(); }
std::span<vertex_id const> gpu_row_cache::content() const noexcept { return {}; }
row_cache_params const& gpu_row_cache::params() const noexcept { return state_->params; }

gpu_cached_features::gpu_cached_features(gpu_features table, std::int64_t, gpu_exec const&) : table_(std::move(table))
{
  refuse();
}
void gpu_cached_features::fill(std::span<vertex_id const>, gpu_exec const&) { refuse(); }
void gpu_cached_features::gather(gpu_cache_step const&, std::span<std::byte>, gpu_exec const&, gather_way) { refuse(); }

gpu_row_counts::gpu_row_counts(std::int64_t, gpu_exec const&) { refuse(); }
void gpu_row_counts::add(id_matrix const&, gpu_exec const&) { refuse(); }
buffer<vertex_id> gpu_row_counts::best(std::int64_t, gpu_exec const&) const { refuse(); }
buffer<std::uint8_t> gpu_row_counts::scores(gpu_exec const&) const { refuse(); }

feature_table to_gpu(feature_table const&, gpu_exec const&) { refuse(); }
feature_table to_host(feature_table const& table) { return table; }  // no table lies on a GPU
feature_table pin_memory(feature_table const&, cpu_exec const&) { refuse(); }

graph compress(graph const&, graph_form, gpu_exec const&) { refuse(); }
graph to_csr(graph const&, gpu_exec const&) { refuse(); }
graph to_gpu(graph const&, gpu_exec const&) { refuse(); }
hetero_graph to_gpu(hetero_graph const&, gpu_exec const&) { refuse(); }
graph place_graph(graph const&, place_params const&, gpu_exec const&) { refuse(); }
hetero_graph place_graph(hetero_graph const&, place_params const&, gpu_exec const&) { refuse(); }
bool fits_on_gpu(graph const&, std::int64_t, gpu_exec const&) { refuse(); }
graph fit_on_gpu(graph const&, place_params const&, gpu_exec const&) { refuse(); }
hetero_graph fit_on_gpu(hetero_graph const&, place_params const&, gpu_exec const&) { refuse(); }
temporal_order order_by_time(graph const&, std::span<std::int64_t const>, gpu_exec const&) { refuse(); }
temporal_order order_by_vertex_time(graph const&, std::span<std::int64_t const>, gpu_exec const&) { refuse(); }

graph build_graph(coo_view const&, build_options const&, gpu_exec const&) { refuse(); }
graph generate_rmat(rmat_params const&, build_options const&, edge_attributes const&, gpu_exec const&) { refuse(); }
graph generate_er(er_params const&, build_options const&, edge_attributes const&, gpu_exec const&) { refuse(); }
graph generate_web(web_params const&, build_options const&, edge_attributes const&, gpu_exec const&) { refuse(); }
graph generate_powerlaw(powerlaw_params const&, build_options const&, edge_attributes const&, gpu_exec const&)
{
  refuse();
}

multidim_walks multidim_walk(graph const&, std::span<vertex_id const>, std::int64_t, multidim_params const&,
                             gpu_exec const&, std::int64_t)
{
  refuse();
}

subgraphs induced_subgraphs(graph const&, std::span<vertex_id const>, std::span<std::int64_t const>, gpu_exec const&)
{
  refuse();
}

subgraphs saint_sample(graph const&, saint_params const&, std::int64_t, gpu_exec const&, std::int64_t, std::int64_t)
{
  refuse();
}

saint_coefficients saint_normalization(graph const&, saint_params const&, std::int64_t, gpu_exec const&, std::int64_t)
{
  refuse();
}

subgraphs shadow_sample(graph const&, std::span<vertex_id const>, shadow_params const&, gpu_exec const&, std::int64_t)
{
  refuse();
}

buffer<vertex_id> cluster_vertices(graph const&, clustering_params const&, gpu_exec const&) { refuse(); }
vertex_clusters group_clusters(std::span<vertex_id const>, std::int64_t, gpu_exec const&) { refuse(); }

subgraphs cluster_sample(graph const&, vertex_clusters const&, cluster_params const&, std::int64_t, gpu_exec const&,
                         std::int64_t)
{
  refuse();
}

subgraphs cluster_subgraphs(graph const&, vertex_clusters const&, std::span<vertex_id const>,
                            std::span<std::int64_t const>, gpu_exec const&)
{
  refuse();
}

layer_samples fastgcn_sample(graph const&, std::span<vertex_id const>, std::int64_t, fastgcn_params const&,
                             gpu_exec const&, std::int64_t)
{
  refuse();
}

layer_samples ladies_sample(graph const&, std::span<vertex_id const>, std::int64_t, ladies_params const&,
                            gpu_exec const&, std::int64_t)
{
  refuse();
}

mvs_batches mvs_sample(graph const&, std::span<float const>, std::int64_t, mvs_params const&, gpu_exec const&,
                       std::int64_t)
{
  refuse();
}

samples layer_sample(graph const&, std::span<vertex_id const>, std::int64_t, layer_params const&, gpu_exec const&,
                     std::int64_t)
{
  refuse();
}

std::vector<planned_step> plan_layer_sample(graph const&, std::int64_t, std::int64_t, layer_params const&,
                                            gpu_exec const&)
{
  refuse();
}

labor_batch labor_sample(graph const&, std::span<vertex_id const>, labor_params const&, gpu_exec const&) { refuse(); }

// NOLINTNEXTLINE(performance-unnecessary-value-param): what a GPU's sampler keeps
minibatch_sampler::minibatch_sampler(hetero_graph, minibatch_params, gpu_exec const&, minibatch_executor) { refuse(); }

segment_picks segment_multinomial(std::span<std::int64_t const>, std::span<float const>, std::span<vertex_id const>,
                                  segment_params const&, gpu_exec const&)
{
  refuse();
}

minibatch neighbor_sample(graph const&, std::span<vertex_id const>, minibatch_params const&, gpu_exec const&,
                          std::uint64_t)
{
  refuse();
}

walker::walker(graph const&, walk_params const&, std::int64_t, gpu_exec const&) { refuse(); }
walks walker::run(std::span<vertex_id const>, std::int64_t, gpu_exec const&, walk_order) const { refuse(); }

void walker::run_into(std::span<vertex_id const>, std::int64_t, vertex_id*, std::int32_t*, gpu_exec const&,
                      walk_order) const
{
  refuse();
}

ragged_walks walker::run_ragged(std::span<vertex_id const>, std::int64_t, gpu_exec const&) const { refuse(); }

sampling_plan plan_walk(graph const&, walk_params const&, std::int64_t, gpu_exec const&) { refuse(); }
sampling_plan plan_khop(graph const&, khop_params const&, std::int64_t, gpu_exec const&) { refuse(); }
sampling_plan plan_minibatch(hetero_graph const&, minibatch_params const&, gpu_exec const&) { refuse(); }

khop_trees khop_sample(graph const&, std::span<vertex_id const>, khop_params const&, gpu_exec const&, std::int64_t,
                       bool)
{
  refuse();
}

walks random_walk(graph const&, std::span<vertex_id const>, walk_params const&, gpu_exec const&, std::int64_t,
                  walk_order)
{
  refuse();
}

void custom_walk::compile(gpu_exec const&) const { refuse(); }

walks custom_walk::run(graph const&, std::span<vertex_id const>, dynamic_walk_params const&, gpu_exec const&,
                       std::int64_t) const
{
  refuse();
}

void custom_walk::run_into(graph const&, std::span<vertex_id const>, dynamic_walk_params const&, std::int64_t,
                           vertex_id*, std::int32_t*, gpu_exec const&) const
{
  refuse();
}

ragged_walks custom_walk::run_ragged(graph const&, std::span<vertex_id const>, dynamic_walk_params const&,
                                     gpu_exec const&, std::int64_t) const
{
  refuse();
}

void custom_application::compile(gpu_exec const&) const { refuse(); }

samples custom_application::run(graph const&, std::span<vertex_id const>, std::int64_t, application_params const&,
                                gpu_exec const&, std::int64_t) const
{
  refuse();
}

std::vector<planned_step> custom_application::plan(graph const&, std::int64_t, std::int64_t, application_params const&,
                                                   gpu_exec const&) const
{
  refuse();
}

walk_stream_report stream_walks(walker const&, walk_stream_job const&, gpu_exec const&) { refuse(); }

walk_stream_report stream_walks(std::span<walker const>, walk_stream_job const&) { refuse(); }

walk_stream_report stream_multidim_walks(graph const&, std::int64_t, multidim_params const&, walk_stream_job const&,
                                         gpu_exec const&)
{
  refuse();
}

walk_stream_report stream_multidim_walks(std::span<graph const>, std::int64_t, multidim_params const&,
                                         walk_stream_job const&)
{
  refuse();
}

memory_resource& spread_gpu_memory(gpu_set const&, spread_layout) { refuse(); }

feature_table spread_over_gpus(feature_table const&, gpu_set const&, std::span<std::int64_t const>) { refuse(); }

void copy_between_gpus(void const*, int, void*, std::size_t, gpu_exec const&) { refuse(); }

graph to_host(graph const& input, gpu_exec const&)
{
  if (input.device() < 0) { return input; }
  refuse();
}

}  // namespace tendril
