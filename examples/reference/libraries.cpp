// The names of the libraries of a device, one by one, without tensors. The reference shows what stands between
// `// example:` and `// end`.
#include <cmath>
#include <complex>
#include <sstream>
#include <vector>

#include "examples/reference/expect.hpp"
#include "troupe/troupe.hpp"

using namespace troupe;

template <class T = double>
Array<T> made(const Device& device, const Shape& shape, const std::vector<T>& numbers) {
  Array<T> array = value(device.array<T>(shape));
  value(device.write(array, numbers).get());
  return array;
}

template <class T>
bool holds(const Device& device, const Array<T>& array, const std::vector<T>& numbers) {
  const HostArray<T> there = value(device.read(array).get());
  return std::vector<T>(there.begin(), there.end()) == numbers;
}

void blas(const Device& device) {
  const Array<double> a = made(device, {2, 2}, {2, 1, 1, 2});
  const Array<double> b = made(device, {2, 2}, {1, 2, 3, 4});
  const Array<double> c = made(device, {2, 2}, {0, 0, 0, 0});
  const Array<double> x = made(device, {2}, {1, 2});
  const Array<double> y = made(device, {2}, {3, 4});

  // example: Blas, GemmOptions, Compute
  value(device.blas().gemm(a, b.transpose(), c, {.alpha = 2.0, .compute = Compute::standard}).get());
  expect(holds(device, c, {8, 20, 10, 22}));  // c = 2 a b'
  // end

  // example: DotOptions
  expect(value(device.blas().dot(x, y, DotOptions{.conjugate = false}).get()) == 11);
  // end

  // example: GerOptions
  value(device.blas().ger(x, y, c, GerOptions{.alpha = 1.0}).get());  // c += x y'
  // end
  expect(holds(device, c, {11, 24, 16, 30}));

  // example: SymmOptions, Side
  value(device.blas().symm(a, b, c, SymmOptions{.side = Side::left}).get());  // c = a b, of a only one half is read
  // end
  expect(holds(device, c, {5, 8, 7, 10}));

  // example: SyrkOptions, Triangle
  value(device.blas().syrk(b, c, SyrkOptions{.triangle = Triangle::upper}).get());  // the upper half of c = b b'
  // end
  expect(holds(device, c, {5, 11, 7, 25}));

  // example: TriangularOptions
  value(device.blas().trsm(a, b, c, TriangularOptions{.unit_diagonal = true}).get());  // solves [1 0; 1 1] c = b
  // end
  expect(holds(device, c, {1, 2, 2, 2}));

  // example: GeamOptions
  value(device.blas().geam(a, b, c, GeamOptions{.beta = -1.0}).get());  // c = a - b
  // end
  expect(holds(device, c, {1, -1, -2, -2}));
}

void matmul(const Device& device) {
  const Array<float> x = made<float>(device, {1, 2}, {1, -1});
  const Array<float> weights = made<float>(device, {2, 2}, {1, 2, 3, 4});
  const Array<float> bias = made<float>(device, {2}, {5, 1});
  const Array<float> pre = made<float>(device, {1, 2}, {0, 0});
  const Array<float> out = made<float>(device, {1, 2}, {0, 0});
  // example: Matmul, MatmulOptions, Activation
  value(device.matmul()
            .multiply(x, weights, out,
                      MatmulOptions{.activation = Activation::relu, .bias = &bias, .preactivation = &pre})
            .get());
  expect(holds(device, out, {3.0f, 0.0f}));  // relu(x weights + bias)
  // end

  const Array<float> slope = made<float>(device, {1, 2}, {0, 0});
  // example: MatmulGradientOptions
  value(device.matmul()
            .gradient(x, weights, slope, MatmulGradientOptions{.activation = Activation::relu, .preactivation = &pre})
            .get());
  // end
  expect(holds(device, slope, {-2.0f, 0.0f}));
}

void solver(const Device& device) {
  const Array<double> a = made(device, {2, 2}, {2, 0, 0, 4});
  const Array<double> b = made(device, {2}, {2, 8});
  const Array<double> x = made(device, {2}, {0, 0});
  // example: Solver
  value(device.solver().solve(a, b, x).get());  // a x = b
  expect(holds(device, x, {1, 2}));
  // end

  const Array<double> s = made(device, {2}, {0, 0});
  // example: SvdOptions, SvdMethod
  value(device.solver().singular_values(a, s, SvdOptions{.method = SvdMethod::automatic}).get());
  expect(holds(device, s, {4, 2}));
  // end
}

