// Weighted picks of k-hop trees with replacement: by alias table a gather of 16 bytes a pick, or, where positions are
// asked for, one more; by prefix sums a search; by sums of weights a search and a scan of a few weights. Pick j of a parent
// draws block j. The rules: src/core/{alias,its,weight_sums}.hpp. CPU twin: src/cpu/picks/neighbor_picks.hpp.

#include "gpu/picks/summed_picks.cuh"
#include "gpu/trees/part.cuh"

namespace tendril::gpu {
namespace {

struct record_choice {
  plan::alias_record const* records;

  template <class Part>
  __device__ vertex_pair operator()(Part const& part, std::uint32_t parent, typename Part::vertex_type const& row,
                                    std::uint32_t slot) const
  {
    plan::alias_record const* const own = records + row.first_edge();
    auto const draw = part.draws(parent, row);
    return choose_pair<vertex_pair>(slot, part.fanout(), [&](std::uint32_t j) {
      core::random_block const block = draw(j);
      plan::alias_record const record = own[core::bounded(block.low(), row.degree())];
      return block.high() < record.threshold ? record.here : record.there;
    });
  }
};

struct its_choice {
  std::uint64_t const* prefix_sums;

  template <class Part>
  __device__ slot_pair operator()(Part const& part, std::uint32_t parent, typename Part::vertex_type const& row,
                                  std::uint32_t slot) const
  {
    std::uint64_t const* const own = prefix_sums + row.first_edge();
    auto const draw = part.draws(parent, row);
    return choose_pair<slot_pair>(slot, part.fanout(),
                                  [&](std::uint32_t j) { return core::its_pick(own, row.degree(), draw(j).low()); });
  }
};

template <class Choice>
void enqueue(khop_job const& job, Choice choice, gpu_exec const& exec)
{
  with_view(job, [&](auto const& work) { enqueue_pairs(work, choice, exec); });
}

}  // namespace

void alias_hop(khop_job const& job, plan::alias_record const* records, gpu_exec const& exec)
{
  enqueue(job, record_choice{records}, exec);
}

void alias_hop(khop_job const& job, core::alias_bucket const* buckets, gpu_exec const& exec)
{
  enqueue(job, bucket_choice{buckets}, exec);
}

void its_hop(khop_job const& job, std::uint64_t const* prefix_sums, gpu_exec const& exec)
{
  enqueue(job, its_choice{prefix_sums}, exec);
}

void summed_hop(khop_job const& job, plan::weight_sums const& sums, sampling_rule rule, gpu_exec const& exec)
{
  auto const tables = summed_tables::of(&sums);
  if (rule == sampling_rule::its) {
    enqueue(job, summed_choice<true>{tables}, exec);
  } else {
    enqueue(job, summed_choice<false>{tables}, exec);
  }
}

}  // namespace tendril::gpu
