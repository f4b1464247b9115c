// Iterations beyond those that go well: how they end, what they refuse, and that dying workers change no bit.
#include "troupe/library/sparse/iterative.hpp"

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "troupe/core/sanitized.hpp"
#include "troupe/device/device_fixture.test.hpp"
#include "troupe/library/sparse/sparse.hpp"

namespace troupe {
namespace {

class Iterative : public DeviceTest {
 protected:
  using Elements = std::vector<Triplet<double>>;

  SparseMatrix matrix(std::int64_t n, const Elements& elements) {
    return value(device.sparse().from_triplets<double>(n, n, elements));
  }
  /// The 5-point Laplacian on a square, or with wind, which makes it nonsymmetric.
  SparseMatrix plate(std::int64_t side, double wind = 0) {
    Elements elements;
    for (std::int64_t i = 0; i < side * side; ++i) {
      elements.push_back({i, i, 4.0});
      if (i >= side) elements.push_back({i, i - side, -1.0 - wind});
      if (i + side < side * side) elements.push_back({i, i + side, -1.0 + wind});
      if (i % side > 0) elements.push_back({i, i - 1, -1.0 - wind});
      if (i % side + 1 < side) elements.push_back({i, i + 1, -1.0 + wind});
    }
    return matrix(side * side, elements);
  }
  /// The 7-point one on a cube.
  SparseMatrix cube(std::int64_t side) {
    Elements elements;
    const std::int64_t n = side * side * side;
    for (std::int64_t i = 0; i < n; ++i) {
      elements.push_back({i, i, 6.0});
      for (std::int64_t step = 1; step < n; step *= side) {
        if (i / step % side > 0) elements.push_back({i, i - step, -1.0});
        if (i / step % side + 1 < side) elements.push_back({i, i + step, -1.0});
      }
    }
    return matrix(n, elements);
  }
  Array<double> vector(const std::vector<double>& numbers) {
    Array<double> made = value(device.array<double>({static_cast<std::int64_t>(numbers.size())}));
    value(device.write(made, numbers).get());
    return made;
  }
  std::vector<double> read(const Array<double>& array) {
    const HostArray<double> got = value(device.read(array).get());
    return {got.begin(), got.end()};
  }
  /// The norm of b - A x.
  double residual(const SparseMatrix& a, const Array<double>& b, const Array<double>& x) {
    const Array<double> r = vector(read(b));
    value(device.sparse().multiply(a, x, r, {.alpha = -1.0, .beta = 1.0}).get());
    return value(device.blas().nrm2(r).get());
  }
  template <class R>
  void refused(IterativeCall<R> call, std::string_view text, ErrorKind kind = ErrorKind::invalid_argument) {
    const Result<R> end = std::move(call).get();
    ASSERT_FALSE(end) << text;
    EXPECT_EQ(end.error().message(), text);
    EXPECT_EQ(end.error().kind(), kind);
  }

