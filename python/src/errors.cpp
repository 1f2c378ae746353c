// Exceptions of the library as Python classes. Each is a TendrilError and the built-in exception that fits, so that
// callers may catch either; the message is the library's one line.

#include <string>

#include <nanobind/nanobind.h>

#include <tendril/error.hpp>

#include "bind.hpp"

namespace tendril::python {
namespace {

namespace nb = nanobind;

/// Borrowed from the module, which lives as long as the process: nothing to free at exit.
struct error_types {
  PyObject* base = nullptr;
  PyObject* argument = nullptr;
  PyObject* format = nullptr;
  PyObject* io = nullptr;
  PyObject* memory = nullptr;
};
error_types types;

PyObject* add_error(nb::module_& module, char const* name, char const* doc, nb::handle bases)
{
  std::string const full_name = std::string("tendril.") + name;
  nb::object const type = nb::steal(PyErr_NewExceptionWithDoc(full_name.c_str(), doc, bases.ptr(), nullptr));
  if (!type.is_valid()) { throw nb::python_error(); }
  module.attr(name) = type;
  return type.ptr();
}

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
  } catch (error const& e) {
    PyErr_SetString(types.base, e.what());
  }
}

}  // namespace

void bind_errors(nb::module_& module)
{
  types.base = add_error(module, "TendrilError", "Base of every error that tendril raises on purpose.",
                         PyExc_Exception);
  auto const with = [](PyObject* other) { return nb::make_tuple(nb::handle(types.base), nb::handle(other)); };
  types.argument = add_error(module, "ArgumentError", "An argument that no call could satisfy.",
                             with(PyExc_ValueError));
  types.format = add_error(module, "FormatError", "A file or an array whose content is malformed.",
                           with(PyExc_ValueError));
  types.io = add_error(module, "IoError", "A file that could not be opened, read, written or renamed.",
                       with(PyExc_OSError));
  types.memory = add_error(module, "OutOfMemoryError", "Memory that could not be had.", with(PyExc_MemoryError));
  nb::register_exception_translator(translate);
}

}  // namespace tendril::python
