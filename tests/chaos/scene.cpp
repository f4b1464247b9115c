#include "tests/chaos/scene.hpp"

#include "tests/chaos/processes.hpp"
#include "tests/chaos/random.hpp"

namespace troupe::chaos {
namespace {

/// `transpose` takes b as it would be transposed.
std::vector<float> multiply(const std::vector<float>& a, const std::vector<float>& b, std::size_t edge,
                            bool transpose) {
  std::vector<float> product(edge * edge, 0.0F);
  for (std::size_t i = 0; i < edge; ++i)
    for (std::size_t k = 0; k < edge; ++k)
      for (std::size_t j = 0; j < edge; ++j)
        product[i * edge + j] += a[i * edge + k] * (transpose ? b[j * edge + k] : b[k * edge + j]);
  return product;
}

std::vector<float> small_numbers(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.between(-3, 3));
  return numbers;
}

}  // namespace

Scene::Scene(Device the_device, const Plan& the_plan, Ledger& the_ledger)
    : device(std::move(the_device)),
      plan(the_plan),
      plugin(program_folder() + "/libbad_plugin.so"),
      ledger(the_ledger) {
  if (device.info().backend == "cuda") kernels.emplace(device);
  for (const std::uint32_t edge : kEdges) {
    Matrices& made = matrices_[edge];
    for (std::size_t i = 0; i < kShared; ++i) {
      made.contents[i] = small_numbers(plan.seed() + edge + i, std::size_t{edge} * edge);
      made.arrays[i] = value(device.array<float>({edge, edge}));
      value(device.write(made.arrays[i], made.contents[i]).get());
    }
    made.product = multiply(made.contents[0], made.contents[1], edge, false);
    made.transposed_product = multiply(made.contents[0], made.contents[1], edge, true);
    std::vector<float> reversal(std::size_t{edge} * edge, 0.0F);
    for (std::size_t i = 0; i < edge; ++i) reversal[i * edge + (edge - 1 - i)] = 1;
    made.upside_down = value(device.array<float>({edge, edge}));
    value(device.write(made.upside_down, reversal).get());
    made.sparse_upside_down = value(device.sparse().from_dense(made.upside_down).get());
    std::vector<std::int64_t> rows(edge);
    for (std::size_t i = 0; i < edge; ++i) rows[i] = static_cast<std::int64_t>(edge - 1 - i);
    made.backwards = value(device.array<std::int64_t>({edge}));
    value(device.write(made.backwards, rows).get());
    made.spectrum = value(device.array<std::complex<float>>({edge, edge / 2 + 1}));
    std::vector<std::complex<float>> frequencies(std::size_t{edge} * (edge / 2 + 1));
    frequencies[0] = kOfSpectrum;
    value(device.write(made.spectrum, frequencies).get());
  }
  constexpr std::int64_t kMostDrawnAtOnce = std::int64_t{kEdges.back()} * kEdges.back();
  const Array<std::int32_t> numbers =
      value(device.array<std::int32_t>({static_cast<std::int64_t>(position(9)) + kMostDrawnAtOnce}));
  Generator from_zero(plan.seed());
  value(device.random().integers(from_zero, numbers, kLeastDrawn, kMostDrawn + 1).get());
  const HostArray<std::int32_t> read = value(device.read(numbers).get());
  drawn.assign(read.begin(), read.end());
  sealed = value(device.sealable_array<float>({kSealedElements}));
  value(device.fill(sealed, kSealedNumber).get());
  value(device.seal(sealed).get());
  const Matrices& smallest = matrices_.begin()->second;
  const Array<float> solution = value(device.array<float>(smallest.upside_down.shape()));
  can_solve = device.solver().solve(smallest.upside_down, smallest.arrays[0], solution).get().has_value();
}

void Scene::drop_all() noexcept {
  matrices_.clear();
  sealed = {};
  kernels.reset();
}

void Scene::check_shared_arrays() {
  const auto check = [&](const Array<float>& array, std::span<const float> expected, Complaint if_wrong,
                         const std::string& name) {
    const Result<HostArray<float>> read = device.read(array).wait_at_most(kPatience).get();
    if (!read)
      ledger.complain(Complaint::array_lost, name + ": " + read.error().to_string());
    else if (const std::string wrong = difference(read->span(), expected); !wrong.empty())
      ledger.complain(if_wrong, name + ": " + wrong);
    ++ledger.arrays_checked;
  };
  for (const auto& [edge, made] : matrices_)
    for (std::size_t i = 0; i < kShared; ++i)
      check(made.arrays[i], made.contents[i], Complaint::wrong_result,
            "the shared arrays of edge " + std::to_string(edge));
  check(sealed, std::vector<float>(kSealedElements, kSealedNumber), Complaint::sealed_changed, "the sealed array");
}

float pattern(int value, std::size_t index) noexcept {
  return static_cast<float>(static_cast<int>((index * 7 + index / 13) % 181) - 90 + value);
}

std::vector<float> pattern(int value, std::uint32_t edge) {
  std::vector<float> numbers(std::size_t{edge} * edge);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = pattern(value, i);
  return numbers;
}

std::string difference(std::span<const float> found, std::span<const float> expected) {
  if (found.size() != expected.size()) return "another number of elements";
  std::size_t first = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  return "expected " + std::to_string(expected[first]) + " at " + std::to_string(first) + " and found " +
         std::to_string(found[first]) + ", and " + std::to_string(count - 1) + " more of " +
         std::to_string(found.size());
}

}  // namespace troupe::chaos
