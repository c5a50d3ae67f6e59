"""Where a request waits the shortest: a linear model of the time to its first token, in milliseconds.

The coefficients are those of a regression over past requests, one row for each: how the server was when the request was sent, and how long the
first token took. Whoever has such a table replaces COEFFICIENTS by their own; `fit` does it with nothing but Python.
"""

from dataclasses import dataclass, field

FEATURES = ("constant", "uncached_tokens", "tokens_ahead", "waiting", "running", "kv_full")

# Milliseconds for each: a server of one H100 with a model of 8 billion parameters.
COEFFICIENTS = {
    "constant": 15.0,
    "uncached_tokens": 0.05,
    "tokens_ahead": 0.05,
    "waiting": 12.0,
    "running": 0.4,
    "kv_full": 400.0,
}


@dataclass
class Server:
    """An endpoint as the picker last told of it, and what was sent there since."""

    name: str
    in_use: bool = True
    waiting: int = 0
    running: int = 0
    kv_usage: float = 0.0
    uncached_tokens_in_flight: int = 0
    sent_since: int = 0
    labels: dict = field(default_factory=dict)


def features(server, prompt_tokens, cached_tokens):
    """What the model looks at, in the order of FEATURES."""
    return (
        1.0,
        max(0, prompt_tokens - cached_tokens),
        server.uncached_tokens_in_flight + server.sent_since,
        server.waiting,
        server.running,
        # A cache that is nearly full turns requests out that are under way.
        max(0.0, server.kv_usage - 0.9) * 10,
    )


def expected_wait(server, prompt_tokens, cached_tokens, coefficients=None):
    """Milliseconds until the first token would come."""
    weights = coefficients or COEFFICIENTS
    return sum(weights[name] * value for name, value in zip(FEATURES, features(server, prompt_tokens, cached_tokens)))


def scores(servers, prompt_tokens, cached, allowed=None, coefficients=None):
    """A score for each server that may get the request, by number: the higher, the sooner.

    servers: by number; cached: tokens of the prompt that a server holds, by number; allowed: the numbers that may be chosen, all if empty.
    """
    return {
        number: -expected_wait(server, prompt_tokens, cached.get(number, 0), coefficients)
        for number, server in servers.items()
        if server.in_use and (not allowed or number in allowed)
    }


def fit(rows, waits, ridge=1e-6):
    """Coefficients by least squares. rows: tuples as `features` makes them; waits: the milliseconds that each took."""
    size = len(FEATURES)
    left = [[sum(row[i] * row[j] for row in rows) + (ridge if i == j else 0.0) for j in range(size)] for i in range(size)]
    right = [sum(row[i] * wait for row, wait in zip(rows, waits)) for i in range(size)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(left[r][i]))
        left[i], left[pivot] = left[pivot], left[i]
        right[i], right[pivot] = right[pivot], right[i]
        for r in range(size):
            if r != i:
                factor = left[r][i] / left[i][i]
                left[r] = [a - factor * b for a, b in zip(left[r], left[i])]
                right[r] -= factor * right[i]
    return {name: right[i] / left[i][i] for i, name in enumerate(FEATURES)}
