"""Does the rows that `troupe_bench_matrix --list` prints with PyTorch, and measures them as bench/matrix/measure.cpp
does ours: many ops in a row, then one wait. Outputs are there beforehand (`out=`), but for einsum, which takes none.

PyTorch is imported when a `Side` is made, so that the rest of the comparison can be tested without it.
"""
import math
import statistics
import time

# After so many numbers the same ones come again, as on our side.
PERIOD = 1 << 20

MOST_PER_ROUND = 2000
LONG_NS, ROUNDS_OF_LONG = 2e8, 3


class Effort:
    """How many rounds, how long one should take, and how long the op runs before: as bench/matrix/measure.hpp says."""

    def __init__(self, quick):
        self.rounds, self.settle_ns, self.round_ns = (3, 3e7, 5e6) if quick else (5, 1e8, 2e7)


def measure(run, effort):
    """The figures of an op in nanoseconds; `run(count)` does it so many times, waits, and gives the time of all."""
    settled, each = 0, math.inf  # the fastest: one that was held up says nothing of the count
    while settled < effort.settle_ns:
        took = run(1)
        settled, each = settled + took, min(each, took)
    count = 1
    while each * count < effort.round_ns / 2 and count < MOST_PER_ROUND:
        wanted = int(min(effort.round_ns / each, 4 * count))
        count = min(max(wanted, count + 1), MOST_PER_ROUND)
        each = min(each, run(count) / count)
    rounds = min(effort.rounds, ROUNDS_OF_LONG) if each > LONG_NS else effort.rounds
    times = sorted(run(count) / count for _ in range(rounds))
    return {"ns": statistics.median(times), "low_ns": times[len(times) // 4],
            "high_ns": times[len(times) - 1 - len(times) // 4], "rounds": rounds}


def functions(torch):
    """By kind or, where a kind has several, by op: a function of a row, its inputs and its output."""
    of_one = {"relu": lambda x, out: torch.clamp_min(x, 0, out=out), "gelu": torch._C._nn.gelu,
              "silu": torch._C._nn.silu, "softplus": torch._C._nn.softplus}
    of_two = {"max": torch.maximum, "min": torch.minimum}
    of_three = {"fma": lambda a, b, c, out: torch.addcmul(c, a, b, out=out), "select": torch.where}
    reductions = {"max": torch.amax, "min": torch.amin, "norm": torch.linalg.vector_norm}

    # As bench/matrix/prepared.cpp has them.
    expressions = {"one_step": lambda _, x, b: x + b,
                   "five_steps": lambda _, x, b: torch.tanh(0.5 * x + b) * x - b,
                   "five_short_steps": lambda _, x, b: torch.clamp_min(0.5 * x + b, 0) * x - b,
                   "sum_of_squares": lambda row, x, b: torch.sum((x - b) ** 2, dim=row["axes"])}
    compiled = {}

    def expression(row, given, out):
        """By torch.compile, which makes one loop of it; each row has shapes and types of its own."""
        if row["id"] not in compiled:
            torch.compiler.reset()
            of = expressions[row["op"]]
            compiled.clear()
            compiled[row["id"]] = torch.compile(lambda x, b, out: out.copy_(of(row, x, b)), dynamic=False)
        compiled[row["id"]](*given, out)

    def elementwise(named):
        return lambda row, given, out: named.get(row["op"], getattr(torch, row["op"], None))(*given, out=out)

    def reduce(row, given, out):
        reductions.get(row["op"], getattr(torch, row["op"], None))(*given, dim=row["axes"], out=out)

    def layer(_, given, out):
        x, weights, bias = given
        torch.addmm(bias, x, weights, out=out)
        torch.relu_(out)

    def primitive(row, given, out):
        """`sort` of PyTorch makes indices, too, and there is none without."""
        if row["op"] == "cumsum":
            torch.cumsum(given[0], -1, out=out)
        elif row["op"] == "take":
            torch.index_select(given[0], 0, given[1], out=out)
        elif row["op"] == "topk":
            torch.topk(given[0], 64, dim=-1)
        else:
            torch.sort(given[0], dim=-1, stable=True)

    return {
        "primitive": primitive,
        "fill": lambda row, given, out: out.fill_(1.0),
        "copy": lambda row, given, out: out.copy_(given[0]),
        "cast": lambda row, given, out: out.copy_(given[0]),
        "permute": lambda row, given, out: out.copy_(given[0].permute(row["axes"])),
        "unary": elementwise(of_one),
        "binary": elementwise(of_two),
        "ternary": elementwise(of_three),
        "reduce": reduce,
        "gemm": lambda row, given, out: (torch.mm if out.dim() == 2 else torch.bmm)(*given, out=out),
        "layer": layer,
        "gemv": lambda row, given, out: torch.mv(*given, out=out),
        "dot": lambda row, given, out: torch.dot(*given, out=out),
        "axpy": lambda row, given, out: out.add_(given[0], alpha=1.5),
        "einsum": lambda row, given, out: torch.einsum(row["text"], *given),
        "expression": expression,
    }


class Side:
    """PyTorch on a device of ours."""

    def __init__(self, device, threads, quick):
        import torch  # here, and not above: see the module's first lines
        self.torch = torch
        self.device = "cpu" if device == "host" else "cuda"
        if self.device == "cuda" and not torch.cuda.is_available():
            raise RuntimeError(f"this PyTorch ({torch.__version__}) sees no GPU")
        if threads:
            torch.set_num_threads(threads)
        self.effort = Effort(quick)
        self.functions = functions(torch)
        self.dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
                       "i32": torch.int32, "u8": torch.uint8, "bool": torch.bool}

    def about(self):
        """What the head of the figures says of PyTorch."""
        gpu = self.torch.cuda.get_device_name() if self.device == "cuda" else None
        return {"version": self.torch.__version__, "threads": self.torch.get_num_threads(), "gpu": gpu}

    def operand(self, given):
        """The view, or the number, that an operand of a row is."""
        if "number" in given:
            return given["number"]
        torch = self.torch
        count = math.prod(given["shape"])
        numbers = torch.empty(min(count, PERIOD), device=self.device).uniform_(given["low"], given["high"])
        if given["dtype"] in ("i32", "u8", "bool"):
            numbers = numbers.floor()
        numbers = numbers.to(self.dtypes[given["dtype"]])
        array = numbers.repeat(-(-count // len(numbers)))[:count].reshape(given["shape"])
        if "order" in given:
            array = array.permute(given["order"])
        if "slice" in given:
            begin, end, step = given["slice"]
            array = array[..., begin:end:step]
        return array

    def measure(self, row):
        """The figures of a row, or why there are none."""
        try:
            with self.torch.inference_mode():
                return measure(self.prepared(row), self.effort)
        except (RuntimeError, TypeError, NotImplementedError) as problem:
            return {"why": str(problem).splitlines()[0]}

    def prepared(self, row):
        """A function that does the row's op so many times, waits, and gives the nanoseconds of all."""
        given = [self.operand(each) for each in row["inputs"]]
        out = self.operand(row["output"])
        function = self.functions[row["kind"]]
        wait = self.torch.cuda.synchronize if self.device == "cuda" else lambda: None

        def run(count):
            wait()
            begin = time.perf_counter_ns()
            for _ in range(count):
                function(row, given, out)
            wait()
            return time.perf_counter_ns() - begin

        function(row, given, out)
        if list(out.shape) != row["output"]["shape"]:
            raise RuntimeError(f"PyTorch's result is {list(out.shape)} instead of {row['output']['shape']}")
        return run
