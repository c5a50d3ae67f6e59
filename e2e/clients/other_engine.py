"""A model server for what the stub does not serve: embeddings, and the Messages API.

Usage: other_engine.py PORT-FILE, which gets the port that it listens on.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = ["the", " sea", " ran", " high", " that", " night"]
METRICS = """vllm:num_requests_running{engine="0",model_name="m"} 0.0
vllm:num_requests_waiting{engine="0",model_name="m"} 0.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.0
"""


class Engine(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *unused):
        pass

    def do_GET(self):
        if self.path == "/metrics":
            self.answer(METRICS.encode(), "text/plain")
        elif self.path == "/v1/models":
            models = [{"id": name, "object": "model", "created": 1, "owned_by": "t", "root": name} for name in ("embed-v1", "claude-v1")]
            self.json({"object": "list", "data": models})
        else:
            self.answer(b"", "text/plain")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked.get("input") == "too many":
            error = {"message": "too many requests", "type": "rate_limit_error", "param": None, "code": 429}
            self.json({"error": error}, 429)
        elif self.path.startswith("/v1/embeddings"):
            texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
            data = [{"object": "embedding", "index": i, "embedding": [float(len(text)), 0.5]} for i, text in enumerate(texts)]
            usage = {"prompt_tokens": 3, "total_tokens": 3}
            self.json({"object": "list", "model": asked["model"], "data": data, "usage": usage})
        elif self.path.startswith("/v1/messages/count_tokens"):
            self.json({"input_tokens": 11})
        elif self.path.startswith("/v1/messages"):
            self.messages(asked)
        else:
            self.send_error(404)

    def messages(self, asked):
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": asked["model"], "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 11, "output_tokens": 0},
        }
        if not asked.get("stream"):
            content = [{"type": "text", "text": "".join(WORDS)}]
            usage = {"input_tokens": 11, "output_tokens": len(WORDS)}
            self.json(message | {"content": content, "stop_reason": "end_turn", "usage": usage})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.event("message_start", {"message": message})
        self.event("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})
        for word in WORDS:
            self.event("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": word}})
        self.event("content_block_stop", {"index": 0})
        delta = {"stop_reason": "end_turn", "stop_sequence": None}
        self.event("message_delta", {"delta": delta, "usage": {"output_tokens": len(WORDS)}})
        self.event("message_stop", {})
        self.wfile.write(b"0\r\n\r\n")

    def event(self, kind, body):
        text = f"event: {kind}\ndata: {json.dumps({'type': kind} | body)}\n\n".encode()
        self.wfile.write(f"{len(text):x}\r\n".encode() + text + b"\r\n")
        self.wfile.flush()

    def json(self, body, status=200):
        self.answer(json.dumps(body).encode(), "application/json", status)

    def answer(self, body, kind, status=200):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    with open(sys.argv[1], "w") as file:
        file.write(str(server.server_port))
    server.serve_forever()
