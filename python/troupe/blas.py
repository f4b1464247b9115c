"""The ops of BLAS as they are in C++: they write into arrays that are given, `troupe.blas.gemm(a, b, c, beta=1)`.

Options by name: alpha, beta, upper (which triangle; the lower one unless set), unit_diagonal, right (on which side the
special matrix stands), hermitian, conjugate. docs/blas.md says what each op takes. All give what they have written.
"""
from . import _core


def _op(name):
    def function(*arrays, **options):
        _core.run(f"blas.{name}", arrays, options)
        return arrays[-1]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The op blas.{name}."
    return function


def axpy(alpha, x, y):
    """y += alpha x.

    >>> troupe.blas.axpy(2, troupe.ones(2), troupe.ones(2))
    Array([3., 3.], dtype=float64)
    """
    _core.run("blas.axpy", [x, y], {"alpha": alpha})
    return y


def scal(alpha, x):
    """x = alpha x."""
    _core.run("blas.scal", [x], {"alpha": alpha})
    return x


def dot(x, y, *, conjugate=False):
    """The sum of x y, a number: it waits. With `conjugate`, x is conjugated.

    >>> troupe.blas.dot(troupe.ones(3), troupe.ones(3))
    3.0
    """
    return _core.dot(x, y, conjugate)


def nrm2(x) -> float:
    """The square root of the sum of the squares. It waits, as all that give a number."""
    return _core.nrm2(x)


def asum(x) -> float:
    """The sum of the absolute values, of complex numbers of both parts."""
    return _core.asum(x)


def iamax(x) -> int:
    """The index of the first element with the greatest absolute value."""
    return _core.iamax(x)


def iamin(x) -> int:
    """The index of the first element with the least absolute value."""
    return _core.iamin(x)


def rot(x, y, cosine, sine):
    """x, y = cosine x + sine y, cosine y - conj(sine) x."""
    _core.rot(x, y, cosine, sine)
    return x, y


def gemm_group(a, b, c, *, alpha=1.0, beta=0.0):
    """Up to 64 products in one op, of lists of matrices: c[i] = alpha a[i] b[i] + beta c[i]."""
    _core.gemm_group(list(a), list(b), list(c), alpha, beta)
    return c


_NAMES = [name.partition(".")[2] for name in map(str, _core.rows()) if name.startswith("blas.")]
for _name in _NAMES:
    if _name not in globals():
        globals()[_name] = _op(_name)
del _name
__all__ = sorted({*_NAMES, "asum", "axpy", "dot", "gemm_group", "iamax", "iamin", "nrm2", "rot", "scal"})
