// What a program does that reads a mapped file past its end.

#include <atomic>
#include <csignal>
#include <cstring>

#include <unistd.h>

#include <tendril/file.hpp>

namespace tendril {
namespace {

struct sigaction before;  // what SIGBUS led to
pid_t installer = -1;     // a process that it forks has the names of its temporary files, too

void write_to_stderr(char const* text)
{
  [[maybe_unused]] auto const written = write(STDERR_FILENO, text, std::strlen(text));
}

/// Async-signal-safe.
extern "C" void end_on_truncated_file(int signal, siginfo_t* info, void* /*context*/)
{
  static std::atomic_flag claimed = ATOMIC_FLAG_INIT;
  char const* const file = info->si_code > 0 ? mapped_file_at(info->si_addr) : nullptr;
  if (file == nullptr) {
    sigaction(signal, &before, nullptr);
    raise(signal);
    return;
  }
  while (claimed.test_and_set()) { pause(); }  // another thread reads there too and ends the process
  if (getpid() == installer) { atomic_file::remove_all_unfinished(); }
  if (isatty(STDERR_FILENO) == 1) { write_to_stderr("\r\x1b[K"); }
  write_to_stderr("tendril: error: ");
  for (char const* c = file; *c != '\0'; ++c) {  // one line, whatever the name
    char const letter[] = {*c == '\n' ? ' ' : *c, '\0'};
    write_to_stderr(letter);
  }
  write_to_stderr(": the file was truncated while it was read\n");
  _exit(1);
}

}  // namespace

void end_process_on_truncated_file() noexcept
{
  static std::atomic_flag installed = ATOMIC_FLAG_INIT;
  if (installed.test_and_set()) { return; }
  installer = getpid();
  struct sigaction action {};
  action.sa_sigaction = end_on_truncated_file;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

}  // namespace tendril
