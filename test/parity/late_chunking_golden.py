"""Late chunking: the embeddings of several texts that the encoder reads as one, by transformers.

    pip install -r test/parity/requirements.txt
    python test/parity/late_chunking_golden.py  # test/fixtures/embeddings/late-chunking.json

The spans follow github.com/jina-ai/late-chunking: `chunked_pooling` averages the token embeddings of each span,
`_extend_special_tokens` adds [CLS] to the first span and [SEP] to the last.
"""

import embedding_golden as golden
import torch
from common import FIXTURES, set_up, versions, write_json

ROOT = FIXTURES / "embeddings"
MODELS = [
    "encoders/bert",
    "encoders/nomic-bert",
    "encoders/jina-embeddings-v3",
    "encoders/modernbert",
    "encoders/qwen3",
    "encoders/roberta",
    "encoders/xlm-roberta",
    "sentences/v2-mean-dense",
    "sentences/v2-mean-normalize",
]
CHUNKS = [
    ["Good."],
    ["The film is kind.", "Good.", "It's not bad!"],
    ["The film ", "was\n", "\n good ", " twice"],
    ["drôle et", "😀 touché;", "日本語", "ñ"],
    ["The fi", "lm is go", "od"],  # parts of words
    ["a", "b", "c", "d", "?"],
]


def join(chunks: list[str]) -> tuple[str, list[int]]:
    """The whole text, and the start of each chunk in it. A space separates two chunks without white space."""
    text, starts = "", []
    for chunk in chunks:
        if text and not text[-1].isspace() and not chunk[0].isspace():
            text += " "
        starts.append(len(text))
        text += chunk
    return text, starts


def spans_of(offsets: list, special: list, starts: list[int]) -> list[tuple[int, int]]:
    """The tokens of each chunk: a token belongs to the chunk of its last character."""
    owner, current = [], 0
    for (begin, end), is_special in zip(offsets, special):
        if not is_special:
            last = max(begin, end - 1)
            current = max(current, sum(start <= last for start in starts) - 1)
        owner.append(None if is_special else current)
    firsts = [owner.index(chunk) for chunk in range(len(starts))]
    firsts[0] = 0  # special tokens before the text
    return list(zip(firsts, firsts[1:] + [len(owner)]))


@torch.inference_mode()
def embed(model, chunks: list[str]) -> tuple[int, list[list[float]], torch.Tensor]:
    text, starts = join(chunks)
    encoded = model.tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    ids = encoded["input_ids"]
    limit = model.max_seq_length
    assert limit is None or len(ids) <= limit, (len(ids), limit)
    features = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    tokens = model[0](features)["token_embeddings"][0]
    spans = spans_of(encoded["offset_mapping"], encoded["special_tokens_mask"], starts)
    assert all(end > begin for begin, end in spans), spans
    rows = torch.stack([tokens[begin:end].sum(dim=0) / (end - begin) for begin, end in spans])
    for module in list(model)[2:]:
        rows = module({"sentence_embedding": rows})["sentence_embedding"]
    return len(ids), [golden.shortest(row) for row in rows], rows


def main() -> None:
    set_up()
    rows = []
    for name in MODELS:
        model = golden.load(ROOT / name)
        answers = [(chunks, *embed(model, chunks)) for chunks in CHUNKS]
        double = model.double()
        for chunks, tokens, values, exact in answers:
            golden.check(name, exact, embed(double, chunks)[2])
            rows.append({"model": name, "chunks": chunks, "tokens": tokens, "values": values})
        print(name, [tokens for _, tokens, _, _ in answers])
    write_json(ROOT / "late-chunking.json", {"versions": versions()}, "answers", rows)


if __name__ == "__main__":
    main()
