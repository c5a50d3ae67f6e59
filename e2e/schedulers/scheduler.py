"""scheduler.py ADDRESS: an external scheduler in Python; the policy is expected_wait.py, and all else is here.

ADDRESS is where to listen: unix:/path/of/socket, or a host and a port such as 127.0.0.1:9100. The modules scheduler_pb2 and
scheduler_pb2_grpc are made from scheduler.proto by grpc_tools.protoc, see ./hack/schedulers.
"""

import os
import signal
import sys
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

import scheduler_pb2
import scheduler_pb2_grpc
from expected_wait import Server, scores

VERSION = 1

# A message may be of 4 MiB, and a decision that names thousands of endpoints is a part of that: more than this goes in several.
FULL_BYTES = 1 << 20

# A picker whose node is gone does not end its stream, and the thread of that would wait for it for ever: it is asked every 10 s whether it
# is still there, also while it sends nothing.
OPTIONS = [("grpc.keepalive_time_ms", 10_000), ("grpc.http2.ping_timeout_ms", 10_000), ("grpc.http2.max_pings_without_data", 0)]


class Stream:
    """What one picker has told; the numbers of endpoints mean nothing in another stream."""

    def __init__(self):
        self.servers = {}

    def learn(self, message):
        for number in message.removed:
            self.servers.pop(number, None)
        for endpoint in message.endpoints:
            server = self.servers.setdefault(endpoint.number, Server(endpoint.name))
            server.labels = dict(endpoint.labels)
        for state in message.states:
            server = self.servers.get(state.endpoint)
            if server:
                server.in_use = state.in_use
                server.waiting = state.waiting
                server.running = state.running
                server.kv_usage = max(0.0, state.kv_usage)
                server.uncached_tokens_in_flight = state.uncached_in_flight_tokens
                server.sent_since = 0

    def decide(self, request):
        cached = {match.endpoint: match.cached_tokens for match in request.prefix_matches}
        scored = scores(self.servers, request.prompt_tokens, cached, request.allowed)
        if scored:
            best = max(scored, key=scored.get)
            self.servers[best].sent_since += max(0, request.prompt_tokens - cached.get(best, 0))
        return scheduler_pb2.Decision(request=request.id, endpoints=scored.keys(), scores=scored.values())

    def answers(self, message):
        """Decides what a message asks: with one message as far as that is not too large, so that a batch stays one."""
        self.learn(message)
        answer = scheduler_pb2.SchedulerMessage()
        if message.HasField("hello"):
            answer.hello.version = VERSION
            answer.hello.name = "expected wait, in Python"
        size = 0
        for request in message.requests:
            decision = self.decide(request)
            answer.decisions.append(decision)
            size += decision.ByteSize()
            if size >= FULL_BYTES:
                yield answer
                answer = scheduler_pb2.SchedulerMessage()
                size = 0
        if answer.decisions or answer.HasField("hello"):
            yield answer


class Scheduler(scheduler_pb2_grpc.SchedulerServicer):
    def Schedule(self, request_iterator, context):
        stream = Stream()
        for message in request_iterator:
            yield from stream.answers(message)


def serve(address):
    # A stream has a thread as long as it lives: one for each picker and pool, and one for each question after the health.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=32), options=OPTIONS)
    scheduler_pb2_grpc.add_SchedulerServicer_to_server(Scheduler(), server)
    healthy = health.HealthServicer()
    healthy.set("", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    server.add_insecure_port(address)
    server.start()
    if address.startswith("unix:"):
        os.chmod(address[len("unix:") :], 0o777)  # the picker is another user
    return server


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    server = serve(sys.argv[1])
    signal.signal(signal.SIGTERM, lambda *_: server.stop(1))
    server.wait_for_termination()


if __name__ == "__main__":
    main()
