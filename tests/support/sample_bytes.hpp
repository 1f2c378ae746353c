// The bytes of results, to compare samples of whatever sampler.

#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <tendril/buffer.hpp>

namespace tendril::test {

/// What a sampler returned, one string of bytes an array.
class sample_bytes {
 public:
  template <class... Arrays>
  explicit sample_bytes(Arrays const&... arrays)
  {
    add(arrays...);
  }

  template <class... Arrays>
  void add(Arrays const&... arrays)
  {
    (bytes_.emplace_back(reinterpret_cast<char const*>(arrays.data()),
                         static_cast<std::size_t>(arrays.size()) * sizeof(*arrays.data())),
     ...);
  }

  friend bool operator==(sample_bytes const&, sample_bytes const&) = default;

 private:
  std::vector<std::string> bytes_;
};

}  // namespace tendril::test
