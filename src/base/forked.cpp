// Remembers whether the process was made by fork.

#include <pthread.h>

#include <tendril/exec.hpp>

namespace tendril {
namespace {

bool is_forked = false;  // written only by the child's one thread, before fork returns

bool const registered = [] { return pthread_atfork(nullptr, nullptr, [] { is_forked = true; }) == 0; }();

}  // namespace

bool forked() noexcept { return registered && is_forked; }

}  // namespace tendril
