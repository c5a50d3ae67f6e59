"""The benchmarks that people use, against the gateway: run by hack/clients --benches."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GATEWAY = os.environ["FAIRLEAD_GATEWAY"]
TOKENIZER = os.environ["FAIRLEAD_TOKENIZER"]
PROGRAMS = pathlib.Path(sys.executable).parent


class Benches(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, program, *arguments):
        command = [str(PROGRAMS / program), *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=self.folder)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def vllm(self, *arguments):
        """Prints what stands in the result up to the latencies. No model is named: it is asked for."""
        told = self.run_it(
            "vllm", "bench", "serve", "--base-url", GATEWAY, "--tokenizer", TOKENIZER, "--dataset-name", "random",
            "--num-prompts", "100", "--disable-tqdm", "--save-result", "--result-filename", "result.json", *arguments,
        )
        print("\n" + re.search(r"=+ Serving Benchmark Result =+\n.*?(?=\n-+Time to First)", told, re.DOTALL)[0])
        result = json.loads((self.folder / "result.json").read_text())
        self.assertEqual((result["completed"], result["failed"]), (100, 0))
        self.assertEqual(result["total_output_tokens"], 100 * 128)

    def test_vllm_completions(self):
        self.vllm()

    def test_vllm_chat(self):
        self.vllm("--backend", "openai-chat", "--endpoint", "/v1/chat/completions")

    def test_vllm_at_a_rate(self):
        self.vllm("--model", "chat", "--request-rate", "50")

    def test_guidellm(self):
        told = self.run_it(
            "guidellm", "run", "--backend", f"kind=openai_http,target={GATEWAY}", "--tokenizer", f"kind=hf_auto,model={TOKENIZER}",
            "--data", "kind=synthetic_text,prompt_tokens=128,output_tokens=32", "--profile", "kind=concurrent,streams=8",
            "--constraint", "kind=max_requests,count=100", "--disable-progress", "--output", "kind=console", "--output", "kind=json,path=.",
        )
        print("\n" + re.search(r"ℹ Run Summary Info.*?(?=\n\n)", told, re.DOTALL)[0])
        (report,) = self.folder.glob("*.json")
        totals = json.loads(report.read_text())["benchmarks"][0]["metrics"]["request_totals"]
        self.assertEqual((totals["successful"], totals["errored"], totals["incomplete"]), (100, 0, 0))


if __name__ == "__main__":
    unittest.main()
