// Walks that come as text on the CPU: compiled to a shared library, which is opened and run. What is in it:
// include/tendril/engine/custom_cpu.hpp. GPU twin: src/gpu/custom_walk.cpp.

#include <tendril/custom_walk.hpp>

#include <utility>

#include <dlfcn.h>

#include <fmt/format.h>

#include <tendril/engine/custom_cpu.hpp>
#include <tendril/engine/dynamic_support.hpp>
#include <tendril/error.hpp>

#include "cpu/compiler.hpp"
#include "plan/custom_unit.hpp"
#include "store/code_cache.hpp"

namespace tendril {
namespace cpu {
namespace {

/// An open library, and the struct that its walk is.
class custom_module {
 public:
  /// @return null if the file is no library of this kind, and why in `problem`.
  static std::shared_ptr<custom_module> open(std::filesystem::path const& file, std::string& problem)
  {
    auto module = std::shared_ptr<custom_module>(new custom_module);
    module->library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module->library_ != nullptr) {
      module->make = reinterpret_cast<engine::custom_make_function*>(dlsym(module->library_, "tendril_make"));
      module->walk = reinterpret_cast<engine::custom_walk_function*>(dlsym(module->library_, "tendril_walk"));
      if (module->make != nullptr && module->walk != nullptr) { return module; }
    }
    char const* const said = dlerror();
    problem = said == nullptr ? file.string() : said;
    return nullptr;
  }
  ~custom_module()
  {
    if (library_ != nullptr) { dlclose(library_); }
  }
  custom_module(custom_module const&) = delete;
  custom_module& operator=(custom_module const&) = delete;

  engine::custom_make_function* make = nullptr;
  engine::custom_walk_function* walk = nullptr;
  std::vector<std::byte> bytes;  ///< Of the struct.
  bool has_bound = false;

 private:
  custom_module() = default;
  void* library_ = nullptr;
};

/// From the cache, or compiled and put there.
std::shared_ptr<custom_module> load(custom_walk::state const& walk)
{
  compiler const with = find_compiler(walk.options.compiler);
  std::string const unit = plan::cpu_unit(walk);
  auto const files = plan::unit_files(walk);
  std::string all;
  for (auto const& file : files) { all += store::content_hash({file.name, file.text}); }
  std::string const name =
      store::content_hash({with.identity(), fmt::format("{}", fmt::join(library_options(), " ")), unit, all}) + ".so";

  store::code_cache const cache(walk.options.cache_folder);
  std::string problem;
  if (!cache.find(name).empty()) {
    if (auto kept = custom_module::open(cache.path_of(name), problem); kept) { return kept; }
  }
  store::temporary_folder const folder(cache.work_folder());
  compiled const result = compile_library(with, unit, files, folder.path(), "walk.so");
  if (!result.done) { plan::throw_compile_error(walk, with.name(), result.output); }
  auto made = custom_module::open(folder.path() / "walk.so", problem);
  if (!made) { throw io_error(fmt::format("walk: cannot load what {} compiled: {}", with.name(), problem)); }
  cache.keep(name, store::read_text(folder.path() / "walk.so"), folder);
  return made;
}

/// The walk's library, opened when first asked for.
std::shared_ptr<custom_module const> module_of(custom_walk::state& walk)
{
  std::lock_guard const guard(walk.mutex);
  if (!walk.cpu) {
    auto module = load(walk);
    engine::custom_made made{};
    module->make(plan::parameter_words(walk).data(), &made);
    module->bytes = plan::struct_bytes(walk, made);
    module->has_bound = made.has_bound != 0;
    walk.cpu = std::move(module);
  }
  return std::static_pointer_cast<custom_module const>(walk.cpu);
}

/// Walks a batch by the code of a module, which must outlive what is returned, as `exec` must.
auto runner(custom_module const& module, cpu_exec const& exec)
{
  return [&](engine::dynamic_setup const& setup, bool rejecting, engine::dynamic_batch const& batch) {
    engine::for_each_run(batch.size, exec, [&](std::int64_t begin, std::int64_t end) {
      engine::dynamic_report report{};
      if (module.walk(module.bytes.data(), &setup, rejecting ? 1 : 0, &batch, begin, end, &report) != 0) {
        engine::throw_problem(report, setup.graph.num_vertices);
      }
    });
  };
}

}  // namespace
}  // namespace cpu

void custom_walk::compile(cpu_exec const&) const { (void)cpu::module_of(*state_); }

void custom_walk::run_into(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                           std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths,
                           cpu_exec const& exec) const
{
  auto const module = cpu::module_of(*state_);
  engine::run_walk_into(graph, starts, params, module->has_bound, exec, first_walk, {vertices, lengths},
                        cpu::runner(*module, exec));
}

walks custom_walk::run(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                       cpu_exec const& exec, std::int64_t first_walk) const
{
  auto const module = cpu::module_of(*state_);
  return engine::run_walk_on_cpu(graph, starts, params, module->has_bound, exec, first_walk,
                                 cpu::runner(*module, exec));
}

}  // namespace tendril
