"""rank-policies.py FOLDER RUNS POLICY...: the real runs of hack/realtime beside the simulated ones; fails where they contradict each other, and
where requests were rejected."""

import json
import math
import pathlib
import sys

# Student's bounds of 95 % by degrees of freedom.
STUDENT = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306]

folder = pathlib.Path(sys.argv[1])
seeds = range(1, int(sys.argv[2]) + 1)
policies = sys.argv[3:]
simulations = json.loads((folder / "report.json").read_text())["runs"]


def refuse_rejected(side, policy, seed, rejected):
    """Means of what was served are of unlike requests where some were rejected."""
    if rejected:
        sys.exit(f"{policy}, {side} run {seed}: {rejected} requests were rejected, so the policies can't be compared")


def real(policy, seed):
    load = json.loads((folder / f"{policy}-{seed}.json").read_text())["load"]
    refuse_rejected("real", policy, seed, load["rejected"])
    return {
        "end": load["endToEnd"]["mean"],
        "ttft": load["ttft"]["mean"],
        "hit": load["tokens"]["cached"] / load["tokens"]["prompt"],
    }


def simulated(policy, seed):
    run = next(run for run in simulations if run["policy"] == policy and run["seed"] == seed)
    refuse_rejected("simulated", policy, seed, run["rejected"])
    return {
        "end": run["endToEndMs"]["mean"],
        "ttft": run["ttftMs"]["mean"],
        "hit": run["cachedTokens"] / run["promptTokens"],
    }


def interval(values):
    """Mean and half the width of its interval."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, math.inf
    square = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, STUDENT[len(values) - 2] * math.sqrt(square / len(values))


def shown(side, policy, measure):
    mean, half = interval([side(policy, seed)[measure] for seed in seeds])
    if measure == "hit":
        return f"{100 * mean:.1f} %" + ("" if math.isinf(half) else f" ± {100 * half:.1f}")
    return f"{mean:.0f}" + ("" if math.isinf(half) else f" ± {half:.0f}")


def surely(side, one, other):
    """-1 when one policy is surely faster than the other, 1 when it is surely slower, 0 when nothing is sure: pairs of the same seed."""
    mean, half = interval([math.log(side(one, seed)["end"] / side(other, seed)["end"]) for seed in seeds])
    return 0 if abs(mean) <= half else -1 if mean < 0 else 1


print("| policy | end-to-end mean, ms: real | simulated | TTFT mean, ms: real | simulated | hit rate: real | simulated |")
print("|---|--:|--:|--:|--:|--:|--:|")
for policy in policies:
    cells = [shown(side, policy, measure) for measure in ("end", "ttft", "hit") for side in (real, simulated)]
    print(f"| {policy} | {' | '.join(cells)} |")
pairs = [(one, other) for i, one in enumerate(policies) for other in policies[i + 1 :]]
sure = [pair for pair in pairs if surely(real, *pair) and surely(simulated, *pair)]
contrary = [pair for pair in sure if surely(real, *pair) != surely(simulated, *pair)]
print(f"\nof {len(pairs)} pairs of policies {len(sure)} are surely apart in both, {len(sure) - len(contrary)} of them the same way")
if contrary:
    sys.exit("contradicted: " + ", ".join(f"{one} and {other}" for one, other in contrary))
