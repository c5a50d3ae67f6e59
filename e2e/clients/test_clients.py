"""The clients that people use, against the gateway: run by hack/clients."""

import asyncio
import json
import os
import unittest
import urllib.request

import anthropic
import openai

GATEWAY = os.environ["FAIRLEAD_GATEWAY"]
OTHER = os.environ["FAIRLEAD_OTHER_GATEWAY"]
STUBS = os.environ["FAIRLEAD_STUBS"].split(",")
QUESTION = [{"role": "user", "content": "Where does the rope run?"}]


def faults(body):
    """Sets the same faults of every stub; none of them with None."""
    for stub in STUBS:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{stub}/stub/faults", data=data, method="DELETE" if body is None else "POST")
        urllib.request.urlopen(request, timeout=60).read()


class OpenAi(unittest.TestCase):
    def setUp(self):
        self.client = openai.OpenAI(base_url=GATEWAY + "/v1", api_key="none", max_retries=0)
        self.addCleanup(self.client.close)

    def test_chat(self):
        answer = self.client.chat.completions.create(model="chat", messages=QUESTION, max_tokens=12)
        self.assertEqual(answer.model, "chat")
        self.assertEqual(len(answer.choices[0].message.content.split()), 12)
        self.assertEqual(answer.usage.completion_tokens, 12)
        self.assertGreater(answer.usage.prompt_tokens, 0)

    def test_chat_streamed(self):
        chunks = list(
            self.client.chat.completions.create(
                model="chat", messages=QUESTION, max_tokens=40, stream=True, stream_options={"include_usage": True}
            )
        )
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        self.assertEqual(len(text.split()), 40)
        self.assertEqual({chunk.model for chunk in chunks}, {"chat"})
        self.assertEqual(chunks[-1].usage.completion_tokens, 40)

    def test_chat_streamed_without_usage(self):
        chunks = list(self.client.chat.completions.create(model="chat", messages=QUESTION, max_tokens=5, stream=True))
        self.assertEqual([chunk.usage for chunk in chunks], [None] * len(chunks))
        self.assertEqual(chunks[-1].choices[0].finish_reason, "length")

    def test_a_stream_that_is_left(self):
        stream = self.client.chat.completions.create(model="chat", messages=QUESTION, max_tokens=5000, stream=True)
        next(iter(stream))
        stream.close()
        self.test_chat()

    def test_completions(self):
        answer = self.client.completions.create(model="chat", prompt="Hello", max_tokens=7)
        self.assertEqual(len(answer.choices[0].text.split()), 7)
        self.assertEqual(answer.model, "chat")

    def test_completions_streamed(self):
        chunks = list(self.client.completions.create(model="chat", prompt="Hello", max_tokens=7, stream=True))
        self.assertEqual(len("".join(chunk.choices[0].text for chunk in chunks if chunk.choices).split()), 7)

    def test_many_at_once(self):
        async def ask(client, number):
            words = 0
            messages = [{"role": "user", "content": f"question {number}"}]
            stream = await client.chat.completions.create(model="chat", messages=messages, max_tokens=20, stream=True)
            async for chunk in stream:
                words += len((chunk.choices[0].delta.content or "").split()) if chunk.choices else 0
            return words

        async def all_of_them():
            async with openai.AsyncOpenAI(base_url=GATEWAY + "/v1", api_key="none", max_retries=0) as client:
                return await asyncio.gather(*(ask(client, number) for number in range(100)))

        self.assertEqual(asyncio.run(all_of_them()), [20] * 100)

    def test_models(self):
        models = {model.id: model for model in self.client.models.list()}
        self.assertLessEqual({"chat", "batch"}, models.keys())
        self.assertEqual([name for name, model in models.items() if not model.root], [], "vLLM's bench reads root")

    def test_a_model(self):
        self.assertEqual(self.client.models.retrieve("chat").id, "chat")
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("nobody-serves-this")

    def test_an_unknown_model(self):
        with self.assertRaises(openai.NotFoundError) as refused:
            self.client.chat.completions.create(model="nobody-serves-this", messages=QUESTION)
        self.assertEqual(refused.exception.status_code, 404)

    def test_a_request_that_is_wrong(self):
        with self.assertRaises(openai.BadRequestError) as refused:
            self.client.chat.completions.create(model="", messages=QUESTION)
        self.assertTrue(refused.exception.message)

    def test_an_engine_that_fails(self):
        faults({"errorNext": 4, "errorStatus": 500, "errorBody": True})
        self.addCleanup(faults, None)
        try:
            self.client.chat.completions.create(model="chat", messages=QUESTION)
        except openai.InternalServerError as failed:
            self.assertGreaterEqual(failed.status_code, 500)

    def test_raw_headers(self):
        answer = self.client.chat.completions.with_raw_response.create(model="chat", messages=QUESTION, max_tokens=2)
        self.assertTrue(answer.headers["x-request-id"])
        self.assertEqual(answer.parse().usage.completion_tokens, 2)


class Embeddings(unittest.TestCase):
    def test_embeddings(self):
        with openai.OpenAI(base_url=OTHER + "/v1", api_key="none", max_retries=0) as client:
            answer = client.embeddings.create(model="embed", input=["a", "bcd"], encoding_format="float")
        self.assertEqual([each.embedding[0] for each in answer.data], [1.0, 3.0])
        self.assertEqual(answer.usage.prompt_tokens, 3)


    def test_too_many_requests(self):
        with openai.OpenAI(base_url=OTHER + "/v1", api_key="none", max_retries=0) as client:
            with self.assertRaises(openai.RateLimitError) as refused:
                client.embeddings.create(model="embed", input="too many")
        self.assertEqual(refused.exception.status_code, 429)


class Messages(unittest.TestCase):
    ASKED = {"model": "claude", "max_tokens": 20, "messages": QUESTION}

    def setUp(self):
        self.client = anthropic.Anthropic(base_url=OTHER, api_key="none", max_retries=0)
        self.addCleanup(self.client.close)

    def test_messages(self):
        answer = self.client.messages.create(**self.ASKED)
        self.assertEqual(answer.content[0].text, "the sea ran high that night")
        self.assertEqual((answer.usage.input_tokens, answer.usage.output_tokens), (11, 6))
        self.assertEqual(answer.model, "claude")

    def test_messages_streamed(self):
        with self.client.messages.stream(**self.ASKED) as stream:
            self.assertEqual("".join(stream.text_stream), "the sea ran high that night")
            answer = stream.get_final_message()
        self.assertEqual((answer.stop_reason, answer.usage.output_tokens), ("end_turn", 6))

    def test_count_tokens(self):
        self.assertEqual(self.client.messages.count_tokens(model="claude", messages=QUESTION).input_tokens, 11)

    def test_a_request_that_is_wrong(self):
        with self.assertRaises(anthropic.BadRequestError) as refused:
            self.client.messages.create(model="", max_tokens=1, messages=QUESTION)
        self.assertEqual(refused.exception.body["error"]["type"], "invalid_request_error")


if __name__ == "__main__":
    unittest.main()
