"""The families: their functions against NumPy, and how each op of C++ is spelled."""
import numpy as np
import pytest
from conftest import same

import troupe
from troupe import _core

RANDOM = np.random.default_rng(1)
A = RANDOM.normal(size=(4, 4)) + 4 * np.eye(4)
B = RANDOM.normal(size=(4, 2))
S = A @ A.T


def close(ours, theirs, tolerance=1e-9):
    same(ours, theirs, tolerance)


def test_linear_systems():
    linalg = troupe.linalg
    a, b, s = (troupe.asarray(x) for x in (A, B, S))
    close(linalg.solve(a, b), np.linalg.solve(A, B))
    close(linalg.solve(a, b[:, 0]), np.linalg.solve(A, B[:, 0]))
    close(linalg.solve_positive(s, b), np.linalg.solve(S, B))
    close(linalg.inv(a), np.linalg.inv(A))
    close(linalg.det(a), np.linalg.det(A))
    close(linalg.det(troupe.stack([a, s])), np.linalg.det(np.stack([A, S])))
    close(linalg.lu_solve(linalg.lu(a), b), np.linalg.solve(A, B))
    close(linalg.cholesky(s), np.linalg.cholesky(S))
    close(linalg.cholesky_solve(linalg.cholesky(s), b), np.linalg.solve(S, B))
    close(linalg.solve_triangular(linalg.cholesky(s), b), np.linalg.solve(np.linalg.cholesky(S), B))
    tall = A[:, :2]
    close(linalg.lstsq(tall, B), np.linalg.lstsq(tall, B, rcond=None)[0])
    close(linalg.norm(a), np.linalg.norm(A))
    close(linalg.trace(a), np.trace(A))
    close(linalg.inv(troupe.asarray([[2, 0], [0, 4]])), np.diag([0.5, 0.25]))


def test_factorizations():
    q, r = troupe.linalg.qr(A[:, :3])
    close(q @ r, A[:, :3])
    u, s, vh = troupe.linalg.svd(A[:, :3])
    close((u * s) @ vh, A[:, :3])
    close(s, np.linalg.svd(A[:, :3], compute_uv=False))
    close(troupe.linalg.svdvals(A), np.linalg.svd(A, compute_uv=False))
    w, v = troupe.linalg.eigh(S)
    close(troupe.asarray(S) @ v, (v * w).numpy(), 1e-8)
    close(troupe.linalg.eigvalsh(S), np.linalg.eigvalsh(S), 1e-8)


def test_blas_writes_into_what_is_given():
    c = troupe.ones((4, 2))
    made = troupe.blas.gemm(troupe.asarray(A), troupe.asarray(B), c, alpha=2, beta=1)
    assert made is c
    close(c, 2 * A @ B + 1)
    y = troupe.zeros(4)
    close(troupe.blas.gemv(troupe.asarray(A), troupe.asarray(B[:, 0]), y), A @ B[:, 0])
    close(troupe.blas.scal(3, y), 3 * A @ B[:, 0])
    with pytest.raises(troupe.InvalidArgument, match="no option"):
        troupe.blas.gemm(c, c, c, gamma=1)
    with pytest.raises(troupe.InvalidArgument, match="takes 3 arrays"):
        troupe.blas.gemm(c)


def test_fourier_transforms():
    x = RANDOM.normal(size=(3, 8))
    close(troupe.fft.fft(x), np.fft.fft(x))
    close(troupe.fft.ifft(troupe.fft.fft(x)), np.fft.ifft(np.fft.fft(x)))
    close(troupe.fft.rfft(x), np.fft.rfft(x))
    close(troupe.fft.irfft(troupe.fft.rfft(x)), x)
    close(troupe.fft.fft(x, 5, axis=0, norm="ortho"), np.fft.fft(x, 5, axis=0, norm="ortho"))
    close(troupe.fft.fftn(x), np.fft.fftn(x))
    close(troupe.fft.rfftn(x), np.fft.rfftn(x))
    close(troupe.fft.irfftn(troupe.fft.rfftn(x), s=(3, 8), axes=(0, 1)), x)
    close(troupe.fft.fftshift(x), np.fft.fftshift(x))
    close(troupe.fft.rfftfreq(8), np.fft.rfftfreq(8))


