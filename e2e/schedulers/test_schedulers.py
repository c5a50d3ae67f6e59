"""The examples, in Python and in Java, as pickers meet them: run by hack/schedulers."""

import json
import os
import subprocess
import time
import unittest
import urllib.request

import scheduler_pb2
from scheduler import Stream

PROMPT = "a tenant's long prompt. " * 200


def get(url):
    return urllib.request.urlopen(url, timeout=60).read().decode()


def ask(gateway):
    body = json.dumps({"model": "chat", "prompt": PROMPT, "max_tokens": 4}).encode()
    request = urllib.request.Request(gateway + "/v1/completions", body, {"content-type": "application/json"})
    return json.loads(urllib.request.urlopen(request, timeout=60).read())


def count(metrics, result):
    series = f'fairlead_external_scheduler_requests_total{{result="{result}"}} '
    return sum(float(line[len(series) :]) for line in get(metrics).splitlines() if line.startswith(series))


class Streams(unittest.TestCase):
    """What scheduler.py remembers, on messages of the protocol."""

    def message(self, **fields):
        return scheduler_pb2.PickerMessage(**fields)

    def test_learns_forgets_and_decides(self):
        stream = Stream()
        stream.learn(
            self.message(
                endpoints=[scheduler_pb2.Endpoint(number=n, name=f"s{n}") for n in (1, 2)],
                states=[scheduler_pb2.EndpointState(endpoint=n, in_use=True, waiting=n, kv_usage=-1) for n in (1, 2)],
            )
        )
        decision = stream.decide(scheduler_pb2.Request(id=2**64 - 2, prompt_tokens=10))
        self.assertEqual(decision.request, 2**64 - 2)
        self.assertEqual(list(decision.endpoints), [1, 2])
        self.assertGreater(decision.scores[0], decision.scores[1])
        stream.learn(self.message(removed=[1]))
        self.assertEqual(list(stream.decide(scheduler_pb2.Request(id=3)).endpoints), [2])
        stream.learn(self.message(removed=[2], states=[scheduler_pb2.EndpointState(endpoint=2)]))
        self.assertEqual(list(stream.decide(scheduler_pb2.Request(id=4)).endpoints), [])

    def test_answers_in_parts_below_the_limit(self):
        stream = Stream()
        stream.learn(self.message(endpoints=[scheduler_pb2.Endpoint(number=n) for n in range(1, 5_001)]))
        stream.learn(self.message(states=[scheduler_pb2.EndpointState(endpoint=n, in_use=True) for n in range(1, 5_001)]))
        requests = [scheduler_pb2.Request(id=n) for n in range(1, 31)]
        parts = list(stream.answers(self.message(requests=requests)))
        self.assertGreater(len(parts), 1)
        self.assertLess(max(part.ByteSize() for part in parts), 4 << 20)
        self.assertEqual([decision.request for part in parts for decision in part.decisions], list(range(1, 31)))
        few = list(stream.answers(self.message(hello=scheduler_pb2.PickerHello(version=1), requests=requests[:2])))
        self.assertEqual([len(part.decisions) for part in few], [2])
        self.assertTrue(few[0].HasField("hello"))


class Example:
    """Each of its subclasses is one of the two."""

    def conforms(self):
        ran = subprocess.run(
            [os.environ["FAIRLEAD"], "conformance", "scheduler", "--address", os.environ[f"FAIRLEAD_SCHEDULER_{self.name}"], "--timeout", "10000"],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("23 of 23 cases passed", ran.stdout)

    def test_conforms(self):
        self.conforms()

    def test_decides_for_a_gateway(self):
        gateway = os.environ[f"FAIRLEAD_GATEWAY_{self.name}"]
        metrics = os.environ[f"FAIRLEAD_METRICS_{self.name}"]
        until = time.monotonic() + 120
        while "fairlead_external_scheduler_up 1.0" not in get(metrics):
            self.assertLess(time.monotonic(), until, "the gateway has not reached it")
            time.sleep(0.05)
        before = count(metrics, "followed")
        for _ in range(20):
            self.assertEqual(ask(gateway)["usage"]["completion_tokens"], 4)
        self.assertEqual(count(metrics, "followed") - before, 20)
        for wrong in ("invalid", "unexpected", "overruled", "unavailable"):
            self.assertEqual(count(metrics, wrong), 0, wrong)


class Python(Example, unittest.TestCase):
    name = "PYTHON"


class Java(Example, unittest.TestCase):
    name = "JAVA"


if __name__ == "__main__":
    unittest.main()
