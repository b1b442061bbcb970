"""llama.cpp through the C API that llama-cpp-python exposes; default batch sizes, logits of the last position only."""

from __future__ import annotations

import ctypes

import llama_cpp as llama
import numpy as np

import engine


class LlamaCpp:
    def __init__(self, path: str, threads: int) -> None:
        self._log = llama.llama_log_callback(lambda *_: None)
        llama.llama_log_set(self._log, ctypes.c_void_p(0))
        llama.llama_backend_init()
        self._model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
        params = llama.llama_context_default_params()
        params.n_ctx = 2048
        params.n_threads = params.n_threads_batch = threads
        self._context = llama.llama_init_from_model(self._model, params)
        if not self._model or not self._context:
            raise SystemExit(f"llama.cpp cannot load {path}")
        self._memory = llama.llama_get_memory(self._context)
        self._vocab = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self._model))
        self.about = {"version": llama.__version__, "system_info": llama.llama_print_system_info().decode().strip()}

    def reset(self) -> None:
        llama.llama_memory_clear(self._memory, True)

    def feed(self, ids: list[int]) -> np.ndarray:
        tokens = (llama.llama_token * len(ids))(*ids)
        status = llama.llama_decode(self._context, llama.llama_batch_get_one(tokens, len(ids)))
        if status != 0:
            raise SystemExit(f"llama_decode returned {status}")
        return np.ctypeslib.as_array(llama.llama_get_logits_ith(self._context, -1), (self._vocab,))


if __name__ == "__main__":
    args = engine.arguments()
    engine.serve(LlamaCpp(args.model, args.threads))
