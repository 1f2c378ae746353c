#pragma once

#include <cstdlib>
#include <string>
#include <utility>

namespace tendril::test {

/// A variable of the environment that has a value as long as the object lives. Not while other threads read the environment.
class scoped_variable {
 public:
  scoped_variable(std::string name, std::string const& value) : name_(std::move(name))
  {
    char const* const before = std::getenv(name_.c_str());
    had_ = before != nullptr;
    if (had_) { before_ = before; }
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~scoped_variable()
  {
    if (had_) {
      setenv(name_.c_str(), before_.c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }
  scoped_variable(scoped_variable const&) = delete;
  scoped_variable& operator=(scoped_variable const&) = delete;

 private:
  std::string name_, before_;
  bool had_ = false;
};

}  // namespace tendril::test
