// Basic indexing: integers, slices, `...` and None give views. Anything else is left to Python's side, which is told by
// None.
#include "handle.hpp"

namespace troupe::python {
namespace {

/// One part of a key, and what it does to the axes.
struct KeyParts {
  std::vector<nb::handle> parts;
  int axes = 0;  // that integers and slices take
  bool has_ellipsis = false;
};

bool is_integer(nb::handle item) {
  return !PyBool_Check(item.ptr()) && !is_array(item) && (PyLong_Check(item.ptr()) || PyIndex_Check(item.ptr()));
}

/// NumPy's arrays of one element can be integers, too; those with axes are lists of indices.
bool has_axes(nb::handle item) {
  if (PyLong_CheckExact(item.ptr())) return false;
  const nb::object rank = nb::getattr(item, "ndim", nb::none());
  return !rank.is_none() && nb::cast<int>(rank) > 0;
}

/// False when there is something else than basic indices.
bool collect(nb::handle key, KeyParts& key_parts) {
  const auto add = [&](nb::handle item) {
    if (item.ptr() == Py_Ellipsis) {
      if (key_parts.has_ellipsis) throw nb::index_error("an index can have one '...' only");
      key_parts.has_ellipsis = true;
    } else if (PySlice_Check(item.ptr()) || (is_integer(item) && !has_axes(item))) {
      ++key_parts.axes;
    } else if (!item.is_none()) {
      return false;
    }
    key_parts.parts.push_back(item);
    return true;
  };
  if (!PyTuple_Check(key.ptr())) return add(key);
  const Py_ssize_t count = PyTuple_Size(key.ptr());
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!add(PyTuple_GetItem(key.ptr(), i))) return false;
  return true;
}

AnyArray with_axis_in_front(const AnyArray& array) {
  std::vector<std::int64_t> extents{1};
  extents.insert(extents.end(), array.shape().begin(), array.shape().end());
  return checked(array.broadcast(Shape(extents)));
}

AnyArray with_axis(const AnyArray& array, int axis) {
  AnyArray longer = with_axis_in_front(array);
  if (axis == 0) return longer;
  std::vector<int> order;
  for (int i = 1; i <= axis; ++i) order.push_back(i);
  order.push_back(0);
  for (int i = axis + 1; i < longer.rank(); ++i) order.push_back(i);
  return checked(longer.permute(order));
}

AnyArray sliced(const AnyArray& array, int axis, nb::handle slice) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) != 0) throw nb::python_error();
  const Py_ssize_t count = PySlice_AdjustIndices(array.shape()[axis], &start, &stop, step);
  if (count == 0) return checked(array.slice(axis, 0, 0));
  if (count == 1) return checked(array.slice(axis, start, start + 1));
  return checked(array.slice(axis, start, stop, step));
}

AnyArray selected(const AnyArray& array, int axis, nb::handle item) {
  const Py_ssize_t index = PyNumber_AsSsize_t(item.ptr(), PyExc_IndexError);
  if (index == -1 && PyErr_Occurred()) throw nb::python_error();
  const std::int64_t extent = array.shape()[axis];
  if (index < -extent || index >= extent) {
    PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %d with size %lld", index, axis,
                 static_cast<long long>(extent));
    throw nb::python_error();
  }
  return checked(array.select(axis, index < 0 ? index + extent : index));
}

/// The view that a basic key names; nothing for another key.
std::optional<AnyArray> view_of(const AnyArray& array, nb::handle key) {
  KeyParts key_parts;
  if (!collect(key, key_parts)) return std::nullopt;
  if (key_parts.axes > array.rank()) {
    PyErr_Format(PyExc_IndexError, "too many indices: the array has %d dimensions, and %d were indexed", array.rank(),
                 key_parts.axes);
    throw nb::python_error();
  }
  const int skipped = array.rank() - key_parts.axes;
  AnyArray view = array;
  int axis = 0;
  for (const nb::handle part : key_parts.parts) {
    if (part.ptr() == Py_Ellipsis) {
      axis += skipped;
    } else if (part.is_none()) {
      view = with_axis(view, axis++);
    } else if (PySlice_Check(part.ptr())) {
      view = sliced(view, axis, part);
      ++axis;
    } else {
      view = selected(view, axis, part);
    }
  }
  return view;
}

}  // namespace

void bind_indexing(nb::module_& module) {
  module.def(
      "basic_view",
      [](const Handle& self, nb::handle key) -> nb::object {
        std::optional<AnyArray> view = view_of(self.array, key);
        if (!view) return nb::none();
        return wrap(std::move(*view), self.device);
      },
      nb::arg("array"), nb::arg("key").none());
}

}  // namespace troupe::python