void iterations(const Device& device) {
  if (device.info().backend != "host") return;  // GPUs do not have these yet
  const std::vector<Triplet<double>> elements{{0, 0, 4.0}, {0, 1, -1.0}, {1, 0, -1.0}, {1, 1, 4.0}};
  const SparseMatrix a = value(device.sparse().from_triplets(2, 2, elements));
  const Array<double> b = made(device, {2}, {3, 1}), x = made(device, {2}, {0, 0});
  // example: SolveOptions, Solved, IterativeCall
  IterativeCall<Solved> call = device.sparse().cg(a, b, x, SolveOptions{.tolerance = 1e-12});
  const Solved end = value(std::move(call).get());  // or co_await it
  expect(end.converged() && end.rounds <= 2 && end.history.size() > 1);
  // end
  // example: Stopped
  const Solved half = value(device.sparse().cg(a, b, x, {.max_rounds = 1}).get());
  expect(half.stopped == Stopped::max_rounds && name(half.stopped) == "max_rounds");
  // end
  // example: Preconditioner, Preconditioning, GmresOptions
  const Preconditioner by = value(device.sparse().ilu0(a).get());
  expect(by.kind() == Preconditioning::ilu0);
  expect(value(device.sparse().gmres(a, b, x, GmresOptions{.restart = 10}, by).get()).converged());
  // end
  // example: PowerOptions, FoundEigenvalue
  const FoundEigenvalue largest = value(device.sparse().power(a, x, PowerOptions{.tolerance = 1e-6}).get());
  expect(std::abs(largest.value - 5.0) < 1e-6);
  // end
  // example: LanczosOptions, Extreme, FoundEigenvalues
  const LanczosOptions smallest{.which = Extreme::smallest};
  const FoundEigenvalues found = value(device.sparse().lanczos(a, 1, smallest).get());
  expect(std::abs(found.values[0] - 3.0) < 1e-6);
  // end
}

void fft(const Device& device) {
  const Array<double> a = made(device, {3}, {1, 2, 3});
  const Array<double> b = made(device, {2}, {1, 1});
  const Array<double> out = made(device, {2}, {0, 0});
  // example: ConvolveMode
  value(device.fft().convolve(a, b, out, ConvolveMode::valid).get());  // full: 1, 3, 5, 3
  const HostArray<double> sums = value(device.read(out).get());
  expect(std::abs(sums[0] - 3) < 1e-9 && std::abs(sums[1] - 5) < 1e-9);
  // end

  // example: fftfreq, rfftfreq
  expect(fftfreq(4, 0.5) == std::vector<double>{0, 0.5, -1, -0.5});
  expect(rfftfreq(4, 0.5) == std::vector<double>{0, 0.5, 1});
  // end

  // example: IrfftOptions
  Scope on(device);
  const Array<std::complex<double>> half = on.rfft(a);
  const Array<double> again = on.irfft(half, IrfftOptions{.length = 3});  // 2 unless told
  expect(std::abs(value(on.read(again).get())[2] - 3) < 1e-9);
  // end
}

void primitives(const Device& device) {
  const Array<double> x = made(device, {2, 3}, {3, 1, 2, 5, 6, 4});
  const Array<double> y = made(device, {2, 3}, {0, 0, 0, 0, 0, 0});
  // example: ScanOptions
  value(device.primitives().scan(Combine::sum, x, y, ScanOptions{.axis = 0, .exclusive = false}).get());
  expect(holds(device, y, {3, 1, 2, 8, 7, 6}));
  // end
  // example: SortOptions
  value(device.primitives().sort(x, y, SortOptions{.order = SortOrder::descending}).get());
  expect(holds(device, y, {3, 2, 1, 6, 5, 4}));
  // end
  // example: RowOptions
  const Array<double> sums = made(device, {3}, {0, 0, 0});
  value(device.primitives().reduce(Combine::max, x, sums, RowOptions{.axis = 0}).get());
  expect(holds(device, sums, {5, 6, 4}));
  // end
  // example: ScatterOptions, Duplicates
  const Array<std::int32_t> where = value(device.array<std::int32_t>({2}));
  value(device.fill(where, 2).get());
  const ScatterOptions adds{.duplicates = Duplicates::add};
  value(device.primitives().scatter(made(device, {2}, {10, 20}), where, sums, adds).get());
  expect(holds(device, sums, {5, 6, 34}));
  // end
  // example: SetOperation
  const Array<double> a = made(device, {3}, {1, 2, 2}), b = made(device, {2}, {2, 3});
  const Array<double> both = made(device, {5}, {0, 0, 0, 0, 0});
  expect(value(device.primitives().sets(SetOperation::unite, a, b, both).get()) == 4);
  expect(holds(device, both, {1, 2, 2, 3, 0}));
  // end
}

void sparse(const Device& device) {
  // example: Sparse, SparseMatrix, Triplet
  const std::vector<Triplet<double>> elements = {{0, 0, 2.0}, {1, 0, 1.0}, {1, 1, 4.0}};
  const SparseMatrix matrix = value(device.sparse().from_triplets(2, 2, elements));
  expect(matrix.nonzeros() == 3 && matrix.rows() == 2);
  // end

  const Array<double> x = made(device, {2}, {1, 2});
  const Array<double> y = made(device, {2}, {0, 0});
  // example: SparseMultiplyOptions
  value(device.sparse().multiply(matrix, x, y, SparseMultiplyOptions{.transpose = true}).get());
  expect(holds(device, y, {4, 8}));
  // end

  // example: SparseSolveOptions
  value(device.sparse().solve(matrix, x, y, SparseSolveOptions{.upper = false}).get());  // matrix y = x
  expect(holds(device, y, {0.5, 0.375}));
  // end

  // example: SparseFormat
  const SparseMatrix by_columns = value(device.sparse().convert(matrix, SparseFormat::csc).get());
  expect(by_columns.format() == SparseFormat::csc && name(by_columns.format()) == "CSC");
  // end

  const Array<double> dense = made(device, {2, 2}, {1, 2, 3, 4});
  const Array<double> unit = made(device, {2, 2}, {1, 0, 0, 1});
  // example: SddmmOptions
  value(
      device.sparse().sddmm(dense, unit, matrix, SddmmOptions{.alpha = 10.0}).get());  // only where matrix has elements
  // end
  expect(holds(device, value(matrix.values_as<double>()), {10, 30, 40}));
}