  Device device = open();
};

TEST_F(Iterative, solves_the_classical_systems_as_well_as_it_says) {
  const Sparse sparse = device.sparse();
  struct System {
    SparseMatrix matrix;
    bool is_symmetric;
  };
  for (const auto& [a, is_symmetric] :
       {System{plate(20), true}, System{cube(7), true}, System{plate(20, 0.5), false}}) {
    const Array<double> b = filled(device, {a.rows()}, 1.0), x = value(device.array<double>({a.rows()}));
    const double limit = 1e-10 * value(device.blas().nrm2(b).get());
    const Preconditioner ilu0 = value(sparse.ilu0(a).get());
    std::vector<Solved> ends;
    ends.push_back(value(sparse.bicgstab(a, b, x, {.tolerance = 1e-10}).get()));
    EXPECT_LE(residual(a, b, x), limit * 1.01);
    ends.push_back(value(sparse.bicgstab(a, b, x, {.tolerance = 1e-10}, ilu0).get()));
    EXPECT_LE(residual(a, b, x), limit * 1.01);
    EXPECT_LT(ends[1].rounds, ends[0].rounds);
    ends.push_back(value(sparse.gmres(a, b, x, {.tolerance = 1e-10}, ilu0).get()));
    EXPECT_LE(residual(a, b, x), limit * 1.01);
    if (is_symmetric) {
      ends.push_back(value(sparse.cg(a, b, x, {.tolerance = 1e-10}).get()));
      ends.push_back(value(sparse.cg(a, b, x, {.tolerance = 1e-10}, value(sparse.ic0(a).get())).get()));
      EXPECT_LE(residual(a, b, x), limit * 1.01);
      EXPECT_LT(ends[4].rounds, ends[3].rounds);
    }
    for (const Solved& end : ends) EXPECT_TRUE(end.converged()) << name(end.stopped);
  }
}

TEST_F(Iterative, takes_no_round_where_there_is_nothing_to_do) {
  const SparseMatrix a = plate(6);
  const Array<double> zero = filled(device, {36}, 0.0), x = filled(device, {36}, 7.0);
  for (const bool from_x : {false, true}) {
    const Solved end = value(device.sparse().cg(a, zero, x, {.starts_at_x = from_x}).get());
    EXPECT_TRUE(end.converged());
    EXPECT_EQ(end.rounds, 0);
    EXPECT_TRUE(all_equal(device, x, 0.0));
  }
  const Array<double> exact = filled(device, {36}, 1.0), b = value(device.array<double>({36}));
  value(device.sparse().multiply(a, exact, b).get());
  EXPECT_EQ(value(device.sparse().cg(a, b, exact, {.starts_at_x = true}).get()).rounds, 0);
  EXPECT_EQ(value(device.sparse().gmres(a, b, exact, {.starts_at_x = true}).get()).rounds, 0);
  EXPECT_EQ(value(device.sparse().bicgstab(a, b, exact, {.starts_at_x = true}).get()).rounds, 0);
  EXPECT_TRUE(all_equal(device, exact, 1.0));
  const SparseMatrix none = matrix(0, {});
  const Array<double> empty = value(device.array<double>({0}));
  const Array<double> other = value(device.array<double>({0}));
  EXPECT_TRUE(value(device.sparse().cg(none, empty, other).get()).converged());
}

TEST_F(Iterative, says_why_it_ended) {
  const Sparse sparse = device.sparse();
  const Array<double> b = vector({1, 1}), x = value(device.array<double>({2}));
  const SparseMatrix indefinite = matrix(2, {{0, 0, 1.0}, {1, 1, -1.0}});
  EXPECT_EQ(value(sparse.cg(indefinite, b, x).get()).stopped, Stopped::not_positive_definite);
  const SparseMatrix skew = matrix(2, {{0, 1, 1.0}, {1, 0, -1.0}});
  EXPECT_EQ(value(sparse.bicgstab(skew, b, x).get()).stopped, Stopped::breakdown);
  const SparseMatrix singular = matrix(2, {{0, 0, 1.0}, {0, 1, 1.0}});
  EXPECT_EQ(value(sparse.gmres(singular, b, x).get()).stopped, Stopped::breakdown);
  const SparseMatrix swap = matrix(2, {{0, 1, 1.0}, {1, 0, 1.0}});
  const Array<double> e = vector({1, 0});
  EXPECT_EQ(value(sparse.gmres(swap, e, x, {.restart = 1}).get()).stopped, Stopped::stagnated);
  EXPECT_TRUE(value(sparse.gmres(swap, e, x, {.restart = 2}).get()).converged());
  const SparseMatrix broken = matrix(2, {{0, 0, std::numeric_limits<double>::quiet_NaN()}, {1, 1, 1.0}});
  EXPECT_EQ(value(sparse.cg(broken, b, x).get()).stopped, Stopped::not_finite);
  EXPECT_EQ(value(sparse.bicgstab(broken, b, x).get()).stopped, Stopped::not_finite);
  EXPECT_EQ(value(sparse.gmres(broken, b, x).get()).stopped, Stopped::not_finite);
  const Array<double> zero = filled(device, {2}, 0.0);
  EXPECT_EQ(value(sparse.power(swap, zero, {.starts_at_x = true}).get()).stopped, Stopped::breakdown);
}

TEST_F(Iterative, takes_no_small_numbers_for_zeros) {
  const Sparse sparse = device.sparse();
  const SparseMatrix a = plate(2);
  const Array<double> b = filled(device, {4}, 1e-170), x = value(device.array<double>({4}));
  EXPECT_EQ(value(sparse.cg(a, b, x).get()).stopped, Stopped::breakdown) << "their squares are 0";
  EXPECT_EQ(value(sparse.bicgstab(a, b, x).get()).stopped, Stopped::breakdown);
  EXPECT_EQ(value(sparse.gmres(a, b, x).get()).stopped, Stopped::breakdown);
  EXPECT_TRUE(value(sparse.cg(a, b, x, {.tolerance = 1e-100, .relative = false}).get()).converged());
  EXPECT_TRUE(value(sparse.cg(a, filled(device, {4}, 1e-140), x).get()).converged());
  const SparseMatrix small = matrix(2, {{0, 0, 1e-200}, {1, 1, 2e-200}});
  const Array<double> y = value(device.array<double>({2}));
  EXPECT_EQ(value(sparse.power(small, y).get()).stopped, Stopped::breakdown);
  EXPECT_EQ(value(sparse.lanczos(small, 1).get()).stopped, Stopped::breakdown);
  EXPECT_TRUE(value(sparse.lanczos(matrix(2, {{0, 0, 0.0}}), 1).get()).converged()) << "its eigenvalues are 0";
}

TEST_F(Iterative, makes_no_residual_of_gmres_larger_where_the_matrix_is_singular) {
  Elements elements;
  for (std::int64_t i = 0; i < 9; ++i) elements.push_back({i / 3, i % 3, static_cast<double>(i + 1)});
  const SparseMatrix singular = matrix(3, elements);
  const Array<double> b = vector({1, 0, 0}), x = value(device.array<double>({3}));
  const Solved end = value(device.sparse().gmres(singular, b, x).get());
  EXPECT_EQ(end.stopped, Stopped::breakdown);
  EXPECT_NEAR(end.residual, std::sqrt(1.0 / 6), 1e-12) << "b without what the matrix reaches";
  EXPECT_NEAR(residual(singular, b, x), end.residual, 1e-12);
  for (const double number : read(x)) EXPECT_LT(std::fabs(number), 10);
}

TEST_F(Iterative, goes_on_where_the_basis_of_gmres_is_closed) {
  // In f32 no residual is as small as this, unless it is 0: that is all the type allows, and no breakdown.
  for (int i = 1; i <= 10; ++i) {
    const auto number = static_cast<float>(i);
    const std::vector<Triplet<float>> elements{{0, 0, 3 + number}, {0, 1, 1.0F}, {1, 0, 1.0F}, {1, 1, 7.0F}};
    const SparseMatrix a = value(device.sparse().from_triplets<float>(2, 2, elements));
    const Array<float> b = filled(device, {2}, 0.1F * number), x = value(device.array<float>({2}));
    const Solved end = value(device.sparse().gmres(a, b, x, {.tolerance = 1e-14}).get());
    EXPECT_TRUE(end.converged() || end.stopped == Stopped::stagnated) << name(end.stopped);
    EXPECT_LT(end.residual, 1e-6);
  }
}

TEST_F(Iterative, takes_at_most_so_many_rounds_and_goes_on_from_there) {
  const SparseMatrix a = plate(20);
  const Array<double> b = filled(device, {400}, 1.0), x = value(device.array<double>({400}));
  const Solved first = value(device.sparse().cg(a, b, x, {.max_rounds = 10, .rounds_per_op = 4}).get());
  EXPECT_EQ(first.stopped, Stopped::max_rounds);
  EXPECT_EQ(first.rounds, 10);
  EXPECT_EQ(first.history.size(), 11U);
  EXPECT_NEAR(residual(a, b, x), first.residual, 1e-9);
  const Solved second = value(device.sparse().cg(a, b, x, {.starts_at_x = true}).get());
  EXPECT_TRUE(second.converged());
  EXPECT_NEAR(second.history.front(), first.residual, 1e-9);
  EXPECT_EQ(value(device.sparse().gmres(a, b, x, {.max_rounds = 7, .restart = 5}).get()).rounds, 7);
}

TEST_F(Iterative, stops_where_the_type_allows_no_smaller_residual) {
  const SparseMatrix a = plate(20);
  const Array<double> b = filled(device, {400}, 1.0), x = value(device.array<double>({400}));
  for (const Solved& end : {value(device.sparse().cg(a, b, x, {.tolerance = 1e-30}).get()),
                            value(device.sparse().bicgstab(a, b, x, {.tolerance = 1e-30}).get()),
                            value(device.sparse().gmres(a, b, x, {.tolerance = 1e-30}).get())}) {
    EXPECT_FALSE(end.converged());
    EXPECT_LE(residual(a, b, x), 1e-9) << name(end.stopped);
  }
}

TEST_F(Iterative, gives_the_same_bits_whatever_the_rounds_of_an_op_and_the_team) {
  const std::int64_t side = kSanitized ? 60 : 300;
  std::vector<std::vector<double>> ends;
  for (const int team : {1, 0}) {  // 0: all there are
    DeviceOptions options = patient();
    if (team == 1) options.cpu_threads = 1;
    device = open(options);
    const SparseMatrix a = plate(side);
    const Array<double> b = filled(device, {side * side}, 1.0), x = value(device.array<double>({side * side}));
    for (const std::int64_t rounds : {1, 7, 64}) {
      const Solved end = value(device.sparse().cg(a, b, x, {.max_rounds = 30, .rounds_per_op = rounds}).get());
      ends.push_back(read(x));
      ends.back().insert(ends.back().end(), end.history.begin(), end.history.end());
    }
  }
  for (const auto& end : ends) EXPECT_EQ(std::memcmp(end.data(), ends[0].data(), end.size() * sizeof(double)), 0);
}

TEST_F(Iterative, loses_no_bit_when_workers_die) {
  const SparseMatrix a = plate(24), windy = plate(24, 0.3);
  const Array<double> b = filled(device, {576}, 1.0), x = value(device.array<double>({576}));
  const Array<double> vectors = value(device.array<double>({2, 576}));
  const Sparse sparse = device.sparse();
  const Preconditioner ic0 = value(sparse.ic0(a).get()), ilu0 = value(sparse.ilu0(windy).get());
  const auto all = [&] {
    std::vector<double> numbers;
    const auto add = [&](const std::vector<double>& more) { numbers.insert(numbers.end(), more.begin(), more.end()); };
    add(value(sparse.cg(a, b, x, {.rounds_per_op = 3}, ic0).get()).history);
    add(read(x));
    add(value(sparse.bicgstab(windy, b, x, {.rounds_per_op = 2}, ilu0).get()).history);
    add(read(x));
    add(value(sparse.gmres(windy, b, x, {.restart = 4}).get()).history);
    add(read(x));
    add(value(sparse.power(a, x, {.max_rounds = 30, .rounds_per_op = 3}).get()).history);
    add(value(sparse.lanczos(a, vectors, {.basis = 8}).get()).values);
    add(read(value(vectors.reshape({2 * 576}))));
    return numbers;
  };
  const std::vector<double> want = all();
  std::atomic<bool> ends = false;
  std::atomic<int> kills = 0;
  std::thread killer([&] {
    while (!ends) {
      const std::uint64_t before = device.stats().submitted;
      if (device.kill_worker()) ++kills;
      while (!ends && device.stats().submitted < before + 5) std::this_thread::yield();  // a kill for some ops
    }
  });
  std::vector<std::vector<double>> got;
  while (kills < (kSanitized ? 2 : 6)) got.push_back(all());
  ends = true;
  killer.join();
  for (const auto& numbers : got) {
    ASSERT_EQ(numbers.size(), want.size());
    EXPECT_EQ(std::memcmp(numbers.data(), want.data(), want.size() * sizeof(double)), 0);
  }
}

TEST_F(Iterative, goes_on_beside_a_plugin_that_crashes) {
  const SparseMatrix a = plate(24);
  const Array<double> b = filled(device, {576}, 1.0), x = value(device.array<double>({576}));
  const Solved want = value(device.sparse().cg(a, b, x, {.rounds_per_op = 2}).get());
  const std::vector<double> solution = read(x);
  std::thread crashes([&] {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(kind_of(bad(device, "null").get()), ErrorKind::worker_crashed);
  });
  const Solved got = value(device.sparse().cg(a, b, x, {.rounds_per_op = 2}).get());
  crashes.join();
  EXPECT_EQ(got.history, want.history);
  EXPECT_EQ(read(x), solution);
}

TEST_F(Iterative, ends_between_two_ops_when_it_is_cancelled) {
  const SparseMatrix turn = matrix(2, {{0, 1, 1.0}, {1, 0, -1.0}});  // it has no real eigenvalue to come to
  const Array<double> y = filled(device, {2}, 7.0);
  std::stop_source stop;
  const std::uint64_t before = device.stats().submitted;
  std::thread stopper([&] {
    while (device.stats().submitted < before + 5) std::this_thread::yield();
    stop.request_stop();
  });
  const Result<FoundEigenvalue> end =
      device.sparse().power(turn, y, {.max_rounds = 100'000'000, .rounds_per_op = 1}).cancel_on(stop.get_token()).get();
  stopper.join();
  EXPECT_EQ(kind_of(end), ErrorKind::cancelled);
  EXPECT_TRUE(all_equal(device, y, 7.0)) << "x is written at the end, and there was none";
  const SparseMatrix a = plate(20);
  const Array<double> b = filled(device, {400}, 1.0), x = value(device.array<double>({400}));
  EXPECT_EQ(kind_of(device.sparse().cg(a, b, x).cancel_on(stop.get_token()).get()), ErrorKind::cancelled);
  EXPECT_EQ(kind_of(device.sparse().cg(a, b, x).deadline(Duration(0)).get()), ErrorKind::deadline_exceeded);
  EXPECT_TRUE(value(device.sparse().cg(a, b, x).get()).converged()) << "nothing is left behind";
}

TEST_F(Iterative, works_in_tasks) {
  const SparseMatrix a = plate(10);
  const Array<double> b = filled(device, {100}, 1.0), x = value(device.array<double>({100}));
  const auto solve = [](Device gpu, SparseMatrix m, Array<double> right, Array<double> out) -> Task<Result<double>> {
    const Solved end = CO_TRY(co_await gpu.sparse().cg(m, right, out, {.tolerance = 1e-6}));
    co_return end.residual;
  };
  EXPECT_LE(value(system.run(solve(device, a, b, x))), 1e-5);
}

TEST_F(Iterative, refuses_what_cannot_be_before_anything_is_submitted) {
  const Sparse sparse = device.sparse();
  const SparseMatrix a = plate(2), other = plate(2), empty = matrix(0, {});
  const Array<double> b = filled(device, {4}, 1.0), x = filled(device, {4}, 0.0), three = filled(device, {3}, 0.0);
  const AnyArray none;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Preconditioner by_other = value(sparse.jacobi(other).get());
  const SparseMatrix oblong = value(sparse.from_triplets<double>(3, 4, Elements{}));
  const SparseMatrix columns = value(sparse.convert(a, SparseFormat::csc).get());
  const std::uint64_t before = device.stats().submitted;
  refused(sparse.cg({}, b, x), "cg: the matrix is an empty handle: default-constructed or moved from");
  refused(sparse.cg(oblong, three, x), "cg: the matrix is 3 x 4; it must be square");
  refused(sparse.cg(columns, b, x),
          "cg: the matrix is CSC; it must be CSR: convert(matrix, SparseFormat::csr) makes one");
  refused(sparse.bicgstab(a, none, x), "bicgstab: b is an empty handle: default-constructed or moved from");
  refused(sparse.gmres(a, b, none), "gmres: x is an empty handle: default-constructed or moved from");
  refused(sparse.cg(a, three, x), "cg: b is [3]; it must be [4]");
  refused(sparse.cg(a, b, filled(device, {4}, 0.0f)), "cg: x is f32; it must be f64");
  refused(sparse.cg(a, b, x, {.tolerance = 0}), "cg: tolerance is 0; it must be above 0");
  refused(sparse.cg(a, b, x, {.tolerance = -1}), "cg: tolerance is -1; it must be above 0");
  refused(sparse.cg(a, b, x, {.tolerance = nan}), "cg: tolerance is NaN; it must be finite");
  refused(sparse.cg(a, b, x, {.max_rounds = 0}), "cg: max_rounds is 0; it must be 1 to 100000000");
  refused(sparse.cg(a, b, x, {.rounds_per_op = 5000}), "cg: rounds_per_op is 5000; it must be 1 to 4096");
  refused(sparse.gmres(a, b, x, {.restart = 0}), "gmres: restart is 0; it must be 1 to 256");
  refused(sparse.gmres(a, b, x, {.restart = 257}), "gmres: restart is 257; it must be 1 to 256");
  refused(sparse.cg(a, b, x, {}, by_other),
          "cg: the preconditioner was made of another matrix; make one of this matrix: its values may change, its "
          "structure may not");
  refused(sparse.power(a, three), "power: x is [3]; it must be [4]");
  refused(sparse.lanczos(empty, 1), "lanczos: the matrix is 0 x 0; it must have a row");
  refused(sparse.lanczos(a, 0), "lanczos: the number of eigenvalues is 0; it must be 1 to 4");
  refused(sparse.lanczos(a, 5), "lanczos: the number of eigenvalues is 5; it must be 1 to 4");
  refused(sparse.lanczos(a, 2, {.basis = 2}), "lanczos: basis is 2 for 2 eigenvalues; it must be larger");
  refused(sparse.lanczos(a, 2, {.basis = 300}), "lanczos: basis is 300; it must be 1 to 256");
  refused(sparse.lanczos(a, b), "lanczos: vectors is [4]; it must be [4, 4]");
  const Result<Solved> aliased = sparse.cg(a, b, b).get();
  EXPECT_EQ(kind_of(aliased), ErrorKind::invalid_argument);
  EXPECT_NE(aliased.error().message().find("cg: x and b overlap"), std::string_view::npos) << aliased.error().message();
  const AnyArray values = value(a.values().slice(0, 0, 4));
  EXPECT_EQ(kind_of(sparse.power(a, values).get()), ErrorKind::invalid_argument) << "it would write the matrix";
  EXPECT_EQ(device.stats().submitted, before + 1) << "one fill";
}

TEST_F(Iterative, says_which_row_has_no_pivot) {
  const Sparse sparse = device.sparse();
  const auto expect_error = [](const Result<Preconditioner>& made, std::string_view text) {
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().kind(), ErrorKind::numerical_error);
    EXPECT_NE(made.error().message().find(text), std::string_view::npos) << made.error().message();
  };
  const SparseMatrix gap = matrix(3, {{0, 0, 1.0}, {1, 1, 0.0}, {2, 1, 1.0}});
  expect_error(sparse.jacobi(gap).get(), "the diagonal element of row 1 is zero");
  expect_error(sparse.ilu0(gap).get(), "row 2 has no diagonal element");
  const SparseMatrix equal = matrix(2, {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}});
  expect_error(sparse.ilu0(equal).get(), "the pivot of row 1 is zero or not finite");
  expect_error(sparse.ic0(equal).get(), "the pivot of row 1 is not positive");
  EXPECT_EQ(sparse.ic0({}).get().error().message(),
            "ic0: the matrix is an empty handle: default-constructed or moved from");
}

