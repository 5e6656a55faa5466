"""Which tiny encoders there are for embeddings, token classes and SPLADE."""

from dataclasses import dataclass, field

import tiny_tokenizers
from tiny_specs import Spec

SMALL = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
SMALL_DISTILBERT = {"dim": 16, "n_heads": 2, "hidden_dim": 32}


@dataclass(frozen=True)
class Family:
    name: str
    architecture: str
    tokenizer: object
    config: dict = field(default_factory=dict)

    def spec(self, num_labels: int = 3, seed: int = 1, **settings) -> Spec:
        sizes = SMALL_DISTILBERT if self.architecture == "DistilBert" else SMALL
        return Spec(
            name=self.name,
            architecture=self.architecture,
            tokenizer=self.tokenizer,
            num_labels=num_labels,
            seed=seed,
            config={**sizes, **self.config},
            tokenizer_settings=settings,
        )


DEBERTA = {
    "relative_attention": True,
    "position_buckets": 16,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "position_biased_input": False,
}

FAMILIES = [
    Family("albert", "Albert", tiny_tokenizers.save_albert, {"embedding_size": 8}),
    Family("bert", "Bert", tiny_tokenizers.save_bert),
    Family("camembert", "Camembert", tiny_tokenizers.save_camembert),
    Family("data2vec-text", "Data2VecText", tiny_tokenizers.save_roberta),
    Family("deberta-v2", "DebertaV2", tiny_tokenizers.save_deberta_v2, DEBERTA),
    Family("distilbert", "DistilBert", tiny_tokenizers.save_bert),
    Family("electra", "Electra", tiny_tokenizers.save_bert, {"embedding_size": 8}),
    Family("ernie", "Ernie", tiny_tokenizers.save_bert, {"use_task_id": True}),
    Family("modernbert", "ModernBert", tiny_tokenizers.save_modernbert, {"local_attention": 8}),
    Family("mpnet", "MPNet", tiny_tokenizers.save_bert),
    Family("roberta", "Roberta", tiny_tokenizers.save_roberta),
    Family("xlm-roberta", "XLMRoberta", tiny_tokenizers.save_xlm_roberta),
]
BERT = FAMILIES[1]

# Masked language models of other forms: the name of the directory, the family, its configuration.
MASKED_LM_VARIANTS = [
    ("deberta-v2-not-legacy", FAMILIES[4], {"legacy": False, "embedding_size": 16}),
    ("deberta-v2-narrow", FAMILIES[4], {"embedding_size": 8}),
    ("modernbert-biases", FAMILIES[8], {"classifier_bias": True, "norm_bias": True, "decoder_bias": False}),
    ("bert-untied", FAMILIES[1], {"tie_word_embeddings": False, "hidden_act": "relu"}),
]

POOLING_MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")


@dataclass(frozen=True)
class Layout:
    """One directory of sentence-transformers. `modules`: what stands behind the encoder, by the
    names of src/native/binding.ts. `version`: whose file names, types and keys it has."""

    name: str
    version: int
    modules: tuple[dict, ...]
    family: Family = BERT
    prompts: dict = field(default_factory=dict)
    default_prompt: str | None = None
    max_length: int | None = None
    binary: bool = False  # pytorch_model.bin in every folder
    seed: int = 1


def pooling(*modes: str, include_prompt: bool = True) -> dict:
    return {"type": "pooling", "modes": list(modes), "includePrompt": include_prompt}


def dense(inputs: int, outputs: int, activation: str, **settings) -> dict:
    return {
        "type": "dense",
        "inFeatures": inputs,
        "outFeatures": outputs,
        "bias": True,
        "activation": activation,
        "residual": False,
        **settings,
    }


NORMALIZE = {"type": "normalize"}

LAYOUTS = [
    Layout("v2-mean-normalize", 2, (pooling("mean"), NORMALIZE), binary=True, max_length=24),
    Layout("v2-mean-dense", 2, (pooling("mean"), dense(16, 8, "tanh")), FAMILIES[5], binary=True),
    Layout("v2-all-modes", 2, (pooling("cls", "max", "mean", "mean_sqrt_len_tokens"),)),
    Layout(
        "v3-cls-prompts",
        3,
        (pooling("cls"), NORMALIZE),
        FAMILIES[11],
        prompts={"query": "query: ", "passage": "passage: "},
        default_prompt="query",
    ),
    Layout("v4-weightedmean", 4, (pooling("weightedmean"),), FAMILIES[9]),
    Layout("v5-lasttoken", 5, (pooling("lasttoken"), NORMALIZE), FAMILIES[8]),
    Layout("v6-all-modes", 6, (pooling(*POOLING_MODES), NORMALIZE)),
    Layout("v6-max", 6, (pooling("max"),), FAMILIES[4]),
    Layout("v6-mean-sqrt-len", 6, (pooling("mean_sqrt_len_tokens"),), FAMILIES[10]),
    Layout(
        "v6-dense-layer-norm",
        6,
        (
            pooling("cls", "mean"),
            dense(32, 24, "gelu", residual=True),
            {"type": "layer-norm", "dimension": 24},
            dense(24, 24, "linear", bias=False, residual=True),
            dense(24, 8, "relu"),
            dense(8, 8, "sigmoid"),
            dense(8, 6, "silu"),
            NORMALIZE,
        ),
    ),
    Layout(
        "v6-without-prompt",
        6,
        (pooling(*POOLING_MODES, include_prompt=False), NORMALIZE),
        prompts={"query": "Represent the film: ", "none": ""},
        default_prompt="query",
    ),
    Layout("v6-tokens", 6, (dense(16, 8, "linear", bias=False), NORMALIZE)),
]
