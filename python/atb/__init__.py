"""Transformer Boost: load a model file, generate text, read logits.

>>> import atb
>>> model = atb.load("SmolLM2-135M-Instruct.Q4_1.gguf")
>>> print(model.generate("The capital of France is", max_tokens=8).text)
"""

from atb._core import Error, Generation, ModelDescription
from atb.fusion import explain
from atb.model import Model, Session, load
from atb.tokenizer import Tokenizer

__version__ = "0.1.0"
__all__ = ["Error", "Generation", "Model", "ModelDescription", "Session", "Tokenizer", "explain", "load"]
