// Random numbers: Python's `Generator` is C++'s, and each of its functions fills an array.
#include "handle.hpp"

namespace troupe::python {
namespace {

using Fill = Call<void> (*)(const Random& random, Generator& generator, const AnyArray& out, double p, double q);

struct Row {
  std::string_view name;
  Fill fill;
};

constexpr Row kRows[] = {
    {"bits", [](const Random& r, Generator& g, const AnyArray& out, double, double) { return r.bits(g, out); }},
    {"uniform",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double q) { return r.uniform(g, out, p, q); }},
    {"normal",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double q) { return r.normal(g, out, p, q); }},
    {"log_normal",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double q) { return r.log_normal(g, out, p, q); }},
    {"exponential",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double) { return r.exponential(g, out, p); }},
    {"cauchy",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double q) { return r.cauchy(g, out, p, q); }},
    {"gamma",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double q) { return r.gamma(g, out, p, q); }},
    {"beta",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double q) { return r.beta(g, out, p, q); }},
    {"bernoulli",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double) { return r.bernoulli(g, out, p); }},
    {"poisson",
     [](const Random& r, Generator& g, const AnyArray& out, double p, double) { return r.poisson(g, out, p); }},
    {"permutation",
     [](const Random& r, Generator& g, const AnyArray& out, double, double) { return r.permutation(g, out); }},
};

RandomEngine engine_of(const std::string& called) {
  std::string all;
  for (auto number = std::uint8_t{}; number <= static_cast<std::uint8_t>(RandomEngine::kLast); ++number) {
    const auto engine = static_cast<RandomEngine>(number);
    if (name(engine) == called) return engine;
    all += (number == 0 ? "" : ", ") + std::string(name(engine));
  }
  raise(ErrorKind::invalid_argument, "Generator: there is no engine \"" + called + "\"; there are " + all);
}

/// Submits what `make_call` makes with a copy of the generator, which moves on only when the op was taken.
template <class MakeCall>
void fill(Generator& generator, const Device& device, const MakeCall& make_call) {
  Generator moved = generator;
  submit(device, [&] {
    moved = generator;
    return make_call(moved);
  });
  generator = moved;
}

void draw(Generator& generator, const std::string& name, const Handle& out, double p, double q) {
  const auto* const row = std::ranges::find(kRows, name, &Row::name);
  if (row == std::end(kRows)) raise(ErrorKind::invalid_argument, "there are no random numbers \"" + name + "\"");
  fill(generator, out.device, [&](Generator& moved) { return row->fill(out.device.random(), moved, out.array, p, q); });
}

}  // namespace

void bind_random(nb::module_& module) {
  nb::class_<Generator>(module, "RandomGenerator")
      .def("__init__",
           [](Generator* self, std::uint64_t seed, std::uint32_t stream, std::uint64_t position,
              const std::string& engine, std::uint32_t dimensions) {
             const RandomEngine chosen = engine_of(engine);
             new (self)
                 Generator(seed, {.stream = stream, .position = position, .engine = chosen, .dimensions = dimensions});
           })
      .def_prop_ro("seed", &Generator::seed)
      .def_prop_ro("stream", &Generator::stream)
      .def_prop_ro("position", &Generator::position)
      .def_prop_ro("engine", [](const Generator& self) { return std::string(name(self.engine())); })
      .def_prop_ro("dimensions", &Generator::dimensions)
      .def("draw", &draw)
      .def("integers",
           [](Generator& self, const Handle& out, std::int64_t low, std::int64_t high) {
             fill(self, out.device,
                  [&](Generator& moved) { return out.device.random().integers(moved, out.array, low, high); });
           })
      .def("discrete", [](Generator& self, const Handle& table, const Handle& out) {
        fill(self, out.device,
             [&](Generator& moved) { return out.device.random().discrete(moved, table.array, out.array); });
      });
  module.def("alias_table", [](nb::handle weights) {
    std::vector<double> numbers;
    for (const nb::handle weight : weights) numbers.push_back(nb::cast<double>(weight));
    nb::list all;
    for (const std::uint64_t number : checked(alias_table(numbers))) all.append(number);
    return all;
  });
}

}  // namespace troupe::python