def test_random_numbers_carry_their_position():
    generator = troupe.random.Generator(7)
    first, second = generator.uniform(10), generator.uniform(10)
    assert generator.position == 20
    again = troupe.random.Generator(7).uniform(20)
    same(again, np.concatenate([first.numpy(), second.numpy()]))
    same(generator.at(10).uniform(10), second.numpy())
    x = generator.normal(20000, 5, 2, dtype="float32")
    assert abs(float(x.mean()) - 5) < 0.1 and abs(float(x.std()) - 2) < 0.1
    dice = generator.integers(1, 7, 1000)
    assert sorted(set(dice.tolist())) == [1, 2, 3, 4, 5, 6]
    assert sorted(generator.permutation(100).tolist()) == list(range(100))
    assert set(generator.discrete([0, 1, 0, 3], 100).tolist()) == {1, 3}
    for name, parameters in [("gamma", (2,)), ("beta", (2, 3)), ("poisson", (4,)), ("bernoulli", (0.5,)),
                             ("exponential", ()), ("cauchy", ()), ("log_normal", ()), ("bits", ())]:
        assert getattr(generator, name)(*parameters, shape=5).shape == (5,)
    with pytest.raises(ValueError):
        generator.uniform(3, 2.0, 1.0)


def test_random_numbers_of_other_engines():
    generator = troupe.random.Generator(42, engine="mt19937")
    assert (generator.engine, generator.dimensions) == ("mt19937", 1)
    same(generator.bits(5, dtype="uint32"), np.random.RandomState(42).randint(0, 2**32, 5, "uint32"))
    same(generator.at(3).bits(2, dtype="uint32"), np.random.RandomState(42).randint(0, 2**32, 5, "uint32")[3:])
    for engine in ("xorwow", "mrg32k3a", "mt19937", "sobol32", "scrambled_sobol32", "sobol64", "scrambled_sobol64"):
        first = troupe.random.Generator(1, engine=engine)
        whole = troupe.random.Generator(1, engine=engine).normal(10)
        same(whole, np.concatenate([first.normal(3).numpy(), first.normal(7).numpy()]))
        assert engine in repr(first)
    points = np.array([[0, 0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75]])
    same(troupe.random.Generator(0, engine="sobol32", dimensions=2).uniform((4, 2), dtype="float32"),
         points.astype("float32"))
    same(troupe.random.Generator(0, engine="sobol32", dimensions=2).uniform((4, 2)), points + 2**-33)
    with pytest.raises(ValueError, match="there is no engine \"mersenne\"; there are philox4x32_10, xorwow"):
        troupe.random.Generator(1, engine="mersenne")
    with pytest.raises(ValueError, match="takes several numbers"):
        troupe.random.Generator(1, engine="sobol64").gamma(2, 5)


def test_sparse_matrices():
    dense = np.where(RANDOM.random((5, 4)) < 0.5, RANDOM.normal(size=(5, 4)), 0)
    matrix = troupe.sparse.from_dense(dense)
    assert (matrix.shape, matrix.format, matrix.nnz) == ((5, 4), "csr", np.count_nonzero(dense))
    x = RANDOM.normal(size=(4, 3))
    close(matrix @ x, dense @ x)
    close(matrix.multiply(RANDOM.normal(size=5) * 0 + 1, transpose=True), dense.T @ np.ones(5))
    close(matrix.to_format("csc").to_dense(), dense)
    close((matrix @ troupe.sparse.from_dense(dense.T.copy())).to_dense(), dense @ dense.T)
    eye = troupe.sparse.csr((2, 2), [0, 1, 2], [0, 1], [2.0, 4.0])
    close(eye.solve_triangular([2.0, 4.0]), np.ones(2))
    with pytest.raises(troupe.InvalidArgument):
        troupe.sparse.csr((2, 2), [0, 1, 2], [0, 7], [2.0, 4.0])


