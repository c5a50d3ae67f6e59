"""Writes the golden messages beside it as engines encode theirs: pip install msgspec, then run it.

The structs have the fields that vLLM and SGLang document for their KV events; msgspec encodes them, as it does there.
"""

from pathlib import Path

import msgspec


def structs(array_like):
    """Older engines write arrays, newer ones maps."""

    class Event(msgspec.Struct, array_like=array_like, omit_defaults=True, tag=True):
        pass

    class BlockStored(Event):
        block_hashes: list
        parent_block_hash: int | bytes | None
        token_ids: list[int]
        block_size: int
        lora_id: int | None
        medium: str | None = None
        lora_name: str | None = None
        extra_keys: list | None = None
        group_idx: int | None = None
        kv_cache_spec_kind: str | None = None

    class BlockRemoved(Event):
        block_hashes: list
        medium: str | None = None
        group_idx: int | None = None

    class AllBlocksCleared(Event):
        pass

    class Moved(Event):
        where: dict

    class Batch(msgspec.Struct, array_like=array_like, omit_defaults=True):
        ts: float
        events: list
        data_parallel_rank: int | None = None

    return BlockStored, BlockRemoved, AllBlocksCleared, Moved, Batch


def tokens(first, count):
    return list(range(first, first + count))


def write(name, batch):
    Path(__file__).with_name(name + ".msgpack").write_bytes(msgspec.msgpack.encode(batch))


for form, array_like in (("arrays", True), ("maps", False)):
    Stored, Removed, Cleared, Moved, Batch = structs(array_like)
    # Unsigned hashes beyond the largest signed number, as vLLM has them.
    write(
        "vllm-" + form,
        Batch(
            1700000000.5,
            [
                Stored([2**64 - 1, 7], None, tokens(100, 8), 4, None, "GPU", None),
                Stored([8], 7, tokens(108, 4), 4, 3, "GPU", "french", [["french"]]),
                Stored([9], 7, tokens(200, 4), 4, None, "CPU", None),
                Stored([10], 7, tokens(300, 4), 4, None, "GPU", None, None, 1, "sliding_window"),
                Moved({"deep": [{"er": [1, 2.5, None, True, "x", b"y"]}]}),
                Removed([2**64 - 1], "GPU"),
                Removed([9], "CPU"),
                Cleared(),
            ],
            2,
        ),
    )
    # Hashes as the bytes of SHA-256, and a picture in the second of three blocks.
    write(
        "vllm-bytes-" + form,
        Batch(
            1700000001,
            [
                Stored(
                    [bytes([i]) * 32 for i in range(3)],
                    None,
                    tokens(0, 12),
                    4,
                    None,
                    "GPU",
                    None,
                    [None, [["picture", 0]], None],
                ),
                Removed([bytes([1]) * 32]),
            ],
        ),
    )
# Signed hashes, a page of one token, and none of the newer fields.
Stored, Removed, Cleared, _, Batch = structs(False)
write("sglang", Batch(1700000002.25, [Stored([-5], -6, [42], 1, None), Removed([-5]), Cleared()], 0))
