// Mistakes that a sanitizer must report: a build whose sanitizers are asleep passes every other test.
// The argument names the mistake; the exit status is 0 if no sanitizer noticed.

#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

namespace {

void read_past_the_end(int size)
{
  auto const numbers = std::make_unique<int[]>(static_cast<std::size_t>(size));
  volatile int const past = numbers[static_cast<std::size_t>(size)];
  static_cast<void>(past);
}

void overflow(int one)
{
  volatile int const sum = std::numeric_limits<int>::max() + one;
  static_cast<void>(sum);
}

void race()
{
  volatile int shared = 0;  // so that there are as many accesses: of two at the same moment the sanitizer may miss one
  auto const count = [&shared] {
    for (int i = 0; i < 100000; ++i) { shared = shared + 1; }
  };
  std::thread other(count);
  count();
  other.join();
}

}  // namespace

int main(int argc, char** argv)
{
  if (argc == 2 && std::strcmp(argv[1], "address") == 0) { read_past_the_end(argc); }
  if (argc == 2 && std::strcmp(argv[1], "undefined") == 0) { overflow(argc - 1); }
  if (argc == 2 && std::strcmp(argv[1], "thread") == 0) { race(); }
  return EXIT_SUCCESS;
}