def test_primitives():
    x = RANDOM.integers(0, 9, (3, 5)).astype("float32")
    x[1, 2] = np.nan
    ours = troupe.asarray(x)
    for axis in (0, 1, -1):
        same(troupe.sort(ours, axis=axis), np.sort(x, axis=axis))
        same(troupe.argsort(ours, axis=axis), np.argsort(x, axis=axis, kind="stable"))
        same(ours.argmax(axis), np.argmax(x, axis))
        same(ours.argmin(axis, keepdims=True), np.argmin(x, axis, keepdims=True))
        same(troupe.cumsum(ours, axis=axis), np.cumsum(x, axis=axis))
        same(troupe.take(ours, [0, 2, -1, 0], axis=axis), np.take(x, [0, 2, -1, 0], axis=axis))
    same(ours.argmax(), np.argmax(x))
    same(troupe.cumsum(troupe.arange(4, dtype="int8")), np.cumsum(np.arange(4, dtype="int8")))
    same(troupe.cumprod(troupe.arange(1, 5)), np.cumprod(np.arange(1, 5)))
    same(troupe.unique_values(troupe.asarray([3, 1, 3, 2])), np.array([1, 2, 3]))
    ascending, keys = np.array([1.0, 2, 2, 5]), np.array([0.0, 2, 9])
    for side in ("left", "right"):
        same(troupe.searchsorted(troupe.asarray(ascending), troupe.asarray(keys), side=side),
             np.searchsorted(ascending, keys, side=side))
    same(troupe.histogram(troupe.asarray(ascending), troupe.asarray([0.0, 2, 5])), np.array([1, 3]))
    same(troupe.arange(10)[troupe.asarray([[-1, 0], [3, 3]])], np.arange(10)[np.array([[-1, 0], [3, 3]])])
    with pytest.raises(IndexError, match="out of bounds"):
        troupe.arange(3)[[0, 3]]
    with pytest.raises(troupe.InvalidArgument):
        troupe.arange(3)[troupe.asarray([0, 3])].numpy()


def test_numbers_and_groups_of_blas():
    x, y = troupe.asarray([3.0, -4.0]), troupe.asarray([1.0, 2.0])
    assert (troupe.blas.dot(x, y), troupe.blas.nrm2(x), troupe.blas.asum(x)) == (-5, 5, 7)
    assert (troupe.blas.iamax(x), troupe.blas.iamin(x)) == (1, 0)
    z = troupe.asarray([1 + 1j, 2j])
    assert troupe.blas.dot(z, z, conjugate=True) == 6
    troupe.blas.rot(x, y, 0, 1)
    assert (x.tolist(), y.tolist()) == ([1, 2], [-3, 4])
    c = [troupe.zeros((4, 4)), troupe.zeros((4, 2))]
    troupe.blas.gemm_group([troupe.asarray(A)] * 2, [troupe.asarray(A), troupe.asarray(B)], c, alpha=2)
    close(c[0], 2 * A @ A)
    close(c[1], 2 * A @ B)
    with pytest.raises(troupe.Unsupported, match="dot takes"):
        troupe.blas.dot(troupe.arange(3), troupe.arange(3))


def test_gradients_of_layers():
    d, w, before = (troupe.asarray(RANDOM.normal(size=shape)) for shape in ((5, 3), (3, 4), (5, 4)))
    sums = troupe.zeros(4)
    made = troupe.layer_gradient(d, w, preactivation=before, activation="relu", bias_gradient=sums)
    expected = (d.numpy() @ w.numpy()) * (before.numpy() > 0)
    close(made, expected)
    close(sums, expected.sum(0))
    kept = troupe.empty((5, 4))
    close(troupe.layer(d, w, activation="relu", preactivation=kept), np.maximum(kept.numpy(), 0))


