"""Softmax, losses, optimizers, embeddings, dropout and attention: the part of `troupe.nn` that networks are trained
with, under the names of PyTorch's functions where it has them. docs/training.md says what each does.
"""
from __future__ import annotations

from collections import namedtuple

from . import _core, _dtypes
from ._array import Array
from ._order import _new

Attended = namedtuple("Attended", "values sums")
AttentionGradients = namedtuple("AttentionGradients", "q k v")
_F32 = _dtypes._BY_NAME["f32"]


def _run(call, arrays, out, options, generator=None):
    given = {name: value for name, value in options.items() if value is not None}
    _core.dnn_training(call, [*arrays, *out], given, None if generator is None else generator._core)
    return out[0] if len(out) == 1 else out


def _like(x, shape=None):
    return _new(x, x.shape if shape is None else shape, x.dtype_number)


# ---- softmax ----

def softmax(x, *, axis=-1) -> Array:
    """e^x, divided by the sum of its row.

    >>> troupe.nn.softmax(troupe.asarray([0., 0.]))
    Array([0.5, 0.5], dtype=float64)
    """
    return _run("softmax", [x], [_like(x)], {"axis": axis})


def log_softmax(x, *, axis=-1) -> Array:
    """The logarithm of `softmax`, without the detour."""
    return _run("log_softmax", [x], [_like(x)], {"axis": axis})


def softmax_gradient(dy, y, *, axis=-1) -> Array:
    """The gradient of `softmax`'s x; y is what it gave."""
    return _run("softmax_gradient", [dy, y], [_like(y)], {"axis": axis})


def log_softmax_gradient(dy, y, *, axis=-1) -> Array:
    """The gradient of `log_softmax`'s x; y is what it gave."""
    return _run("log_softmax_gradient", [dy, y], [_like(y)], {"axis": axis})


# ---- losses ----

def _loss(call, x, target, options, rows=None):
    shape = (x.shape if rows is None else rows) if options["reduction"] == "none" else ()
    return _run(call, [x, target], [_like(x, shape)], options)


def _loss_gradient(call, dloss, x, target, options):
    return _run(call + "_gradient", [dloss, x, target], [_like(x)], options)


def mse_loss(x, target, *, reduction="mean", weight=None) -> Array:
    """The squared differences; `reduction` is "mean", "sum", "none" or "batchmean".

    >>> float(troupe.nn.mse_loss(troupe.asarray([1., 3.]), troupe.asarray([1., 1.])))
    2.0
    """
    return _loss("mse_loss", x, target, {"reduction": reduction, "weight": weight})


def mse_loss_gradient(dloss, x, target, *, reduction="mean", weight=None) -> Array:
    """The gradient of x, from that of the loss."""
    return _loss_gradient("mse_loss", dloss, x, target, {"reduction": reduction, "weight": weight})


def huber_loss(x, target, *, reduction="mean", weight=None, delta=1.0) -> Array:
    """A square up to delta, and a line from there on."""
    return _loss("huber_loss", x, target, {"reduction": reduction, "weight": weight, "delta": delta})


def huber_loss_gradient(dloss, x, target, *, reduction="mean", weight=None, delta=1.0) -> Array:
    """The gradient of x, from that of the loss."""
    return _loss_gradient("huber_loss", dloss, x, target, {"reduction": reduction, "weight": weight, "delta": delta})


def binary_cross_entropy_with_logits(x, target, *, reduction="mean", weight=None) -> Array:
    """Of targets that are probabilities."""
    return _loss("binary_cross_entropy_with_logits", x, target, {"reduction": reduction, "weight": weight})


def binary_cross_entropy_with_logits_gradient(dloss, x, target, *, reduction="mean", weight=None) -> Array:
    """The gradient of x, from that of the loss."""
    return _loss_gradient("binary_cross_entropy_with_logits", dloss, x, target,
                          {"reduction": reduction, "weight": weight})


def kl_div(x, target, *, reduction="mean", log_target=False) -> Array:
    """Of x, the logarithms of probabilities, from the target's."""
    return _loss("kl_div", x, target, {"reduction": reduction, "log_target": log_target})


def kl_div_gradient(dloss, x, target, *, reduction="mean", log_target=False) -> Array:
    """The gradient of x, from that of the loss."""
    return _loss_gradient("kl_div", dloss, x, target, {"reduction": reduction, "log_target": log_target})


