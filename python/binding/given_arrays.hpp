// A list of arrays that Python gives to an op, as the calls of C++ take one: the arrays in a vector, which lives while
// the call is made.
#pragma once

#include <string>
#include <vector>

#include "handle.hpp"

namespace troupe::python {

/// The arrays of a list, and the device of the first.
struct GivenArrays {
  explicit GivenArrays(const std::string& call, nb::handle list) {
    for (const nb::handle item : list) {
      if (!is_array(item)) throw nb::type_error((call + ": every operand must be an array").c_str());
      if (device == nullptr) device = &handle_of(item).device;
      all.push_back(handle_of(item).array);
    }
  }
  std::vector<const AnyArray*> pointers() const {
    std::vector<const AnyArray*> made;
    for (const AnyArray& array : all) made.push_back(&array);
    return made;
  }

  std::vector<AnyArray> all;
  const Device* device = nullptr;
};

}  // namespace troupe::python
