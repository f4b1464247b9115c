"""Layers of neural networks and their gradients: `troupe.nn`, under the names of PyTorch's functions where it has them.
docs/dnn.md says what each does. Arrays are float16, bfloat16, float32 or float64, `[batch, channels, ...]` with one to
three axes of space; what goes along these is one number, or a tuple of one for each.

Gradients are functions of their own: each takes what comes back and what its layer was given.
"""
from __future__ import annotations

from collections import namedtuple

from . import _core, _dtypes
from ._array import Array
from ._order import _new
from ._recurrent import *  # noqa: F403
from ._training import *  # noqa: F403

Pooled = namedtuple("Pooled", "values indices")
NormGradients = namedtuple("NormGradients", "x scale shift")


def _told(**options):
    """Options that were given, as the binding takes them."""
    return {name: tuple(value) if isinstance(value, list) else value
            for name, value in options.items() if value is not None}


def _made(layer, arrays, options, like=None, shape=None):
    like = arrays[0] if like is None else like
    out = _new(like, like.shape if shape is None else shape, like.dtype_number)
    _core.dnn(layer, [*arrays, out], options)
    return out


# ---- convolutions ----

def conv(x, w, bias=None, *, stride=1, padding=0, padding_after=None, dilation=1, groups=1, activation=None, alpha=None,
         addend=None) -> Array:
    """x convolved with the filters w, `[filters, channels / groups, ...]`, then plus the bias and the addend, then
    through the activation.

    >>> troupe.nn.conv(troupe.ones((1, 1, 4)), troupe.ones((1, 1, 2)))
    Array([[[2., 2., 2.]]], dtype=float64)
    """
    options = _told(stride=stride, padding=padding, padding_after=padding_after, dilation=dilation, groups=groups,
                    activation=activation, alpha=alpha, bias=bias, addend=addend)
    return _made("convolution", [x, w], options, shape=_core.dnn_shape("convolution", x, w, options))


conv1d = conv2d = conv3d = conv


def conv_input(shape, w, dy, *, stride=1, padding=0, padding_after=None, dilation=1, groups=1) -> Array:
    """The gradient of `conv`'s x, which had that shape."""
    options = _told(stride=stride, padding=padding, padding_after=padding_after, dilation=dilation, groups=groups)
    return _made("convolution_input_gradient", [dy, w], options, shape=shape)


def conv_weight(x, shape, dy, *, stride=1, padding=0, padding_after=None, dilation=1, groups=1) -> Array:
    """The gradient of `conv`'s w, which had that shape."""
    options = _told(stride=stride, padding=padding, padding_after=padding_after, dilation=dilation, groups=groups)
    return _made("convolution_filter_gradient", [x, dy], options, shape=shape)


def conv_transpose(x, w, bias=None, *, stride=1, padding=0, output_padding=0, dilation=1, groups=1, activation=None,
                   alpha=None) -> Array:
    """The transposed convolution: w is `[channels, filters / groups, ...]`, and padding is cut off the result."""
    options = _told(stride=stride, padding=padding, dilation=dilation, groups=groups, activation=activation,
                    alpha=alpha, bias=bias)
    shape = _core.dnn_shape("transposed_convolution", x, w, {**options, "more": output_padding})
    return _made("transposed_convolution", [x, w], options, shape=shape)


# ---- pools ----

def _pool_shape(x, options):
    return _core.dnn_shape("pool", x, None, options)


def _with_indices(layer, x, shape, options):
    indices = _new(x, shape, _dtypes.I64)
    return Pooled(_made(layer, [x], {**options, "indices": indices}, shape=shape), indices)


def max_pool(x, window, *, stride=None, padding=0, padding_after=None, dilation=1) -> Pooled:
    """The greatest element of each window, and where in its channel it is."""
    options = _told(window=window, stride=stride, padding=padding, padding_after=padding_after, dilation=dilation)
    return _with_indices("max_pool", x, _pool_shape(x, options), options)


def max_pool_gradient(dy, indices, shape, window, *, stride=None, padding=0, padding_after=None, dilation=1) -> Array:
    """The gradient of `max_pool`'s x, which had that shape."""
    options = _told(window=window, stride=stride, padding=padding, padding_after=padding_after, dilation=dilation)
    return _made("max_pool_gradient", [dy, indices], options, shape=shape)


def avg_pool(x, window, *, stride=None, padding=0, padding_after=None, count_include_pad=True) -> Array:
    """The mean of each window.

    >>> troupe.nn.avg_pool(troupe.asarray([[[1., 3., 5., 9.]]]), 2)
    Array([[[2., 7.]]], dtype=float64)
    """
    options = _told(window=window, stride=stride, padding=padding, padding_after=padding_after,
                    counts_padding=count_include_pad)
    return _made("average_pool", [x], options, shape=_pool_shape(x, options))


def avg_pool_gradient(dy, shape, window, *, stride=None, padding=0, padding_after=None,
                      count_include_pad=True) -> Array:
    """The gradient of `avg_pool`'s x, which had that shape."""
    options = _told(window=window, stride=stride, padding=padding, padding_after=padding_after,
                    counts_padding=count_include_pad)
    return _made("average_pool_gradient", [dy], options, shape=shape)


def _space(x, extents):
    return _core.dnn_shape("", x, None, _told(window=extents))


