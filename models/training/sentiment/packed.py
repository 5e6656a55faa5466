"""The classifier over texts of different lengths that lie end to end, without padding."""

from __future__ import annotations

import torch
from torch.nn import functional
from transformers import BertForSequenceClassification


class Packed:
    """Token ids of several texts as one row of `tokens`, and where each text lies in it."""

    def __init__(self, rows: list[list[int]]) -> None:
        lengths = [len(row) for row in rows]
        self.texts, self.longest = len(rows), max(lengths)
        self.ids = torch.tensor([token for row in rows for token in row])
        self.positions = torch.cat([torch.arange(n) for n in lengths])
        # Where each token goes in [texts, longest], which attention alone works on.
        self.slots = torch.cat([torch.arange(n) + k * self.longest for k, n in enumerate(lengths)])
        ends = torch.tensor(lengths).cumsum(0)
        self.firsts = ends - torch.tensor(lengths)
        self.mask = (torch.arange(self.longest) < torch.tensor(lengths)[:, None])[:, None, None, :]


def _block(
    layer: torch.nn.Module, x: torch.Tensor, batch: Packed, first_only: bool
) -> torch.Tensor:
    """One encoder layer over x [tokens, width]; `first_only` keeps each text's first token."""
    attention, output = layer.attention, layer.output
    heads = attention.self.num_attention_heads

    def padded(projected: torch.Tensor) -> torch.Tensor:
        full = projected.new_zeros(batch.texts * batch.longest, projected.shape[-1])
        full = full.index_copy(0, batch.slots, projected)
        return full.view(batch.texts, batch.longest, heads, -1).transpose(1, 2)

    kept = x[batch.firsts] if first_only else x
    query = attention.self.query(kept)
    context = functional.scaled_dot_product_attention(
        query.view(batch.texts, 1, heads, -1).transpose(1, 2) if first_only else padded(query),
        padded(attention.self.key(x)),
        padded(attention.self.value(x)),
        attn_mask=batch.mask,
        dropout_p=attention.self.dropout.p if layer.training else 0.0,
    )
    context = context.transpose(1, 2).flatten(-2).flatten(0, 1)
    if not first_only:
        context = context[batch.slots]
    mixed = attention.output.dropout(attention.output.dense(context))
    mixed = attention.output.LayerNorm(mixed + kept)
    hidden = functional.gelu(layer.intermediate.dense(mixed))
    return output.LayerNorm(output.dropout(output.dense(hidden)) + mixed)


def packed_logits(model: BertForSequenceClassification, batch: Packed) -> torch.Tensor:
    """Logits [texts, 2]: the same function as `model(input_ids, attention_mask).logits`."""
    ids, positions = batch.ids[None], batch.positions[None]
    x = model.bert.embeddings(input_ids=ids, position_ids=positions)[0]
    layers = model.bert.encoder.layer
    for number, layer in enumerate(layers):
        x = _block(layer, x, batch, first_only=number == len(layers) - 1)
    pooled = torch.tanh(model.bert.pooler.dense(x))
    return model.classifier(model.dropout(pooled))
