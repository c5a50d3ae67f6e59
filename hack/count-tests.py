#!/usr/bin/env python3
"""count-tests.py LAYER...: counts the tests of the layers (unit, it, e2e, clients, schedulers) in the reports below this folder: Surefire's, Failsafe's,
and those of ./hack/clients and ./hack/schedulers.

Prints the failed ones, one line for each layer, and the sum. Fails when a test failed or a layer ran none.
"""

import glob
import sys
import xml.etree.ElementTree as ElementTree


def reports(layer):
    if layer == "unit":
        return glob.glob("**/target/surefire-reports/TEST-*.xml", recursive=True)
    if layer in ("clients", "schedulers"):
        return glob.glob(f"e2e/target/{layer}-reports/TEST-*.xml")
    found = glob.glob("**/target/failsafe-reports/TEST-*.xml", recursive=True)
    return [path for path in found if path.startswith("e2e/") == (layer == "e2e")]


def count(layer):
    passed = failed = skipped = 0
    for path in reports(layer):
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                print(f"FAILED {case.get('classname')}.{case.get('name')}")
            elif case.find("skipped") is not None:
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped


def line(counts):
    return "{} passed, {} failed, {} skipped".format(*counts)


def main(layers):
    counted = {layer: count(layer) for layer in layers}
    for layer, counts in counted.items():
        print(f"{layer}: {line(counts)}")
    empty = [layer for layer, (passed, failed, _) in counted.items() if passed + failed == 0]
    for layer in empty:
        print(f"no test ran in layer {layer}")
    print(line(tuple(map(sum, zip(*counted.values())))))
    return any(failed for _, failed, _ in counted.values()) or bool(empty)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
