"""What torch.export cannot follow in some models of transformers, written in another way that gives the same.

scripts/export.py compares what it wrote with the model as it is.
"""

import contextlib
from collections.abc import Iterator
from unittest.mock import patch

import torch
from torch import Tensor, nn


def classify_from_last_end(model: nn.Module, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """BART, T5 and their kin answer from the last end-of-sequence token. They pick it out with a mask, into a
    number of rows that depends on the tokens; here by its position."""
    places = torch.arange(input_ids.shape[1])
    start = model.config.decoder_start_token_id
    states = model.base_model(
        input_ids=input_ids,
        attention_mask=attention_mask,
        decoder_input_ids=torch.where(places == 0, start, input_ids.roll(1, 1)),
        use_cache=False,
    ).last_hidden_state
    last = ((input_ids == model.config.eos_token_id).long() * places).argmax(1)
    return model.classification_head(states[torch.arange(input_ids.shape[0]), last])


@contextlib.contextmanager
def rewritten(module: nn.Module) -> Iterator[None]:
    """While a module is exported."""
    model_type = getattr(getattr(getattr(module, "model", None), "config", None), "model_type", None)
    with contextlib.ExitStack() as stack:
        if model_type == "xlnet":
            rewrite_xlnet(stack)
        if model_type == "longformer":
            rewrite_longformer(stack, module)
        yield


def rewrite_xlnet(stack: contextlib.ExitStack) -> None:
    """It counts down in steps of -1.0, and shifts rows by folding them at another length: of neither can the
    number be known for every length."""
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    arange = torch.arange

    def arange_by_whole_steps(*bounds, **settings) -> Tensor:
        if len(bounds) == 3 and bounds[2] == -1.0:
            return arange(bounds[0], bounds[1], -1, **settings).float()
        return arange(*bounds, **settings)

    def rel_shift(x: Tensor, klen: int = -1) -> Tensor:
        rows = arange(x.shape[2]).unsqueeze(1)
        places = x.shape[2] - rows + arange(klen)
        return x.gather(3, places.expand(x.shape[0], x.shape[1], -1, -1))

    stack.enter_context(patch.object(torch, "arange", arange_by_whole_steps))
    stack.enter_context(patch.object(XLNetRelativeAttention, "rel_shift_bnij", staticmethod(rel_shift)))


def rewrite_longformer(stack: contextlib.ExitStack, module: nn.Module) -> None:
    """It divides lengths as tensors, and looks up which tokens see all others: in a classifier the first of
    each text, and no other."""
    from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

    div = torch.div

    def div_of_lengths(left, right, **settings):
        if settings.get("rounding_mode") == "trunc" and not isinstance(left, Tensor):
            return left // right
        return div(left, right, **settings)

    def first_of_each(is_index_global_attn: Tensor) -> tuple:
        texts = torch.arange(is_index_global_attn.shape[0])
        first, none = torch.zeros_like(texts), texts[:0]
        return 1, (texts, first), (texts, first), (none, none)

    def with_global_attention(_module, arguments, settings):
        return arguments, {**settings, "is_global_attn": True}

    stack.enter_context(patch.object(torch, "div", div_of_lengths))
    replaced = patch.object(LongformerSelfAttention, "_get_global_attn_indices", staticmethod(first_of_each))
    stack.enter_context(replaced)
    for part in module.modules():
        if isinstance(part, LongformerSelfAttention):
            hook = part.register_forward_pre_hook(with_global_attention, with_kwargs=True)
            stack.callback(hook.remove)