def test_iterative_solvers():
    sparse = troupe.sparse
    dense = S + 10 * np.eye(4)
    a, b = sparse.from_dense(troupe.asarray(dense)), troupe.asarray(B[:, 0].copy())
    expected = np.linalg.solve(dense, B[:, 0])
    for solver in (sparse.cg, sparse.bicgstab, sparse.gmres):
        for make in (None, sparse.jacobi, sparse.ilu0, sparse.ic0):
            if solver is sparse.cg and make is sparse.ilu0:
                continue
            ended = solver(a, b, tolerance=1e-12, preconditioner=make and make(a))
            assert ended.converged and ended.rounds < 20 and len(ended.history) > 1
            close(ended.x, expected, 1e-8)
    assert sparse.cg(a, b, x0=expected).rounds <= 1
    assert sparse.cg(a, b, max_rounds=1, tolerance=1e-15).stopped == "max_rounds"
    values = np.linalg.eigvalsh(dense)
    assert abs(sparse.power(a).values - values[-1]) < 1e-5
    found = sparse.lanczos(a, 2)
    np.testing.assert_allclose(found.values, values[:1:-1], rtol=1e-6)
    assert found.vectors.shape == (2, 4)
    with pytest.raises(troupe.InvalidArgument, match="no option"):
        sparse.cg(a, b, colour=1)
    blocks = a.to_format("bsr", block_size=2)
    assert blocks.format == "bsr" and blocks.values.shape[1:] == (2, 2)
    close(blocks @ b, dense @ B[:, 0])
    mask = sparse.from_dense(troupe.eye(4))
    close(mask.sddmm(A, A).to_dense(), np.diag(np.diag(A @ A)))


def test_segments_sets_and_moves():
    p = troupe.primitives
    x, offsets = np.array([3.0, 1, 2, 5, 4]), troupe.asarray([0, 3, 3, 5])
    ours = troupe.asarray(x)
    same(p.segmented_sort(offsets, ours), np.array([1.0, 2, 3, 4, 5]))
    same(p.segmented_sort(offsets, ours, descending=True), np.array([3.0, 2, 1, 5, 4]))
    same(p.segmented_reduce("max", offsets, ours)[::2], np.array([3.0, 5]))
    same(p.segmented_reduce("sum", offsets, ours), np.array([6.0, 0, 9]))
    same(p.segmented_scan("sum", offsets, ours), np.array([3.0, 4, 6, 5, 9]))
    same(p.reduce("product", ours), np.array(120.0))
    same(p.scan("max", ours, exclusive=True)[1:], np.array([3.0, 3, 3, 5]))
    same(p.scatter(ours, troupe.asarray([4, 3, 2, 1, 0]), troupe.zeros(5)), x[::-1])
    same(p.histogram(ours, 1, 5, 2), np.array([2, 3]))
    keys, values = p.sort_by_key(ours, troupe.arange(5))
    same(keys, np.sort(x))
    same(values, np.argsort(x))
    flags = ours > 2
    moved, count = p.partition(ours, flags)
    same(moved, np.array([3.0, 5, 4, 1, 2]))
    assert int(count) == 3
    same(p.positions(flags), np.array([0, 3, 4]))
    a, b = troupe.asarray([1, 2, 2, 4]), troupe.asarray([2, 3, 4])
    for operation, expected in [("unite", [1, 2, 2, 3, 4]), ("intersect", [2, 4]), ("difference", [1, 2]),
                                ("symmetric_difference", [1, 2, 3])]:
        same(p.sets(operation, a, b), np.array(expected))
    with pytest.raises(troupe.InvalidArgument, match="no choice"):
        p.sets("minus", a, b)


