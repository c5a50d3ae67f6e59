"""Writes the folders beside it: pip install tokenizers jinja2, then run it.

Each is a small model's tokenizer with a chat template, and cases.json: requests, and the token ids that the Python
libraries make of them, laid out as `transformers` lays chats out. A case without ids must not get any.
"""

import json
from pathlib import Path

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent

CORPUS = [
    "Where does the rope run? The rope runs from the bow to the stern, and the men row against the tide.",
    "You are a helpful assistant. Answer in one sentence. {\"type\": \"function\", \"name\": \"weather\"}",
    "Grüße aus Köln: der Fluß ist naß. 船は港に着いた。 🚢 emoji, numbers 1234567890, and  double  spaces\n\nlines.",
]

CHATML = """{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] + '\\n\\n' }}{%- endif %}
{{- '# Tools\\n' }}
{%- for tool in tools %}
{{- '\\n' }}{{- tool | tojson }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif messages[0]['role'] == 'system' %}
{{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) or message.role == 'assistant' %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

HEADERS = (
    "{% set loop_messages = messages %}{% for message in loop_messages %}"
    "{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim"
    " + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}"
    "{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)

ALTERNATE = (
    "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}"
    "{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token + ' ' }}{% endif %}{% endfor %}"
)


def trained(special, bos):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=420,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=bos + " $A", special_tokens=[(bos, tokenizer.token_to_id(bos))]
        )
    return tokenizer


def refuse(message):
    raise ValueError(message)


def render(template, body, bos, eos):
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.globals["raise_exception"] = refuse
    messages = []
    for message in body["messages"]:
        own = dict(message)
        if isinstance(own["content"], list):
            own["content"] = "\n".join(part["text"] for part in own["content"])
        messages.append(own)
    return environment.from_string(template).render(
        messages=messages,
        tools=body.get("tools"),
        add_generation_prompt=body.get("add_generation_prompt", True),
        bos_token=bos,
        eos_token=eos,
        **body.get("chat_template_kwargs", {}),
    )


SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
FIRST = {"role": "user", "content": "Where does the rope run?  "}
ANSWER = {"role": "assistant", "content": "From the bow to the stern."}
NEXT = {"role": "user", "content": "Und der Fluß? 船 🚢\n\n<|im_end|> & \"quotes\""}
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "Wetter in Köln", "parameters": {"a": [1, 2.5, True, None], "b": {}}},
}

CHATS = [
    {"messages": [FIRST]},
    {"messages": [SYSTEM, FIRST, ANSWER, NEXT]},
    {"messages": [FIRST, ANSWER, NEXT], "add_generation_prompt": False},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}]},
    {"messages": [SYSTEM, FIRST], "tools": [TOOL]},
    {"messages": [FIRST], "chat_template_kwargs": {"enable_thinking": False}},
    {"messages": [ANSWER, FIRST]},
]

UNKNOWN = [
    ("/v1/chat/completions", {"messages": [FIRST], "cache_salt": "mine"}),
    (
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}]}]},
    ),
    ("/v1/chat/completions", {"messages": []}),
    ("/v1/chat/completions", {"messages": "none"}),
    ("/v1/completions", {"prompt": ["several", "prompts"]}),
    ("/v1/completions", {}),
    ("/v1/embeddings", {"input": "text"}),
]

for name, template, special, bos, eos, adds in (
    ("chatml", CHATML, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], "", "<|im_end|>", False),
    ("headers", HEADERS, ["<|bos|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"], "<|bos|>", "<|eot_id|>", True),
    ("alternate", ALTERNATE, ["<s>", "</s>"], "<s>", "</s>", True),
):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    tokenizer = trained(special, bos if adds else None)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"bos_token": bos or None, "eos_token": {"content": eos}}
    if name == "headers":
        (folder / "chat_template.jinja").write_text(template)
    else:
        config["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    cases = []
    for body in CHATS:
        try:
            ids = tokenizer.encode(render(template, body, bos, eos), add_special_tokens=False).ids
        except ValueError:
            ids = None
        cases.append({"path": "/v1/chat/completions", "body": body, "ids": ids})
    for text in (CORPUS[2], "a", ""):
        cases.append(
            {"path": "/v1/completions", "body": {"prompt": text}, "ids": tokenizer.encode(text).ids}
        )
    cases.append({"path": "/v1/completions", "body": {"prompt": [1, 2, 3]}, "ids": [1, 2, 3]})
    for path, body in UNKNOWN:
        cases.append({"path": path, "body": body, "ids": None})
    (folder / "cases.json").write_text(json.dumps(cases, ensure_ascii=False, indent=1))
