"""What torch.export cannot follow in some models of transformers, written in another way that gives the same.

scripts/export.py compares what it wrote with the model as it is.
"""

import contextlib
from collections.abc import Iterator
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


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
            rewrite_longformer(stack)
        if model_type == "mobilebert":
            rewrite_mobilebert(stack)
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


def rewrite_longformer(stack: contextlib.ExitStack) -> None:
    """It fills texts up to whole windows and cuts them into pieces: how many, no formula says for every length.
    Here the window is a mask over all pairs of tokens, which takes time by the square of the length. In a
    classifier the first token sees all others and is seen by them, and no other does."""
    from transformers.models.longformer import modeling_longformer as longformer

    def attend(self, hidden_states: Tensor, is_index_masked: Tensor, **_settings) -> tuple[Tensor]:
        texts, length = hidden_states.shape[:2]

        def heads(projection: nn.Module, states: Tensor) -> Tensor:
            return projection(states).view(texts, -1, self.num_heads, self.head_dim).transpose(1, 2)

        places = torch.arange(length)
        is_first = (places == 0).unsqueeze(1)
        near = (places.unsqueeze(1) - places).abs() <= self.one_sided_attn_window_size
        real = ~is_index_masked[:, None, None, :]
        parts = [heads(part, hidden_states) for part in (self.query, self.key, self.value)]
        local = scaled_dot_product_attention(*parts, attn_mask=(near | (places == 0)) & real)
        parts = [heads(part, hidden_states) for part in (self.key_global, self.value_global)]
        query = heads(self.query_global, hidden_states[:, :1])
        of_first = scaled_dot_product_attention(query, *parts, attn_mask=real)
        states = torch.where(is_first, of_first, local).transpose(1, 2)
        return (states.reshape(texts, length, -1),)

    def no_padding(self, *, pad_token_id: int, **parts) -> tuple:
        return 0, *(parts[name] for name in ORDER)

    ORDER = ("input_ids", "attention_mask", "token_type_ids", "position_ids", "inputs_embeds")
    stack.enter_context(patch.object(longformer.LongformerSelfAttention, "forward", attend))
    stack.enter_context(patch.object(longformer.LongformerModel, "_pad_to_window_size", no_padding))


def rewrite_mobilebert(stack: contextlib.ExitStack) -> None:
    """It puts each word's neighbours beside it by cutting one off and filling up: for texts of one or two tokens
    that is another program."""
    from transformers.models.mobilebert.modeling_mobilebert import MobileBertEmbeddings

    def embed(self, input_ids: Tensor, token_type_ids: Tensor | None = None, **_settings) -> Tensor:
        length = input_ids.shape[1]
        words = self.word_embeddings(input_ids)
        if self.trigram_input:
            places = torch.arange(length).unsqueeze(1)
            after = torch.where(places < length - 1, words.roll(-1, 1), 0.0)
            before = torch.where(places > 0, words.roll(1, 1), 0.0)
            words = torch.cat([after, words, before], dim=2)
        if self.trigram_input or self.embedding_size != self.hidden_size:
            words = self.embedding_transformation(words)
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        words = words + self.position_embeddings(self.position_ids[:, :length])
        return self.LayerNorm(words + self.token_type_embeddings(types))

    stack.enter_context(patch.object(MobileBertEmbeddings, "forward", embed))
