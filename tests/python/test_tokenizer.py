"""Byte-level BPE against `tokenizers`, through tokenizer_dump."""

import json
import random
import subprocess

import gguf
import pytest
from tokenizer_kit import (
    DUMP,
    KINDS,
    NAMED,
    SMOLLM2,
    SPECIAL,
    TEXTS,
    Dump,
    assert_same,
    byte_level,
    fails,
    gpt4,
    sequence,
    split,
    train,
    write_folder,
    write_gguf,
)
from tokenizers import AddedToken, Tokenizer, normalizers, pre_tokenizers, processors


def test_there_are_enough_texts():
    assert len(TEXTS) >= 2000 and len(KINDS["random"]) >= 500
    assert all(len(texts) >= 100 for texts in KINDS.values())


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
