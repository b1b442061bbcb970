"""The built-in chat templates against jinja2, through tokenizer_dump."""

import jinja2.sandbox
import pytest
from tokenizer_kit import NAMED, SMOLLM2, SPECIAL, Dump, train, write_gguf

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
