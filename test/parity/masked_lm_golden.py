"""Dense embeddings of masked language models without modules.json, by sentence-transformers: mean pooling.

    pip install -r test/parity/requirements.txt
    python test/parity/masked_lm_golden.py  # test/fixtures/embeddings/masked-lm.json

The models are those of test/fixtures/embeddings/splade, without the files of sentence-transformers.
"""

import shutil
import tempfile
from pathlib import Path

import embedding_golden as golden
import tiny_models
from common import FIXTURES, set_up, versions, write_json
from texts import TEXTS

ROOT = FIXTURES / "embeddings"
INDICES = [0, 5, 7, 27, 44]  # of TEXTS
FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]


def main() -> None:
    set_up()
    rows = []
    for source in sorted((ROOT / "splade").iterdir()):
        with tempfile.TemporaryDirectory() as folder:
            directory = Path(folder) / source.name
            directory.mkdir()
            for name in FILES:
                shutil.copy(source / name, directory / name)
            model = golden.load(directory)
        model.max_seq_length = tiny_models.POSITION_LIMIT
        texts = [TEXTS[index][1] for index in INDICES]
        vectors = [model.encode(text, convert_to_tensor=True) for text in texts]
        assert [type(module).__name__ for module in model] == ["Transformer", "Pooling"], model
        double = model.double()
        for index, text, vector in zip(INDICES, texts, vectors):
            golden.check(source.name, vector, double.encode(text, convert_to_tensor=True))
            rows.append({"model": source.name, "text": index, "values": golden.shortest(vector)})
    write_json(ROOT / "masked-lm.json", {"versions": versions()}, "answers", rows)
    print(len(rows))


if __name__ == "__main__":
    main()
