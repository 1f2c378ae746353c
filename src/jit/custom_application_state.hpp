// What the executors keep of an application that came as text.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include <tendril/custom_application.hpp>
#include <tendril/engine/applications/custom_application_unit.hpp>
#include <tendril/engine/applications/support.hpp>

#include "jit/custom_code.hpp"

namespace tendril {

namespace jit {

[[nodiscard]] custom_kind const& application_kind();

/// What an application said of itself.
struct known_application {
  bool asked = false;
  engine::custom_about about;
  std::vector<engine::step_request> requests;  ///< Of the first steps.
};

/// Asks the compiled application: what it is, and for its requests at steps [0, num_steps).
using ask_application =
    std::function<void(std::int32_t num_steps, engine::custom_about* about, engine::step_request* requests)>;

/// The job of a call whose arguments are in order. Asks only for what `state` doesn't know yet.
/// @param place  Where the application was compiled for: a GPU's number, or -1.
/// @throws as engine::make_job and `ask`.
[[nodiscard]] engine::application_job custom_job(custom_application::state& state, int place,
                                                 ask_application const& ask, std::int64_t num_root_ids,
                                                 std::int64_t num_roots, application_params const& params);

}  // namespace jit

struct custom_application::state : jit::custom_code {
  state() : custom_code(jit::application_kind()) {}

  std::mutex known_mutex;
  std::map<int, jit::known_application> known;  ///< By place.
};

}  // namespace tendril