def cross_entropy(logits, target, *, axis=-1, weight=None, reduction="mean", label_smoothing=0.0,
                  ignore_index=-100) -> Array:
    """Of rows of classes, which are along the axis; a target is a class for each row, or a probability for each class.

    >>> float(troupe.nn.cross_entropy(troupe.zeros((3, 4)), troupe.asarray([0, 1, 3]))) == float(np.log(4))
    True
    """
    axis %= logits.ndim
    return _loss("cross_entropy", logits, target,
                 {"axis": axis, "weight": weight, "reduction": reduction, "label_smoothing": label_smoothing,
                  "ignore_index": ignore_index}, rows=logits.shape[:axis] + logits.shape[axis + 1:])


def cross_entropy_gradient(dloss, logits, target, *, axis=-1, weight=None, reduction="mean", label_smoothing=0.0,
                           ignore_index=-100) -> Array:
    """The gradient of the logits, from that of the loss."""
    return _loss_gradient("cross_entropy", dloss, logits, target,
                          {"axis": axis, "weight": weight, "reduction": reduction, "label_smoothing": label_smoothing,
                           "ignore_index": ignore_index})


# ---- optimizers ----

def _step(rule, gradients, values, first, second, masters, next, options):
    given = {name: value for name, value in options.items() if value is not None}
    _core.dnn_step(rule, list(gradients), (list(values), list(first), list(second), list(masters)),
                   None if next is None else tuple(list(part) for part in next), given)


def sgd(gradients, values, momenta=(), *, masters=(), rate=1e-3, momentum=0.0, dampening=0.0, nesterov=False,
        weight_decay=0.0, step=1, measure=None, next=None) -> None:
    """One step of gradient descent for up to 23 parameters: lists of arrays, whose places belong together.

    `next` is (values, momenta, second, masters) to write to, which a crash can run again; without it they are replaced.
    """
    _step("sgd", gradients, values, momenta, (), masters, next,
          {"rate": rate, "momentum": momentum, "dampening": dampening, "nesterov": nesterov,
           "weight_decay": weight_decay, "step": step, "measure": measure})


def _adam(rule, gradients, values, first, second, masters, next, rate, betas, eps, weight_decay, step, measure):
    beta1, beta2 = (None, None) if betas is None else betas
    _step(rule, gradients, values, first, second, masters, next,
          {"rate": rate, "beta1": beta1, "beta2": beta2, "epsilon": eps, "weight_decay": weight_decay, "step": step,
           "measure": measure})


def adam(gradients, values, first, second, *, masters=(), rate=None, betas=None, eps=None, weight_decay=None, step=1,
         measure=None, next=None) -> None:
    """One step of Adam; the decay is part of the gradient. Lists as in `sgd`."""
    _adam("adam", gradients, values, first, second, masters, next, rate, betas, eps, weight_decay, step, measure)


def adamw(gradients, values, first, second, *, masters=(), rate=None, betas=None, eps=None, weight_decay=None, step=1,
          measure=None, next=None) -> None:
    """One step of AdamW; the decay is apart from the gradient. Lists as in `sgd`."""
    _adam("adamw", gradients, values, first, second, masters, next, rate, betas, eps, weight_decay, step, measure)


def lion(gradients, values, first, *, masters=(), rate=None, betas=None, weight_decay=None, step=1, measure=None,
         next=None) -> None:
    """One step of Lion: the sign of a momentum. Lists as in `sgd`."""
    _adam("lion", gradients, values, first, (), masters, next, rate, betas, None, weight_decay, step, measure)


def measure_gradients(gradients, *, max_norm=0.0, loss_scale=None) -> Array:
    """What a step multiplies gradients by, their norm, and 1 if all are finite: an optimizer's `measure`."""
    gradients = list(gradients)
    measure = _new(gradients[0], (3,), _F32)
    given = {"max_norm": max_norm} if loss_scale is None else {"max_norm": max_norm, "loss_scale": loss_scale}
    _core.dnn_measure(gradients, measure, given)
    return measure


def adjust_loss_scale(measure, scale, *, growth=2.0, interval=2000, backoff=0.5) -> Array:
    """The next scale of a loss, and how many steps ago it changed."""
    return _run("adjust_loss_scale", [measure, scale], [_like(scale)],
                {"growth": growth, "interval": interval, "backoff": backoff})


# ---- lookups ----

