"""Models of one layer, written by the gguf package."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np


def write_llama(writer: gguf.GGUFWriter, vocabulary: int) -> Path:
    """Adds the sizes and weights to what the writer has, and closes the file."""
    writer.add_block_count(1)
    writer.add_context_length(32)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    shapes = {
        "token_embd": (vocabulary, 32), "output_norm": (32,), "blk.0.attn_norm": (32,), "blk.0.ffn_norm": (32,),
        "blk.0.attn_q": (32, 32), "blk.0.attn_k": (32, 32), "blk.0.attn_v": (32, 32), "blk.0.attn_output": (32, 32),
        "blk.0.ffn_gate": (64, 32), "blk.0.ffn_up": (64, 32), "blk.0.ffn_down": (32, 64),
    }  # fmt: skip
    random = np.random.default_rng(1)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.standard_normal(shape, dtype=np.float32) / 8)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Path(writer.path)


def tiny_gguf(path: Path, *, architecture: str = "llama") -> Path:
    """Without a tokenizer."""
    return write_llama(gguf.GGUFWriter(str(path), architecture), vocabulary=50)


def byte_alphabet() -> list[str]:
    """The 256 bytes as byte-level BPE spells them: printable ones as themselves, the others from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def byte_gguf(path: Path, *, template: str = "", add_bos: bool = False) -> Path:
    """Its tokens are <s>, </s>, the 256 bytes and "ab", the only merge."""
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    tokens = ["<s>", "</s>", *byte_alphabet(), "ab"]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([control, control, *[normal] * 257])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(add_bos)
    if template:
        writer.add_chat_template(template)
    return write_llama(writer, len(tokens))
