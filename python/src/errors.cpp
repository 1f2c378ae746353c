// Exceptions of the library become those of python/tendril/_errors.py; the message is the library's one line.

#include <new>
#include <stdexcept>

#include <nanobind/nanobind.h>

#include <tendril/error.hpp>

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
};
error_types types;

void translate(std::exception_ptr const& thrown, void*)
{
  try {
    std::rethrow_exception(thrown);
  } catch (argument_error const& e) {
    PyErr_SetString(types.argument, e.what());
  } catch (format_error const& e) {
    PyErr_SetString(types.format, e.what());
  } catch (io_error const& e) {
    PyErr_SetString(types.io, e.what());
  } catch (memory_error const& e) {
    PyErr_SetString(types.memory, e.what());
  } catch (device_error const& e) {
    PyErr_SetString(types.device, e.what());
  } catch (error const& e) {
    PyErr_SetString(types.base, e.what());
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
  types = {find("TendrilError"), find("ArgumentError"),    find("FormatError"),
           find("IoError"),      find("OutOfMemoryError"), find("DeviceError")};
  nb::register_exception_translator(translate);
}

}  // namespace tendril::python