def embedding(table, indices) -> Array:
    """Rows of the table. An index outside of it is told when somebody looks, with its place.

    >>> troupe.nn.embedding(troupe.asarray([[1., 2.], [3., 4.]]), troupe.asarray([1, 1]))
    Array([[3., 4.],
           [3., 4.]], dtype=float64)
    """
    return _run("embedding", [table, indices], [_like(table, (*indices.shape, *table.shape[1:]))], {})


def embedding_gradient(dy, indices, shape, *, padding=None) -> Array:
    """The gradient of the table, which had that shape; that of the row `padding` stays 0."""
    return _run("embedding_gradient", [dy, indices], [_like(dy, shape)], {"padding": padding})


def dropout(generator, x, probability=0.5) -> Array:
    """x / (1 - probability), or 0 with that probability. The gradient is the same of dy, with the generator as it was:
    `generator.at(position)`."""
    return _run("dropout", [x], [_like(x)], {"dropout": probability}, generator)


# ---- attention ----

def _attention_options(scale, causal, ends_together, window, mask, lengths, query_offsets, key_offsets, dropout):
    return {"scale": scale, "causal": causal, "ends_together": ends_together, "window": window, "mask": mask,
            "lengths": lengths, "query_offsets": query_offsets, "key_offsets": key_offsets, "dropout": dropout}


def _sums_of(q):
    number = q.dtype_number if q.dtype_number == _dtypes.F64 else _F32
    return _new(q, q.shape[:3], number)


def attention_with_sums(q, k, v, *, mask=None, causal=False, ends_together=False, window=0, lengths=None,
                        query_offsets=None, key_offsets=None, scale=None, dropout=0.0, generator=None) -> Attended:
    """What `scaled_dot_product_attention` gives, and the sums that its gradient needs."""
    options = _attention_options(scale, causal, ends_together, window, mask, lengths, query_offsets, key_offsets,
                                 dropout)
    out = [_like(q, (*q.shape[:3], v.shape[3])), _sums_of(q)]
    return Attended(*_run("scaled_dot_product_attention", [q, k, v], out, options, generator))


def scaled_dot_product_attention(q, k, v, **options) -> Array:
    """softmax(scale q k' + mask) v of [batch, heads, tokens, width]; the heads of q are a multiple of those of k and v.

    options: mask, causal, ends_together, window, lengths, query_offsets, key_offsets, scale, dropout, generator
    """
    return attention_with_sums(q, k, v, **options).values


def scaled_dot_product_attention_gradient(dy, q, k, v, attended, *, mask=None, causal=False, ends_together=False,
                                          window=0, lengths=None, query_offsets=None, key_offsets=None, scale=None,
                                          dropout=0.0, generator=None) -> AttentionGradients:
    """Those of q, k and v, from what `attention_with_sums` gave and the options that it had; the generator is at the
    place where it was."""
    options = _attention_options(scale, causal, ends_together, window, mask, lengths, query_offsets, key_offsets,
                                 dropout)
    out = [_like(q), _like(k), _like(v)]
    return AttentionGradients(*_run("scaled_dot_product_attention_gradient", [dy, q, k, v, *attended], out, options,
                                    generator))


def cache_append(k, v, table, lengths, key_cache, value_cache) -> None:
    """Puts keys and values into a cache of blocks, behind the first lengths[b] tokens of each sequence."""
    _run("cache_append", [k, v, table, lengths], [key_cache, value_cache], {})


def paged_attention(q, key_cache, value_cache, table, lengths, *, scale=None, window=0) -> Array:
    """Attention of the last tokens of each sequence to all of its lengths[b] tokens in a cache."""
    return _run("paged_attention", [q, key_cache, value_cache, table, lengths],
                [_like(q, (*q.shape[:3], value_cache.shape[3]))], {"scale": scale, "window": window})


def rotary(x, *, base=10000.0, interleaved=False, first=0, positions=None) -> Array:
    """x [.., tokens, width] with each pair of numbers turned by its token's place."""
    return _run("rotary", [x], [_like(x)],
                {"base": base, "interleaved": interleaved, "first": first, "positions": positions})


def rotary_gradient(dy, *, base=10000.0, interleaved=False, first=0, positions=None) -> Array:
    """dy turned back."""
    return _run("rotary_gradient", [dy], [_like(dy)],
                {"base": base, "interleaved": interleaved, "first": first, "positions": positions})
