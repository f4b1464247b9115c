"""Layers of networks, and what networks are trained with, beside NumPy."""
import numpy as np
import pytest

import troupe
from troupe import nn


@pytest.fixture
def numbers():
    return np.random.default_rng(7)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def slope_of(f, x, back, at=1e-6):
    """The gradient of sum(f(x) * back) by central differences."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = at
        found[place] = ((np.asarray(f(x + step)) - np.asarray(f(x - step))) * back).sum() / (2 * at)
    return found


def test_convolution_and_its_gradients(device, numbers):
    x, w = numbers.normal(size=(2, 3, 6)), numbers.normal(size=(4, 3, 3))

    def conv(x, w):
        return np.stack([[[(sample[:, i:i + 3] * one).sum() for i in range(4)] for one in w] for sample in x])
    y = nn.conv1d(troupe.asarray(x), troupe.asarray(w))
    np.testing.assert_allclose(y, conv(x, w), rtol=1e-12)
    back = numbers.normal(size=y.shape)
    dx = nn.conv_input(x.shape, troupe.asarray(w), troupe.asarray(back))
    np.testing.assert_allclose(dx, slope_of(lambda x: conv(x, w), x, back), rtol=1e-6, atol=1e-8)
    dw = nn.conv_weight(troupe.asarray(x), w.shape, troupe.asarray(back))
    np.testing.assert_allclose(dw, slope_of(lambda w: conv(x, w), w, back), rtol=1e-6, atol=1e-8)


def test_pools_and_norms(device, numbers):
    x = numbers.normal(size=(2, 3, 4, 4))
    pooled = nn.max_pool2d(troupe.asarray(x), 2)
    np.testing.assert_array_equal(pooled.values, x.reshape(2, 3, 2, 2, 2, 2).max(axis=(3, 5)))
    np.testing.assert_allclose(nn.avg_pool2d(troupe.asarray(x), 2), x.reshape(2, 3, 2, 2, 2, 2).mean(axis=(3, 5)))
    normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(nn.layer_norm(troupe.asarray(x)), normal, rtol=1e-10)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_and_its_gradient(device, numbers, axis):
    x, back = numbers.normal(size=(3, 4, 5)), numbers.normal(size=(3, 4, 5))
    y = nn.softmax(troupe.asarray(x), axis=axis)
    np.testing.assert_allclose(y, softmax(x, axis), rtol=1e-12)
    np.testing.assert_allclose(nn.log_softmax(troupe.asarray(x), axis=axis), np.log(softmax(x, axis)), rtol=1e-12)
    np.testing.assert_allclose(nn.softmax_gradient(troupe.asarray(back), y, axis=axis),
                               slope_of(lambda x: softmax(x, axis), x, back), rtol=1e-6, atol=1e-8)


def test_losses(device, numbers):
    logits, target = numbers.normal(size=(4, 6)), np.array([0, 5, 2, 2])
    rows = -np.log(softmax(logits)[np.arange(4), target])
    np.testing.assert_allclose(nn.cross_entropy(troupe.asarray(logits), troupe.asarray(target), reduction="none"), rows)
    loss = nn.cross_entropy(troupe.asarray(logits), troupe.asarray(target))
    assert float(loss) == pytest.approx(rows.mean())
    gradient = nn.cross_entropy_gradient(troupe.ones(()), troupe.asarray(logits), troupe.asarray(target))
    wanted = (softmax(logits) - np.eye(6)[target]) / 4
    np.testing.assert_allclose(gradient, wanted, rtol=1e-10)
    x, y = numbers.normal(size=5), numbers.normal(size=5)
    assert float(nn.mse_loss(troupe.asarray(x), troupe.asarray(y))) == pytest.approx(((x - y) ** 2).mean())
    np.testing.assert_allclose(nn.mse_loss_gradient(troupe.ones(()), troupe.asarray(x), troupe.asarray(y)),
                               2 * (x - y) / 5)
    with pytest.raises(troupe.InvalidArgument, match='reduction is "most"'):
        nn.mse_loss(troupe.asarray(x), troupe.asarray(y), reduction="most")
    with pytest.raises(troupe.InvalidArgument):
        float(nn.cross_entropy(troupe.asarray(logits), troupe.asarray([0, 6, 2, 2])))


def test_an_optimizer_finds_the_least(device):
    for rule, state in ((nn.adamw, 2), (nn.adam, 2), (nn.lion, 1)):
        value = [troupe.asarray([3.0, -2.0])]
        moments = [[troupe.zeros(2)] for _ in range(state)]
        for step in range(1, 301):
            rule([value[0] * 2], value, *moments, rate=0.03, weight_decay=0.0, step=step)
        assert float(abs(value[0]).max()) < 0.1, rule.__name__
    value, momentum = [troupe.asarray([3.0])], [troupe.zeros(1)]
    for step in range(1, 101):
        nn.sgd([value[0] * 2], value, momentum, rate=0.05, momentum=0.5, step=step)
    assert abs(float(value[0][0])) < 1e-3


def test_gradients_are_measured(device):
    measure = nn.measure_gradients([troupe.asarray([3.0]), troupe.asarray([4.0])], max_norm=1.0)
    np.testing.assert_allclose(measure, [0.2, 5, 1], rtol=1e-5)
    assert float(nn.measure_gradients([troupe.asarray([np.inf])])[2]) == 0


def test_an_index_outside_is_told_with_its_place(device):
    with pytest.raises(troupe.InvalidArgument):
        nn.embedding(troupe.ones((2, 3)), troupe.asarray([0, 2])).numpy()
    gradient = nn.embedding_gradient(troupe.ones((3, 2)), troupe.asarray([1, 1, 0]), (3, 2))
    np.testing.assert_array_equal(gradient, [[1, 1], [2, 2], [0, 0]])


def test_dropout_draws_the_same_again(device):
    generator = troupe.random.Generator(3)
    x = troupe.ones(1000)
    y = nn.dropout(generator, x, 0.25)
    assert generator.position == 1000
    np.testing.assert_array_equal(nn.dropout(generator.at(0), x, 0.25), y)
    kept = np.asarray(y) != 0
    assert 0.65 < kept.mean() < 0.85 and np.allclose(np.asarray(y)[kept], 1 / 0.75)


def attention(q, k, v, causal):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    return softmax(scores) @ v


@pytest.mark.parametrize("causal", [False, True])
def test_attention_and_its_gradient(device, numbers, causal):
    q, k, v = (numbers.normal(size=(2, 2, 5, 4)) for _ in range(3))
    mine = [troupe.asarray(x) for x in (q, k, v)]
    attended = nn.attention_with_sums(*mine, causal=causal)
    np.testing.assert_allclose(attended.values, attention(q, k, v, causal), rtol=1e-10)
    back = numbers.normal(size=q.shape)
    found = nn.scaled_dot_product_attention_gradient(troupe.asarray(back), *mine, attended, causal=causal)
    for i, name in enumerate("qkv"):
        def f(x, i=i):
            return attention(*[x if i == j else (q, k, v)[j] for j in range(3)], causal)
        np.testing.assert_allclose(getattr(found, name), slope_of(f, (q, k, v)[i], back), rtol=1e-5, atol=1e-7)


def test_a_paged_cache_is_attended_as_a_plain_one(device, numbers):
    k, v = (numbers.normal(size=(1, 2, 6, 4)) for _ in range(2))
    keys, values = troupe.zeros((4, 2, 2, 4)), troupe.zeros((4, 2, 2, 4))
    table = troupe.asarray(np.array([[2, 0, 3]], np.int32))
    nn.cache_append(troupe.asarray(k), troupe.asarray(v), table, troupe.asarray(np.zeros(1, np.int32)), keys, values)
    q = numbers.normal(size=(1, 2, 1, 4))
    y = nn.paged_attention(troupe.asarray(q), keys, values, table, troupe.asarray(np.array([6], np.int32)))
    np.testing.assert_allclose(y, attention(q, k, v, False), rtol=1e-10)


def test_rotary_turns_and_turns_back(device, numbers):
    x = troupe.asarray(numbers.normal(size=(2, 3, 5, 8)))
    turned = nn.rotary(x)
    np.testing.assert_allclose(np.asarray(turned)[:, :, 0], np.asarray(x)[:, :, 0])
    np.testing.assert_allclose(nn.rotary_gradient(turned), x, rtol=1e-12, atol=1e-12)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrent(cell, x, weights, states, lengths):
    """Layers in both directions, as PyTorch's documents have them: the values, and the last state of each run."""
    last = [np.zeros_like(states[0]) for _ in range(2)]
    for layer in range(len(weights) // 8):
        out = np.zeros((*x.shape[:2], 2 * states[0].shape[2]))
        for direction in range(2):
            run = 2 * layer + direction
            w_ih, w_hh, b_ih, b_hh = weights[4 * run:4 * run + 4]
            for b, length in enumerate(lengths):
                h, c = (state[run, b] for state in states)
                for t in range(length) if direction == 0 else reversed(range(length)):
                    into = np.split(w_ih @ x[t, b] + b_ih, w_ih.shape[0] // h.size)
                    back = np.split(w_hh @ h + b_hh, w_hh.shape[0] // h.size)
                    if cell == "lstm":
                        i, f, g, o = (a + b for a, b in zip(into, back))
                        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                        h = sigmoid(o) * np.tanh(c)
                    else:
                        r, z = (sigmoid(into[gate] + back[gate]) for gate in range(2))
                        h = (1 - z) * np.tanh(into[2] + r * back[2]) + z * h
                    out[t, b, direction * h.size:(direction + 1) * h.size] = h
                last[0][run, b], last[1][run, b] = h, c
        x = out
    return x, last


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_recurrent_layers_and_their_gradients(device, numbers, cell, batch_first):
    tokens, batch, hidden, sums = 4, 3, 2, (8 if cell == "lstm" else 6)
    lengths = np.array([4, 1, 3])
    x = numbers.normal(size=(tokens, batch, 3))
    weights = [numbers.normal(size=shape) / 2 for run in range(4)
               for shape in ((sums, 3 if run < 2 else 2 * hidden), (sums, hidden), (sums,), (sums,))]
    states = [numbers.normal(size=(4, batch, hidden)) for _ in range(2)]
    mine = [troupe.asarray(w) for w in weights]
    told = {"lengths": troupe.asarray(lengths), "bidirectional": True, "batch_first": batch_first,
            "h0": troupe.asarray(states[0])}
    if cell == "lstm":
        told["c0"] = troupe.asarray(states[1])

    def turned(a):
        return np.ascontiguousarray(np.swapaxes(a, 0, 1)) if batch_first else a

    found = getattr(nn, cell)(troupe.asarray(turned(x)), mine, keep=True, **told)
    want, last = recurrent(cell, x, weights, states, lengths)
    np.testing.assert_allclose(turned(np.asarray(found.values)), want, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.h, last[0], rtol=1e-10)
    assert (found.c is None) == (cell == "gru")
    if cell == "lstm":
        np.testing.assert_allclose(found.c, last[1], rtol=1e-10)

    back = numbers.normal(size=want.shape)
    slopes = getattr(nn, cell + "_gradient")(troupe.asarray(turned(back)), troupe.asarray(turned(x)), mine, found.kept,
                                             **told)
    np.testing.assert_allclose(turned(np.asarray(slopes.x)),
                               slope_of(lambda by: recurrent(cell, by, weights, states, lengths)[0], x, back),
                               rtol=1e-5, atol=1e-7)
    for place, w in enumerate(weights):
        def f(by, place=place):
            changed = [by if i == place else v for i, v in enumerate(weights)]
            return recurrent(cell, x, changed, states, lengths)[0]
        np.testing.assert_allclose(slopes.weights[place], slope_of(f, w, back), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(
        slopes.h0, slope_of(lambda by: recurrent(cell, x, weights, [by, states[1]], lengths)[0], states[0], back),
        rtol=1e-5, atol=1e-7)


def test_a_sequence_longer_than_its_array_is_told_with_its_place(device):
    weights = [troupe.ones((3, 1)), troupe.ones((3, 1))]
    with pytest.raises(troupe.InvalidArgument, match="gru: length 1 is 5; it must be from 0 to 4"):
        nn.gru(troupe.ones((4, 2, 1)), weights, bias=False, lengths=troupe.asarray([4, 5])).values.numpy()
