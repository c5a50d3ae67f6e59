"""The policy alone: no network, no picker."""

import random
import unittest

from expected_wait import COEFFICIENTS, FEATURES, Server, expected_wait, features, fit, scores


def best(servers, prompt_tokens=1000, cached=None, allowed=None):
    scored = scores(servers, prompt_tokens, cached or {}, allowed)
    return max(scored, key=scored.get) if scored else None


class ExpectedWaitTest(unittest.TestCase):
    def test_an_idle_server_comes_before_a_busy_one(self):
        self.assertEqual(best({1: Server("a", waiting=5, running=100), 2: Server("b")}), 2)

    def test_a_cached_prompt_is_worth_a_short_queue_and_not_a_long_one(self):
        cached = {1: 1000}
        self.assertEqual(best({1: Server("a", waiting=3), 2: Server("b")}, cached=cached), 1)
        self.assertEqual(best({1: Server("a", waiting=30), 2: Server("b")}, cached=cached), 2)

    def test_a_cache_that_is_nearly_full_costs(self):
        self.assertEqual(best({1: Server("a", kv_usage=0.99), 2: Server("b", running=50)}), 2)
        self.assertEqual(expected_wait(Server("a", kv_usage=0.5), 10, 0), expected_wait(Server("a"), 10, 0))

    def test_a_server_out_of_use_gets_nothing(self):
        self.assertEqual(best({1: Server("a", in_use=False), 2: Server("b", waiting=99)}), 2)
        self.assertIsNone(best({1: Server("a", in_use=False)}))

    def test_only_the_servers_that_the_gateway_allows(self):
        self.assertEqual(best({1: Server("a"), 2: Server("b", waiting=99)}, allowed=[2]), 2)

    def test_what_was_sent_since_counts(self):
        self.assertEqual(best({1: Server("a", sent_since=5000), 2: Server("b", waiting=1)}), 2)

    def test_a_fit_finds_the_coefficients_that_made_the_table(self):
        draw = random.Random(7)
        rows, waits = [], []
        for _ in range(300):
            server = Server(
                "x",
                waiting=draw.randrange(20),
                running=draw.randrange(200),
                kv_usage=draw.random(),
                uncached_tokens_in_flight=draw.randrange(20_000),
            )
            prompt, cached = draw.randrange(1, 4000), draw.randrange(4000)
            rows.append(features(server, prompt, cached))
            waits.append(expected_wait(server, prompt, cached) + draw.gauss(0, 2))
        fitted = fit(rows, waits)
        for name in FEATURES:
            with self.subTest(name):
                self.assertAlmostEqual(fitted[name] / COEFFICIENTS[name], 1, delta=0.1)


if __name__ == "__main__":
    unittest.main()
