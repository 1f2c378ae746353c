#include "base/team.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

namespace tendril::base {
namespace {

/// Parallel loops of one batch follow each other within this time. Waiting longer costs more than waking.
constexpr auto patience = std::chrono::microseconds(20);

enum class task : int { none, posted, running };

void pause()
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Waits while `state` is `value`: watches for a moment, then sleeps. @return what it is then.
task wait_while(std::atomic<task> const& state, task value)
{
  auto const start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < patience) {
    for (int i = 0; i < 16; ++i) {
      if (task const now = state.load(std::memory_order_acquire); now != value) { return now; }
      pause();
    }
  }
  for (task now = state.load(std::memory_order_acquire);; now = state.load(std::memory_order_acquire)) {
    if (now != value) { return now; }
    state.wait(value, std::memory_order_acquire);
  }
}

thread_local int own_number = 0;
thread_local bool is_member = false;

/// Does the work of a member.
void work_as(int member, void (*work)(void*, int), void* context)
{
  int const number = std::exchange(own_number, member);
  bool const was_member = std::exchange(is_member, true);
  work(context, member);
  own_number = number;
  is_member = was_member;
}

/// A thread of its own. Who posts a task sets the others first; they are read only by who gets it running.
struct worker {
  std::atomic<task> state{task::none};
  void (*work)(void*, int) = nullptr;
  void* context = nullptr;
  int member = 0;

  void post(void (*the_work)(void*, int), void* the_context, int the_member)
  {
    work = the_work;
    context = the_context;
    member = the_member;
    state.store(task::posted, std::memory_order_release);
    state.notify_one();
  }

  /// @return false: the task was taken back before it ran.
  bool wait_for_end()
  {
    task posted = task::posted;
    if (state.compare_exchange_strong(posted, task::none, std::memory_order_acq_rel)) { return false; }
    while (wait_while(state, task::running) != task::none) {}
    return true;
  }

  [[noreturn]] void run()
  {
    while (true) {
      task posted = wait_while(state, task::none);
      if (!state.compare_exchange_strong(posted, task::running, std::memory_order_acq_rel)) { continue; }
      work_as(member, work, context);
      state.store(task::none, std::memory_order_release);
      state.notify_one();
    }
  }
};

/// The workers that have nothing to do. They are never destroyed: they may sleep until the process ends.
class worker_pool {
 public:
  /// One for all. A process that is forked off has none of the threads, and starts its own.
  static worker_pool& instance()
  {
    static worker_pool* const pool = [] {
      static worker_pool* const made = new worker_pool;
      pthread_atfork([] { made->mutex_.lock(); }, [] { made->mutex_.unlock(); },
                     [] {
                       made->idle_.clear();
                       made->mutex_.unlock();
                     });
      return made;
    }();
    return *pool;
  }

  /// Nothing if no more threads can be started.
  worker* take() noexcept
  {
    {
      std::lock_guard const lock(mutex_);
      if (!idle_.empty()) {
        worker* const last = idle_.back();
        idle_.pop_back();
        return last;
      }
    }
    return start();
  }

  void give_back(std::vector<worker*> const& workers) noexcept
  {
    std::lock_guard const lock(mutex_);
    idle_.insert(idle_.end(), workers.rbegin(), workers.rend());  // start() made room for all there are
  }

 private:
  /// Work that was posted before must go on, so what is thrown for want of memory or threads ends here.
  worker* start() noexcept
  try {
    {
      std::lock_guard const lock(mutex_);
      idle_.reserve(++num_started_);
    }
    auto made = std::make_unique<worker>();
    // Signals are for the threads of the program, but faults for who makes them: a mapped file may be cut short.
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (int const fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) { sigdelset(&blocked, fault); }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    try {
      std::thread([one = made.get()] { one->run(); }).detach();
    } catch (std::exception const&) {
      made.reset();
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made.release();
  } catch (std::exception const&) {
    return nullptr;
  }

  std::mutex mutex_;
  std::vector<worker*> idle_;
  std::size_t num_started_ = 0;  // or tried
};

}  // namespace

int team_member() noexcept { return own_number; }

void run_team(int size, void (*work)(void*, int), void* context)
{
  std::vector<worker*> workers;
  if (size > 1 && !is_member) {
    workers.reserve(static_cast<std::size_t>(size - 1));
    auto& pool = worker_pool::instance();
    for (int member = 1; member < size; ++member) {
      worker* const one = pool.take();
      if (one == nullptr) { break; }
      one->post(work, context, member);
      workers.push_back(one);
    }
  }
  work_as(0, work, context);
  int member = 1;
  for (worker* const one : workers) {
    if (!one->wait_for_end()) { work_as(member, work, context); }
    ++member;
  }
  for (; member < size; ++member) { work_as(member, work, context); }
  if (!workers.empty()) { worker_pool::instance().give_back(workers); }
}

}  // namespace tendril::base