def adaptive_max_pool(x, extents) -> Pooled:
    """A window for each element of a result with these extents, which together see all of x."""
    return _with_indices("adaptive_max_pool", x, _space(x, extents), {})


def adaptive_avg_pool(x, extents) -> Array:
    """The same with means; extents of 1 give the mean of everything."""
    return _made("adaptive_average_pool", [x], {}, shape=_space(x, extents))


max_pool1d = max_pool2d = max_pool3d = max_pool
avg_pool1d = avg_pool2d = avg_pool3d = avg_pool


# ---- normalizations ----

def batch_norm(x, running_mean, running_var, weight=None, bias=None, *, training=False, momentum=0.1,
               eps=1e-5) -> Array:
    """Normalized by the running figures; with `training` by the batch, towards which the running figures then go."""
    if not training:
        return _made("batch_norm", [x, running_mean, running_var], _told(scale=weight, shift=bias, epsilon=eps))
    return _made("batch_norm_training", [x], _told(scale=weight, shift=bias, running_mean=running_mean,
                                                   running_variance=running_var, momentum=momentum, epsilon=eps))


def layer_norm(x, weight=None, bias=None, *, axes=1, eps=1e-5) -> Array:
    """Normalized along the last axes.

    >>> troupe.nn.layer_norm(troupe.asarray([1., 3.]), eps=0.0)
    Array([-1.,  1.], dtype=float64)
    """
    return _made("layer_norm", [x], _told(scale=weight, shift=bias, axes=axes, epsilon=eps))


def rms_norm(x, weight=None, bias=None, *, axes=1, eps=1e-5) -> Array:
    """Divided by the root of the mean square along the last axes."""
    return _made("rms_norm", [x], _told(scale=weight, shift=bias, axes=axes, epsilon=eps))


def group_norm(x, groups, weight=None, bias=None, *, eps=1e-5) -> Array:
    """Normalized by groups of channels of each sample."""
    return _made("group_norm", [x], _told(groups=groups, scale=weight, shift=bias, epsilon=eps))


def instance_norm(x, weight=None, bias=None, *, eps=1e-5) -> Array:
    """Normalized by each channel of each sample."""
    return _made("instance_norm", [x], _told(scale=weight, shift=bias, epsilon=eps))


def _norm_gradient(layer, dy, x, weight, shape, options) -> NormGradients:
    number = x.dtype_number if weight is None else weight.dtype_number
    dscale, dshift = _new(x, shape, number), _new(x, shape, number)
    dx = _made(layer, [dy, x], {**options, **_told(scale=weight), "dscale": dscale, "dshift": dshift})
    return NormGradients(dx, dscale, dshift)


def batch_norm_gradient(dy, x, weight=None, *, eps=1e-5) -> NormGradients:
    """Those of a `batch_norm` in training: of x, the weight and the bias."""
    return _norm_gradient("batch_norm_gradient", dy, x, weight, x.shape[1:2], {"epsilon": eps})


def layer_norm_gradient(dy, x, weight=None, *, axes=1, eps=1e-5) -> NormGradients:
    """Of x, the weight and the bias."""
    return _norm_gradient("layer_norm_gradient", dy, x, weight, x.shape[x.ndim - axes:],
                          {"epsilon": eps, "axes": axes})


def rms_norm_gradient(dy, x, weight=None, *, axes=1, eps=1e-5) -> NormGradients:
    """Of x, the weight and the bias."""
    return _norm_gradient("rms_norm_gradient", dy, x, weight, x.shape[x.ndim - axes:], {"epsilon": eps, "axes": axes})


def group_norm_gradient(dy, x, groups, weight=None, *, eps=1e-5) -> NormGradients:
    """Of x, the weight and the bias; an `instance_norm` has as many groups as channels."""
    return _norm_gradient("group_norm_gradient", dy, x, weight, x.shape[1:2], {"epsilon": eps, "groups": groups})


# ---- activations and interpolation ----

def activation(function, x, *, alpha=None) -> Array:
    """`function` is "relu", "leaky_relu", "elu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "softplus", "mish",
    "relu6", "hard_sigmoid", "hard_silu" or "hard_tanh"; alpha is the number that `leaky_relu` and `elu` have.

    >>> troupe.nn.activation("leaky_relu", troupe.asarray([-2., 2.]), alpha=0.5)
    Array([-1.,  2.], dtype=float64)
    """
    return _made("activation", [x], _told(activation=function, alpha=alpha))


def activation_gradient(function, dy, x, *, alpha=None) -> Array:
    """dy times the slope at x, which is what the function was given."""
    return _made("activation_gradient", [dy, x], _told(activation=function, alpha=alpha))


def interpolate(x, extents, *, mode="nearest", align_corners=False) -> Array:
    """x with other extents along the axes of space; `mode` is "nearest", "linear" or "cubic"."""
    return _made("interpolate", [x], {"way": mode, "aligns_corners": align_corners}, shape=_space(x, extents))


def interpolate_gradient(dy, shape, *, mode="nearest", align_corners=False) -> Array:
    """The gradient of `interpolate`'s x, which had that shape."""
    return _made("interpolate_gradient", [dy], {"way": mode, "aligns_corners": align_corners}, shape=shape)
