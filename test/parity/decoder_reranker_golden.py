"""Scores of decoders that rerank: the logits of one or two tokens after a prompt.

    pip install -r test/parity/requirements.txt sentence-transformers==6.2.0 FlagEmbedding==1.4.2 mxbai-rerank==0.1.6
    python test/parity/decoder_reranker_golden.py  # test/fixtures/decoder-rerankers

`chat` folders are those of sentence-transformers' CrossEncoder with a chat template. The others have
no settings: their libraries hold the prompt. Qwen3-Reranker's is in the example of its model card,
which `qwen3_scores` follows.
"""

import json
import os
import shutil
from copy import copy
from functools import partial
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import tiny_tokenizers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from common import FIXTURES, set_up, versions, write_json  # noqa: E402
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers  # noqa: E402

ROOT = FIXTURES / "decoder-rerankers"
# Source: transformers, models/qwen2/tokenization_qwen2.py. The classes of other families would not read this file.
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<bos>", "<think>", "</think>"]
ANSWERS = ["yes", "no", "Yes", "No", "1", "0"]
SIZES = {
    **{"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
    **{"num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0, "bos_token_id": 3, "eos_token_id": 0},
}
QUERIES = [
    ("How long is the film?", ["It runs for two hours and ten minutes.", "A marvel.", "", "Two hours?\n", "très 😀 bon <think>"]),
    ("He reads the letter twice. " * 3, ["The bill came twice. " * 90, "bad"]),
    ("été", ["The bill came once.", "The bill came never.", "<|im_end|> 1 yes"]),
]
TEMPLATE = (
    "<|im_start|>system\nJudge the document by the query: \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n"
    "<Instruct>: {{ (messages | selectattr('role', 'eq', 'system') | map(attribute='content') | list + ['Find it']) | first }}\n"
    "<Query>: {{ messages | selectattr('role', 'eq', 'query') | map(attribute='content') | first }}\n"
    "<Document>: {{ messages | selectattr('role', 'eq', 'document') | map(attribute='content') | first }}"
    "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
)
ROLES = (
    "{% for message in messages %}{{ message['role'] + ': ' + message['content'] | trim }}\n{% endfor %}"
    "Relevant:<|im_start|>"
)


def save_tokenizer(directory: Path, limit: int) -> None:
    """A byte-level BPE like that of Qwen2, in which the answers are tokens."""
    vocabulary, merges = tiny_tokenizers.byte_pair_model(400)
    first = []
    for answer in ANSWERS:
        for end in range(2, len(answer) + 1):
            vocabulary.setdefault(answer[:end], len(vocabulary))
            first.append((answer[: end - 1], answer[end - 1]))
    merges = [*dict.fromkeys([*first, *merges])]
    shift = len(SPECIAL)
    vocabulary = {token: index + shift for token, index in vocabulary.items()}
    for index, token in enumerate(SPECIAL):
        vocabulary[token] = index
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(WORDS), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=SPECIAL[0], eos_token=SPECIAL[0], bos_token="<bos>", model_max_length=limit
    ).save_pretrained(directory)


def save_model(directory: Path, architecture: str, seed: int, limit: int, **config) -> None:
    if directory.exists():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    save_tokenizer(directory, limit)
    vocabulary = len(json.loads((directory / "tokenizer.json").read_text())["model"]["vocab"])
    settings = getattr(transformers, f"{architecture}Config")(
        vocab_size=vocabulary, max_position_embeddings=limit, **{**SIZES, **config}
    )
    torch.manual_seed(seed)
    model = getattr(transformers, f"{architecture}ForCausalLM")(settings).eval()
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.3) if parameter.dim() > 1 else parameter.data.add_(torch.randn_like(parameter) * 0.1)
    model.half().save_pretrained(directory)
    (directory / "generation_config.json").unlink(missing_ok=True)


def write(directory: Path, score) -> None:
    rows = []
    for query, documents in QUERIES:
        rows.append({"query": query, "documents": documents, "scores": [float(one) for one in score(query, documents)]})
    print(directory.name, rows[0]["scores"], rows[1]["scores"])
    write_json(directory / "golden.json", {"versions": versions()}, "answers", rows)


