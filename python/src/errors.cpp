// Exceptions of the library become those of python/tendril/_errors.py; the message is the library's one line.

#include <new>
#include <stdexcept>
#include <string_view>

#include <nanobind/nanobind.h>

#include <tendril/error.hpp>
#include <tendril/transport.hpp>

#include "bind.hpp"

namespace tendril::python {
namespace {

namespace nb = nanobind;

/// Owned for good: errors may still be translated while the interpreter shuts down.
struct error_types {
  PyObject* base = nullptr;
  PyObject* argument = nullptr;
  PyObject* format = nullptr;
  PyObject* io = nullptr;
  PyObject* memory = nullptr;
  PyObject* device = nullptr;
  PyObject* rank = nullptr;
};
error_types types;

/// The message without the name of the C++ function that Python calls something else: callers know what they called.
char const* plain(std::exception const& e)
{
  std::string_view const text = e.what();
  std::size_t const end = text.find(": ");
  if (end == std::string_view::npos) { return e.what(); }
  std::string_view const function = text.substr(0, end);
  bool const unknown = function == "build_graph" || function.starts_with("generate_");
  return e.what() + (unknown ? end + 2 : 0);
}

void translate(std::exception_ptr const& thrown, void*)
{
  try {
    std::rethrow_exception(thrown);
  } catch (argument_error const& e) {
    PyErr_SetString(types.argument, plain(e));
  } catch (format_error const& e) {
    PyErr_SetString(types.format, plain(e));
  } catch (io_error const& e) {
    PyErr_SetString(types.io, plain(e));
  } catch (memory_error const& e) {
    PyErr_SetString(types.memory, plain(e));
  } catch (device_error const& e) {
    PyErr_SetString(types.device, plain(e));
  } catch (rank_error const& e) {
    PyErr_SetString(types.rank, plain(e));
  } catch (error const& e) {
    PyErr_SetString(types.base, plain(e));
  } catch (std::bad_alloc const&) {
    PyErr_SetString(types.memory, "out of memory: what the call works with doesn't fit");
  } catch (std::length_error const&) {  // a std::vector larger than any memory
    PyErr_SetString(types.memory, "out of memory: what the call works with doesn't fit any memory");
  }
}

}  // namespace

void bind_errors(nb::module_&)
{
  nb::module_ const errors = nb::module_::import_("tendril._errors");
  auto const find = [&](char const* name) { return nb::object(errors.attr(name)).release().ptr(); };
  types = {find("TendrilError"),     find("ArgumentError"), find("FormatError"), find("IoError"),
           find("OutOfMemoryError"), find("DeviceError"),   find("RankError")};
  nb::register_exception_translator(translate);
}

}  // namespace tendril::python
