// Any bytes as a file for read_features. What it accepts is a table of which every row can be gathered.

#include <tendril/features.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <tendril/error.hpp>

namespace {

/// A file in memory that has a path.
class memory_file {
 public:
  explicit memory_file(std::span<std::uint8_t const> bytes) : descriptor_(memfd_create("features", 0))
  {
    if (descriptor_ < 0 || write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      __builtin_trap();
    }
  }
  ~memory_file() { close(descriptor_); }
  memory_file(memory_file const&) = delete;
  memory_file& operator=(memory_file const&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  using namespace tendril;  // NOLINT(google-build-using-namespace): a fuzz target has one function
  memory_file const file(std::span(data, size));
  try {
    feature_table const table = read_features(file.path());
    std::int64_t const last = table.num_rows() - 1;
    if (last < 0 || table.row_bytes() > (1 << 20)) { return 0; }
    std::vector<std::int64_t> const ids{0, last / 2, last};
    std::vector<std::byte> out(ids.size() * static_cast<std::size_t>(table.row_bytes()));
    gather(table, std::span<std::int64_t const>(ids), out, cpu_exec{1});
  } catch (error const& e) {
    std::string_view const what = e.what();
    if (what.empty() || what.find('\n') != std::string_view::npos) { __builtin_trap(); }
  }
  return 0;
}
