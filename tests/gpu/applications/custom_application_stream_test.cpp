// Applications that come as text, on graphs that stream through the GPU, or lie there in part.

#include <string>

#include <gtest/gtest.h>

#include <tendril/custom_application.hpp>
#include <tendril/engine/applications/apps.hpp>
#include <tendril/engine/applications/cpu.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/starts.hpp>

#include "gpu/graph/stream_layout.hpp"
#include "support/compare_samples.hpp"
#include "support/nvrtc_test.hpp"

namespace tendril::test {
namespace {

class CustomApplicationStream : public nvrtc_gpu_test {
 protected:
  graph host = generate_rmat({.scale = 11, .edge_factor = 8, .seed = 3}, {.drop_duplicates = true});
};

TEST_F(CustomApplicationStream, IsThatOfTheCpu)
{
  std::string const text = "#include <tendril/engine/applications/apps.hpp>\nstruct mine : tendril::apps::khop {};\n";
  std::string const silent =
      "#include <tendril/engine/applications/apps.hpp>\n"
      "struct mine : tendril::apps::khop { static constexpr bool reads_transit_only = false; };\n";
  auto const bytes = gpu::graph_bytes::of(host.csr());
  auto const roots = random_vertices(host.num_vertices(), 500, 5);
  auto const roots_there = copy_to_gpu(roots.span(), exec);
  application_params params;
  auto const expected = run_application(host, apps::khop{}, roots.span(), 1, params);
  params.gpu_memory = bytes.resident + (bytes.all - bytes.resident) / 3;
  custom_application const application(text, "mine", {}, options);
  expect_same_samples(expected, application.run(host, roots_there.span(), 1, params, exec), &exec);
  custom_application const placed(silent, "mine", {}, options);
  expect_same_samples(expected, placed.run(host, roots_there.span(), 1, params, exec), &exec);
  params.gpu_memory = bytes.all;
  expect_same_samples(expected, placed.run(host, roots_there.span(), 1, params, exec), &exec);
}

}  // namespace
}  // namespace tendril::test
