"""Configurations of small encoders with random weights, for the fixtures of models that contain one."""

SIZE = 32
SIZES = {"hidden_size": SIZE, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}


def deberta(positions: int) -> dict:
    """config.json of a DeBERTa-v2 encoder. Relative positions let it read longer texts."""
    return {
        "model_type": "deberta-v2",
        "max_position_embeddings": positions,
        "relative_attention": True,
        "position_buckets": 16,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "type_vocab_size": 0,
        "layer_norm_eps": 1e-7,
        **SIZES,
    }


def bert(positions: int) -> dict:
    """config.json of a BERT encoder."""
    return {"model_type": "bert", "max_position_embeddings": positions, **SIZES}


def modernbert(positions: int) -> dict:
    """config.json of a ModernBERT encoder."""
    return {
        "model_type": "modernbert",
        "max_position_embeddings": positions,
        "global_attn_every_n_layers": 2,
        "local_attention": 16,
        **SIZES,
    }