TEST_F(Iterative, leaves_zeros_where_it_finds_no_eigenvector) {
  const SparseMatrix broken = matrix(3, {{0, 0, std::numeric_limits<double>::quiet_NaN()}, {1, 1, 1.0}, {2, 2, 1.0}});
  const Array<double> vectors = filled(device, {2, 3}, 7.0);
  const std::vector<std::int64_t> sizes{3, 6, 9, 12, 15, 48};
  for (const std::int64_t size : sizes) (void)filled(device, {size}, 7.0);  // memory that others will have
  const FoundEigenvalues found = value(device.sparse().lanczos(broken, vectors).get());
  EXPECT_EQ(found.stopped, Stopped::not_finite);
  EXPECT_EQ(found.values, (std::vector<double>{0, 0}));
  EXPECT_TRUE(all_equal(device, vectors, 0.0));
}

TEST_F(Iterative, finds_eigenvalues_beyond_the_simple_case) {
  // Three times the same one, more wanted than one cycle finds, and all of a small matrix.
  Elements elements;
  for (std::int64_t i = 0; i < 40; ++i) elements.push_back({i, i, i < 3 ? 50.0 : static_cast<double>(i)});
  const FoundEigenvalues found = value(device.sparse().lanczos(matrix(40, elements), 5, {.basis = 12}).get());
  EXPECT_TRUE(found.converged());
  ASSERT_EQ(found.values.size(), 5U);
  EXPECT_NEAR(found.values[0], 50, 1e-6);
  const FoundEigenvalues all = value(device.sparse().lanczos(plate(2), 4).get());
  EXPECT_TRUE(all.converged());
  const std::vector<double> want{6, 4, 4, 2};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(all.values[i], want[i], 1e-9);
  EXPECT_EQ(value(device.sparse().lanczos(matrix(40, elements), 5, {.max_rounds = 1, .basis = 6}).get()).stopped,
            Stopped::max_rounds);
}

}  // namespace
}  // namespace troupe
