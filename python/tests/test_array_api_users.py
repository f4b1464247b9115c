"""SciPy and scikit-learn compute with our arrays by the array API: our arrays come out, with the numbers of NumPy."""
import warnings

import numpy as np
import pytest

import troupe
from troupe import array_api as xp

scipy = pytest.importorskip("scipy", reason="needs SciPy: pip install scipy")
warnings.filterwarnings("ignore", module="scipy")

RANDOM = np.random.default_rng(5)
V, M = np.abs(RANDOM.normal(size=20)) + 0.1, RANDOM.normal(size=(6, 4))


def expect(function, *arrays):
    theirs, ours = function(*arrays), function(*map(xp.asarray, arrays))
    assert isinstance(ours, troupe.Array)
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["erf", "erfc", "expit", "logit", "gammaln", "entr", "i0", "log_ndtr", "logsumexp",
                                  "softmax", "log_softmax"])
def test_special(name):
    import scipy.special
    expect(getattr(scipy.special, name), V / 4)


STATISTICS = {
    "skew": lambda s, x: s.skew(x), "kurtosis": lambda s, x: s.kurtosis(x), "moment": lambda s, x: s.moment(x, 3),
    "gmean": lambda s, x: s.gmean(x), "hmean": lambda s, x: s.hmean(x), "zscore": lambda s, x: s.zscore(x),
    "variation": lambda s, x: s.variation(x), "sem": lambda s, x: s.sem(x), "entropy": lambda s, x: s.entropy(x),
    "iqr": lambda s, x: s.iqr(x), "describe": lambda s, x: s.describe(x).variance,
    "normaltest": lambda s, x: s.normaltest(x).statistic, "ttest_ind": lambda s, x: s.ttest_ind(x, x * 2).pvalue,
    "pearsonr": lambda s, x: s.pearsonr(x, x ** 2).statistic, "trim_mean": lambda s, x: s.trim_mean(x, 0.1),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_stats(name):
    stats = pytest.importorskip("scipy.stats")
    expect(lambda x: STATISTICS[name](stats, x), V)


def test_transforms_signals_and_integrals():
    import scipy.fft
    import scipy.integrate
    import scipy.signal
    for function in (scipy.fft.fft, scipy.fft.rfft, scipy.fft.dct, scipy.fft.hfft, scipy.signal.detrend,
                     scipy.signal.hilbert, scipy.integrate.trapezoid, scipy.integrate.cumulative_simpson):
        expect(function, V)
    expect(scipy.signal.fftconvolve, V, V)
    expect(lambda a, b: scipy.integrate.tanhsinh(lambda x: x * x, a, b).integral, np.asarray(0.3), np.asarray(1.3))


def test_clusters():
    vq = pytest.importorskip("scipy.cluster.vq")
    expect(vq.whiten, M)
    expect(lambda a: vq.vq(a, a[:2, ...])[1], M)
    expect(lambda a: vq.kmeans2(a, a[:2, ...], minit="matrix")[0], M)


@pytest.fixture
def sklearn():
    found = pytest.importorskip("sklearn", reason="needs scikit-learn: pip install scikit-learn")
    with found.config_context(array_api_dispatch=True):
        yield found


X = RANDOM.normal(size=(40, 5))
Y = X @ np.ones(5) + RANDOM.normal(size=40) / 10


@pytest.mark.parametrize("name", ["StandardScaler", "MinMaxScaler", "MaxAbsScaler", "Normalizer"])
def test_scalers(sklearn, name):
    import sklearn.preprocessing
    expect(lambda x: getattr(sklearn.preprocessing, name)().fit_transform(x), X)


def test_models(sklearn):
    import sklearn.decomposition
    import sklearn.linear_model
    for solver in ("full", "covariance_eigh"):
        expect(lambda x, solver=solver: abs(sklearn.decomposition.PCA(2, svd_solver=solver).fit_transform(x)), X)
    expect(lambda x, y: sklearn.linear_model.Ridge(solver="svd").fit(x, y).predict(x), X, Y)


def test_metrics(sklearn):
    import sklearn.metrics
    labels = xp.asarray((Y > 0).astype("int64"))
    assert sklearn.metrics.accuracy_score(labels, labels) == 1
    ours = sklearn.metrics.mean_squared_error(xp.asarray(Y), xp.asarray(Y + 1))
    assert abs(float(ours) - 1) < 1e-12
