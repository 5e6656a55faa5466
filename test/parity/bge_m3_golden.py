"""A tiny bge-m3 with the answers of FlagEmbedding.

    pip install -r test/parity/requirements.txt FlagEmbedding==1.4.2
    python test/parity/bge_m3_golden.py  # test/fixtures/embeddings/bge-m3
"""

import json
import shutil

import tiny_models
import tiny_tokenizers
import torch
import transformers
from common import FIXTURES, set_up, versions, write_json
from FlagEmbedding.inference.embedder.encoder_only.m3 import M3Embedder
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from texts import TEXTS
from tiny_specs import Spec

ROOT = FIXTURES / "embeddings" / "bge-m3"
SIZE = 16


def save() -> None:
    shutil.rmtree(ROOT, ignore_errors=True)
    source = ROOT.with_suffix(".source")
    source.mkdir(parents=True)
    sizes = {"hidden_size": SIZE, "num_attention_heads": 2, "intermediate_size": 32}
    limit = {"model_max_length": tiny_models.POSITION_LIMIT}
    count = tiny_tokenizers.save_xlm_roberta(source, tiny_models.VOCABULARY_SIZE, **limit)
    spec = Spec("bge-m3", "XLMRoberta", None, 1, 2, config=sizes)
    model = transformers.XLMRobertaModel(tiny_models.configuration(spec, count), add_pooling_layer=False).eval()
    tiny_models.randomize(model, 2)
    model.save_pretrained(source)
    modules = [Transformer(str(source)), Pooling(SIZE, "cls"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(ROOT), create_model_card=False)
    shutil.rmtree(source)
    tiny_models.compact(ROOT / "tokenizer.json")
    torch.manual_seed(3)
    sparse = torch.nn.Linear(SIZE, 1)
    torch.nn.init.constant_(sparse.bias, 0.5)  # most weights are above 0
    torch.save(sparse.state_dict(), ROOT / "sparse_linear.pt")
    torch.save(torch.nn.Linear(SIZE, SIZE).state_dict(), ROOT / "colbert_linear.pt")


def shortest(values) -> list:
    return [float(str(value)) for value in torch.as_tensor(values).float().flatten().numpy()]


def main() -> None:
    set_up()
    save()
    model = M3Embedder(str(ROOT), use_fp16=False, devices="cpu")
    parts = {"return_dense": True, "return_sparse": True, "return_colbert_vecs": True}
    rows = []
    for _, text in TEXTS:
        answer = model.encode([text], max_length=tiny_models.POSITION_LIMIT, **parts)
        weights = {id_: float(str(weight)) for id_, weight in answer["lexical_weights"][0].items()}
        vectors = answer["colbert_vecs"][0]
        rows.append(
            {"dense": shortest(answer["dense_vecs"][0]), "sparse": weights, "colbert": [shortest(one) for one in vectors]}
        )
    # Two texts of different length, padded together.
    both = [TEXTS[0][1], TEXTS[27][1]]
    answer = model.encode(both, max_length=tiny_models.POSITION_LIMIT, **parts)
    scores = {
        "lexical": float(model.compute_lexical_matching_score(*answer["lexical_weights"])),
        "colbert": float(model.colbert_score(*answer["colbert_vecs"])),
    }
    write_json(ROOT / "golden.json", {"versions": versions(), "scores": scores}, "answers", rows)
    print(len(rows), scores, json.dumps(rows[0])[:300])


if __name__ == "__main__":
    main()