# How each op of C++ is spelled in Python.
SPELLINGS = {
    "blas.axpy": "blas.axpy", "blas.geam": "blas.geam", "blas.gemm": "blas.gemm", "blas.scal": "blas.scal",
    "blas.symm": "blas.symm", "blas.syrk": "blas.syrk", "blas.triangular": "blas.trsm", "control.nop": "nop",
    "fft.forward": "fft.fft", "fft.inverse": "fft.ifft", "matmul.multiply": "matmul", "memory.cast": "Array.astype",
    "memory.copy": "Array.copy", "memory.fill": "full", "memory.ready": "Array.ready", "plugin.call": "call_plugin",
    "primitives.arg_reduce": "argmax", "primitives.argsort": "argsort", "primitives.gather": "take",
    "primitives.histogram_bounds": "histogram", "primitives.scan": "cumsum", "primitives.search": "searchsorted",
    "primitives.select": "Array.__getitem__", "primitives.sort": "sort", "primitives.top_k": "top_k",
    "primitives.unique": "unique_values",
    **{f"random.{name}": f"random.Generator.{name}" for name in (
        "bernoulli beta bits cauchy discrete exponential gamma integers log_normal normal permutation poisson "
        "uniform").split()},
    "solver.cholesky": "linalg.cholesky", "solver.cholesky_solve": "linalg.cholesky_solve",
    "solver.determinant": "linalg.det", "solver.eigh": "linalg.eigh", "solver.inverse": "linalg.inv",
    "solver.least_squares": "linalg.lstsq", "solver.lu": "linalg.lu", "solver.lu_solve": "linalg.lu_solve",
    "solver.qr": "linalg.qr", "solver.solve": "linalg.solve", "solver.svd": "linalg.svd", "sparse.adopt": "sparse.csr",
    "sparse.convert": "sparse.Matrix.to_format", "sparse.count_dense": "sparse.from_dense",
    "sparse.count_product": "sparse.Matrix.__matmul__", "sparse.fill_dense": "sparse.from_dense",
    "sparse.fill_product": "sparse.Matrix.__matmul__", "sparse.multiply": "sparse.Matrix.multiply",
    "sparse.solve": "sparse.Matrix.solve_triangular", "sparse.to_dense": "sparse.Matrix.to_dense",
    "tensor.binary": "add", "tensor.contract": "einsum", "tensor.reduce": "sum", "tensor.ternary": "where",
    "tensor.unary": "exp",
    **{f"blas.{name}": f"blas.{name}" for name in ("dot", "gemm_group", "rot")}, "blas.measure": "blas.nrm2",
    "jit.launch": "jit.Kernel.__call__", "jit.set": "jit.Program.set", "matmul.gradient": "layer_gradient",
    **{f"primitives.{name}": f"primitives.{name}" for name in (
        "histogram reduce scatter segmented_reduce segmented_scan segmented_sort sets").split()},
    **{f"sparse.{name}": f"sparse.{name}" for name in "bicgstab cg gmres ic0 ilu0 jacobi lanczos power".split()},
    "dnn.convolution": "nn.conv2d", "dnn.convolution_filter": "nn.conv_weight",
    "dnn.convolution_input": "nn.conv_transpose", "dnn.average_pool": "nn.avg_pool2d",
    "dnn.average_pool_gradient": "nn.avg_pool_gradient", "dnn.batch_norm_training": "nn.batch_norm",
    **{f"dnn.{name}": f"nn.{name}" for name in (
        "activation activation_gradient batch_norm batch_norm_gradient group_norm group_norm_gradient interpolate "
        "interpolate_gradient layer_norm layer_norm_gradient max_pool max_pool_gradient").split()},
    "dnn.loss": "nn.mse_loss", "dnn.loss_gradient": "nn.mse_loss_gradient", "dnn.optimizer_step": "nn.adamw",
    "dnn.recurrent": "nn.lstm", "dnn.recurrent_gradient": "nn.gru_gradient",
    "dnn.attention": "nn.scaled_dot_product_attention",
    "dnn.attention_gradient": "nn.scaled_dot_product_attention_gradient",
    **{f"dnn.{name}": f"nn.{name}" for name in (
        "softmax softmax_gradient cross_entropy cross_entropy_gradient measure_gradients adjust_loss_scale embedding "
        "embedding_gradient dropout cache_append paged_attention rotary").split()},
    "sparse.count_blocks": "sparse.Matrix.to_format", "sparse.fill_blocks": "sparse.Matrix.to_format",
    "sparse.sddmm": "sparse.Matrix.sddmm", "tensor.evaluate": "expression", "tensor.evaluate_reduce": "expression",
}


def test_every_op_has_a_python_spelling():
    names = {str(name) for name in _core.names_of_ops()}
    assert names == set(SPELLINGS)
    for spelling in SPELLINGS.values():
        found = troupe
        for word in spelling.split("."):
            found = getattr(found, word)
        assert callable(found)
