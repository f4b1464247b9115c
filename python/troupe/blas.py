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


_NAMES = [name.partition(".")[2] for name in map(str, _core.rows()) if name.startswith("blas.")]
for _name in _NAMES:
    if _name not in globals():
        globals()[_name] = _op(_name)
del _name
__all__ = _NAMES
