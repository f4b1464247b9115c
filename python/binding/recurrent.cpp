// Recurrent layers: `dnn_recurrent("lstm", x, weights, y, {"h0": h0})` and their gradients. Python's side
// (troupe/_recurrent.py) makes the arrays that a call writes.
#include "given_arrays.hpp"

namespace troupe::python {
namespace {

/// The places of the arrays that options can have, by their names.
using Places = std::initializer_list<std::pair<std::string_view, const AnyArray**>>;

template <class Options>
void set_options(Options& o, const nb::dict& given, Places places) {
  for (const auto& [key, value] : given) {
    const auto word = nb::cast<std::string>(key);
    const auto* const place = std::ranges::find(places, std::string_view(word), &Places::value_type::first);
    if (is_array(value) && place != places.end())
      *place->second = &handle_of(value).array;
    else if (word == "bias")
      o.bias = nb::cast<bool>(value);
    else if (word == "bidirectional")
      o.bidirectional = nb::cast<bool>(value);
    else
      raise(ErrorKind::invalid_argument, "there is no option \"" + word + "\"");
  }
}

void run_recurrent(const std::string& cell, const Handle& x, nb::handle weights, const Handle& y,
                   const nb::dict& options) {
  const GivenArrays given(cell, weights);
  RecurrentOptions o;
  set_options(
      o, options,
      {{"lengths", &o.lengths}, {"h0", &o.h0}, {"c0", &o.c0}, {"h_n", &o.h_n}, {"c_n", &o.c_n}, {"kept", &o.kept}});
  submit(x.device, [&] {
    const Dnn dnn = x.device.dnn();
    return cell == "lstm" ? dnn.lstm(x.array, given.all, y.array, o) : dnn.gru(x.array, given.all, y.array, o);
  });
}

void run_gradient(const std::string& cell, const Handle& dy, const Handle& x, nb::handle weights, const Handle& kept,
                  const Handle& dx, nb::handle dweights, const nb::dict& options) {
  const GivenArrays given(cell, weights), made(cell, dweights);
  RecurrentGradientOptions o;
  set_options(o, options,
              {{"lengths", &o.lengths},
               {"h0", &o.h0},
               {"c0", &o.c0},
               {"dh_n", &o.dh_n},
               {"dc_n", &o.dc_n},
               {"dh0", &o.dh0},
               {"dc0", &o.dc0}});
  o.dweights = made.all;
  submit(x.device, [&] {
    const Dnn dnn = x.device.dnn();
    return cell == "lstm" ? dnn.lstm_gradient(dy.array, x.array, given.all, kept.array, dx.array, o)
                          : dnn.gru_gradient(dy.array, x.array, given.all, kept.array, dx.array, o);
  });
}

}  // namespace

void bind_recurrent(nb::module_& module) {
  module.def("dnn_recurrent", &run_recurrent);
  module.def("dnn_recurrent_gradient", &run_gradient);
}

}  // namespace troupe::python
