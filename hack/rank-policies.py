"""rank-policies.py FOLDER POLICY...: the real runs of hack/realtime beside the simulated ones; fails where they rank the policies otherwise."""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
policies = sys.argv[2:]
runs = json.loads((folder / "report.json").read_text())["runs"]


def real(policy):
    load = json.loads((folder / f"{policy}.json").read_text())["load"]
    return {
        "end": load["endToEnd"]["mean"],
        "ttft": load["ttft"]["mean"],
        "hit": load["tokens"]["cached"] / load["tokens"]["prompt"],
    }


def simulated(policy):
    mine = [run for run in runs if run["policy"] == policy]
    return {
        "end": sum(run["endToEndMs"]["mean"] for run in mine) / len(mine),
        "ttft": sum(run["ttftMs"]["mean"] for run in mine) / len(mine),
        "hit": sum(run["cachedTokens"] for run in mine) / sum(run["promptTokens"] for run in mine),
    }


print("| policy | end-to-end mean, ms: real | simulated | TTFT mean, ms: real | simulated | hit rate: real | simulated |")
print("|---|---|---|---|---|---|---|")
for policy in policies:
    a, b = real(policy), simulated(policy)
    print(
        f"| {policy} | {a['end']:.0f} | {b['end']:.0f} | {a['ttft']:.0f} | {b['ttft']:.0f} "
        f"| {100 * a['hit']:.1f} % | {100 * b['hit']:.1f} % |"
    )
ranked = [sorted(policies, key=lambda policy: side(policy)["end"]) for side in (real, simulated)]
print(f"\nreal: {' < '.join(ranked[0])}; simulated: {' < '.join(ranked[1])}")
if ranked[0] != ranked[1]:
    sys.exit("they are ranked otherwise")