void matrix_market() {
  // example: Triplets, write_matrix_market, read_matrix_market, MatrixMarketLimits
  const Triplets<double> matrix{.rows = 2, .columns = 3, .elements = {{0, 2, 1.5}}};
  std::stringstream file;
  value(write_matrix_market(file, matrix));
  const Triplets<double> read = value(read_matrix_market<double>(file, MatrixMarketLimits{.elements = 1000}));
  expect(read.columns == 3 && read.elements == matrix.elements);
  // end
}

// example: Jit, Program, CompileOptions, Grid
Task<Result<void>> add_one(Device gpu, Array<float> x) {
  const Program program = CO_TRY(co_await gpu.jit().compile(
      R"(__global__ void add_one(long long n, float* x) {
           const long long i = blockIdx.x * blockDim.x + threadIdx.x;
           if (i < n) x[i] += 1;
         })",
      CompileOptions{.flags = "--use_fast_math"}));
  const Grid grid{.blocks = 4, .threads = 256};
  co_return co_await gpu.jit().launch(program, "add_one", grid, x.element_count(), updates(x));
}
// end

// example: KernelSource, Kernel, AnyKernel, KernelStruct
struct Scaled {  // as in the kernel's source
  const float* in;
  float by;
};
Task<Result<void>> scale(Device device, Array<float> x, Array<float> y) {
  KernelSource source("#include \"scaled.h\"\n__global__ void scale(Scaled s, float* y) { *y = STEP * s.by * *s.in; }");
  source.add_header("scaled.h", "struct Scaled { const float* in; float by; };").add_flag("-DSTEP=(1 + 1)");
  const Program program = CO_TRY(co_await device.jit().compile(source));
  const Kernel<void(Scaled, float*)> scale = CO_TRY(program.kernel<void(Scaled, float*)>("scale"));
  const AnyKernel the_same = CO_TRY(program.kernel("scale"));  // its arguments are checked at each launch
  KernelStruct<Scaled> scaled({.in = nullptr, .by = 1.5f});
  scaled.point(&Scaled::in, reads(x));
  CO_TRY(co_await device.jit().launch(the_same, {}, scaled, writes(y)));
  co_return co_await device.jit().launch(scale, {}, scaled, y);
}
// end

void jit(System& system) {
  const Device device = value(system.device(0));
  const Array<float> x = made<float>(device, {2}, {1, 2});
  if (const Result<void> done = system.run(add_one(device, x)))
    expect(holds(device, x, {2.0f, 3.0f}));
  else
    expect(done.error().kind() == ErrorKind::unsupported);  // no compiler
  const Array<float> y = made<float>(device, {1}, {0});
  if (const Result<void> done = system.run(scale(device, x, y)))
    expect(holds(device, y, {6.0f}));
  else
    expect(done.error().kind() == ErrorKind::unsupported);

  // example: KernelArguments
  KernelArguments arguments;
  arguments.add(x.element_count());
  arguments.add(updates(x));  // then gpu.jit().launch(program, "add_one", grid, arguments)
  // end
}

void random(const Device& device) {
  const Array<float> x = made<float>(device, {4}, {0, 0, 0, 0});
  const Array<float> again = made<float>(device, {4}, {1, 1, 1, 1});

  // example: GeneratorOptions, RandomEngine
  Generator generator(42, {.stream = 1, .position = 100, .engine = RandomEngine::philox4x32_10});
  value(device.random().uniform(generator, x).get());  // the generator is at 104 now
  Generator same = generator.at(100);
  value(device.random().uniform(same, again).get());
  // end
  const HostArray<float> numbers = value(device.read(x).get());
  expect(generator.position() == 104 && holds(device, again, {numbers.begin(), numbers.end()}));

  const Array<std::int32_t> outcomes = made<std::int32_t>(device, {4}, {0, 0, 0, 0});
  // example: alias_table
  const std::vector<std::uint64_t> table = value(alias_table(std::vector<double>{0, 1, 0}));  // always the second
  value(device.random().discrete(generator, made<std::uint64_t>(device, {3, 2}, table), outcomes).get());
  expect(holds(device, outcomes, {1, 1, 1, 1}));
  // end
}

int main() {
  System system({.log = log_nothing()});
  const Device device = value(system.device("host"));
  blas(device);
  matmul(device);
  solver(device);
  fft(device);
  primitives(device);
  random(device);
  sparse(device);
  iterations(device);
  matrix_market();
  jit(system);
}