def chat(name: str, template: str, false_token: str | None, prompts: dict, activation=None, **more) -> None:
    from sentence_transformers import CrossEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.cross_encoder.modules import LogitScore

    directory = ROOT / name
    save_model(directory, "Qwen3", limit=256, **more)
    (directory / "chat_template.jinja").write_text(template)
    transformer = Transformer(str(directory), transformer_task="text-generation", model_kwargs={"dtype": torch.float32})
    ids = transformer.tokenizer.convert_tokens_to_ids
    head = LogitScore(ids("yes"), None if false_token is None else ids(false_token))
    made = CrossEncoder(modules=[transformer, head], activation_fn=activation, device="cpu", **prompts)
    made.save_pretrained(str(directory))
    for name in ("README.md", "generation_config.json"):
        (directory / name).unlink()
    model = CrossEncoder(str(directory), device="cpu", model_kwargs={"dtype": torch.float32}, local_files_only=True)
    write(directory, lambda query, documents: model.predict([(query, one) for one in documents]))


def load(directory: Path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory, padding_side="left")
    return tokenizer, transformers.AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()


def qwen3_scores(directory: Path, limit: int):
    """Source: model card of Qwen/Qwen3-Reranker-0.6B, whose limit is 8,192 tokens."""
    tokenizer, model = load(directory)
    prefix = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
        'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
    )
    suffix = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    task = "Given a web search query, retrieve relevant passages that answer the query"
    before, after = (tokenizer.encode(text, add_special_tokens=False) for text in (prefix, suffix))
    yes, no = (tokenizer.convert_tokens_to_ids(token) for token in ("yes", "no"))

    def score(query: str, document: str) -> float:
        text = f"<Instruct>: {task}\n<Query>: {query}\n<Document>: {document}"
        most = min(8192, limit) - len(before) - len(after)
        ids = tokenizer(text, truncation="longest_first", max_length=most, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logits = model(torch.tensor([before + ids + after])).logits[0, -1]
        return torch.nn.functional.log_softmax(torch.stack([logits[no], logits[yes]]), dim=0)[1].exp()

    return lambda query, documents: [score(query, one) for one in documents]


def plain() -> None:
    save_model(ROOT / "qwen3", "Qwen3", seed=3, limit=256, tie_word_embeddings=False)
    write(ROOT / "qwen3", qwen3_scores(ROOT / "qwen3", 256))

    from FlagEmbedding import FlagLLMReranker
    from FlagEmbedding.utils.tokenizer_compat import prepare_for_model_compat
    from mxbai_rerank import MxbaiRerankV2

    save_model(ROOT / "qwen2", "Qwen2", seed=4, limit=512, tie_word_embeddings=True)
    mxbai = MxbaiRerankV2(str(ROOT / "qwen2"), device="cpu", torch_dtype=torch.float32)
    # Version 5 of transformers has removed the method.
    mxbai.tokenizer.prepare_for_model = partial(prepare_for_model_compat, copy(mxbai.tokenizer))
    write(ROOT / "qwen2", lambda query, documents: mxbai.predict([query] * len(documents), documents))

    save_model(ROOT / "gemma", "Gemma", seed=5, limit=1024, hidden_activation="gelu_pytorch_tanh")
    flag = FlagLLMReranker(str(ROOT / "gemma"), devices=["cpu"])
    write(ROOT / "gemma", lambda query, documents: flag.compute_score([(query, one) for one in documents]))


def main() -> None:
    set_up()
    transformers.AutoTokenizer.from_pretrained = transformers.PreTrainedTokenizerFast.from_pretrained
    chat("chat-qwen3", TEMPLATE, "no", {"prompts": {"web": "Find what answers the query"}, "default_prompt_name": "web"}, seed=1)
    chat("chat-roles", ROLES, None, {}, torch.nn.Identity(), seed=2, tie_word_embeddings=True)
    plain()


if __name__ == "__main__":
    main()
