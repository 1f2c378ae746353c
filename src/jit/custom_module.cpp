#include "jit/custom_module.hpp"

#include <utility>

#include <dlfcn.h>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "jit/code_cache.hpp"
#include "jit/compiler.hpp"
#include "jit/custom_unit.hpp"

namespace tendril::jit {
namespace {

std::shared_ptr<custom_module> load(jit::custom_code const& code, std::string const& unit)
{
  compiler const with = find_compiler(code.options.compiler);
  auto const files = jit::unit_files(code);
  std::string all;
  for (auto const& file : files) { all += jit::content_hash({file.name, file.text}); }
  std::string const name =
      jit::content_hash({with.identity(), fmt::format("{}", fmt::join(library_options(), " ")), unit, all}) + ".so";

  jit::code_cache const cache(code.options.cache_folder);
  std::string problem;
  if (!cache.find(name).empty()) {
    if (auto kept = custom_module::open(*code.kind, cache.path_of(name), problem); kept) { return kept; }
  }
  jit::temporary_folder const folder(cache.work_folder());
  compiled const result = compile_library(with, unit, files, folder.path(), "code.so");
  if (!result.done) { jit::throw_compile_error(code, with.name(), result.output); }
  auto made = custom_module::open(*code.kind, folder.path() / "code.so", problem);
  if (!made) {
    throw io_error(fmt::format("{}: cannot load what {} compiled: {}", code.kind->noun, with.name(), problem));
  }
  cache.keep(name, jit::read_text(folder.path() / "code.so"), folder);
  return made;
}

}  // namespace

std::shared_ptr<custom_module> custom_module::open(jit::custom_kind const& kind, std::filesystem::path const& file,
                                                   std::string& problem)
{
  auto module = std::shared_ptr<custom_module>(new custom_module);
  module->library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  bool complete = module->library_ != nullptr;
  if (complete) {
    module->make_ = reinterpret_cast<engine::custom_make_function*>(dlsym(module->library_, "tendril_make"));
    complete = module->make_ != nullptr;
    for (std::string_view const name : kind.exports) {
      module->functions_.push_back(dlsym(module->library_, std::string(name).c_str()));
      complete = complete && module->functions_.back() != nullptr;
    }
  }
  if (complete) { return module; }
  char const* const said = dlerror();
  problem = said == nullptr ? file.string() : said;
  return nullptr;
}

custom_module::~custom_module()
{
  if (library_ != nullptr) { dlclose(library_); }
}

engine::custom_made custom_module::make(std::vector<engine::custom_word> const& words) const
{
  engine::custom_made made{};
  make_(words.data(), &made);
  return made;
}

std::shared_ptr<custom_module const> module_of(jit::custom_code& code, unit_graph graph)
{
  std::lock_guard const guard(code.mutex);
  std::shared_ptr<void const>& slot = code.modules[{custom_code::host_place, graph}];
  if (!slot) {
    auto module = load(code, cpu_unit(code, graph));
    engine::custom_made const made = module->make(jit::parameter_words(code));
    module->bytes = jit::struct_bytes(code, made);
    module->flags = made.flags;
    slot = std::move(module);
  }
  return std::static_pointer_cast<custom_module const>(slot);
}

}  // namespace tendril::jit
