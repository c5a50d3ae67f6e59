"""Makes a small tokenizer, as benchmarks want one and get theirs from a hub: every byte is a token, and a few words are.

Usage: tokenizer.py FOLDER
"""

import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

folder = pathlib.Path(sys.argv[1])
folder.mkdir()
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
end = "<|end|>"
trainer = trainers.BpeTrainer(
    vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=[end], show_progress=False
)
tokenizer.train_from_iterator(["the sea ran high that night and the ship went on"] * 3, trainer)
tokenizer.save(str(folder / "tokenizer.json"))
settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": end, "model_max_length": 131_072}
(folder / "tokenizer_config.json").write_text(json.dumps(settings))
(folder / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
