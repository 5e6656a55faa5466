"""Writes the golden files that the parity tests compare with, and the tiny models they belong to.

How to run it (never needed to build, run or test the project; a few minutes, any CPU):

    python3 -m venv .venv && . .venv/bin/activate
    pip install -r test/parity/requirements.txt
    python test/parity/make_golden.py                                        # test/fixtures/{models,eeg,…}
    python test/parity/make_golden.py --shipped models/sentiment models/eeg  # test/fixtures/shipped-*.json
    python test/parity/make_golden.py --pairs                                # test/fixtures/pairs
    python test/parity/make_golden.py --embeddings                           # test/fixtures/embeddings
    python test/parity/make_golden.py --minilm all-MiniLM-L6-v2              # test/fixtures/all-minilm-l6-v2.json
    python test/parity/make_golden.py --tagging                              # test/fixtures/tagging
    python test/parity/make_golden.py --model-keys                           # test/fixtures/model-keys
    python test/parity/make_golden.py --lora                                 # test/fixtures/lora
    python test/parity/make_golden.py --exported-heads                       # test/fixtures/{tagging,reranking}/exported-*

The first form makes, in test/fixtures/:
    models/<name>/            a tiny random model as save_pretrained writes it, in varied forms
    texts.json                the texts that all of those models are asked
    models/<name>/golden.json for each text input_ids, logits, label and score by transformers
    eeg/<name>.pt             tiny TorchScript files, good and bad ones
    eeg/windows.json          raw windows with their z-normalized values from exact arithmetic
    eeg/short-windows-golden.json  windows and answers of the model with settings of its own
    eeg/golden.json           logits and probabilities by torch for each good file and window
    hostile-scripts/*.pt      TorchScript files that do what no classifier does
    archives/*.bin            checkpoints that must be refused, and small ones of every form
    torchscript-texts/*.pt    TorchScript text models that must be refused
    tokenizers/<name>/        tokenizers without tokenizer.json, with their input_ids by transformers
    models/exported-<name>/   text models that scripts/export.py exported, with golden answers of the models themselves
    exported/signals/         signal models as torch.export writes them, with golden.json
    pairs/                    tokens and answers by transformers for two texts at once
    embeddings/               encoders with answers of sentence-transformers: embeddings, SPLADE, classes of tokens
    model-keys/               what keys of a model's files change, with the answers of the reference
    lora/                     LoRA adapters and their bases, with the answers of peft
    tagging/<name>/           tiny token classifiers, with the spans that the pipeline of transformers finds
    tagging/exported-<name>/, reranking/exported-<name>/  the same of token classifiers and cross-encoders that
                              scripts/export.py exported
exported/versions/ is made by exported_versions.py, in environments of their own.
The second form only computes answers of the shipped models, the third those for pairs, the fourth what
is in embeddings/, the fifth the vectors of the model that test/golden/python/requirements.txt names. A second run with the versions of
requirements.txt gives the same numbers; the bytes of scripted .pt files may differ (names that
TorchScript makes up).
"""

import argparse
import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import archives  # noqa: E402
import eeg_golden  # noqa: E402
import embedding_golden  # noqa: E402
import exported_embeddings  # noqa: E402
import exported_golden  # noqa: E402
import exported_heads  # noqa: E402
import hostile_scripts  # noqa: E402
import late_interaction_golden  # noqa: E402
import lora_golden  # noqa: E402
import model_keys_golden  # noqa: E402
import pair_golden  # noqa: E402
import shipped  # noqa: E402
import stanford_golden  # noqa: E402
import tagging_golden  # noqa: E402
import text_golden  # noqa: E402
import tokenizer_golden  # noqa: E402
import torchscript_models  # noqa: E402
from common import FIXTURES, set_up  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--shipped",
        nargs=2,
        type=Path,
        metavar=("SENTIMENT_DIR", "EEG_DIR"),
        help="only compute the answers of these two shipped models",
    )
    parser.add_argument("--only", help="only the text model of this name")
    parser.add_argument("--tagging", action="store_true", help="only what belongs to token classifiers")
    parser.add_argument("--exported-heads", action="store_true", help="only exported token classifiers and cross-encoders")
    parser.add_argument("--pairs", action="store_true", help="only what belongs to pairs of texts")
    parser.add_argument("--embeddings", action="store_true", help="only test/fixtures/embeddings")
    parser.add_argument("--model-keys", action="store_true", help="only test/fixtures/model-keys")
    parser.add_argument("--lora", action="store_true", help="only test/fixtures/lora")
    parser.add_argument("--minilm", type=Path, metavar="DIR", help="only test/fixtures/all-minilm-l6-v2.json")
    arguments = parser.parse_args()
    set_up()
    if arguments.pairs:
        pair_golden.make(FIXTURES / "pairs")
        return
    if arguments.minilm:
        embedding_golden.make_known(arguments.minilm, FIXTURES / "all-minilm-l6-v2.json")
        return
    if arguments.embeddings:
        embedding_golden.make(FIXTURES / "embeddings")
        late_interaction_golden.make(FIXTURES / "embeddings" / "late-interaction")
        stanford_golden.make(FIXTURES / "embeddings" / "late-interaction")
        exported_embeddings.make(FIXTURES / "embeddings" / "exported")
        return
    if arguments.model_keys:
        model_keys_golden.make(FIXTURES / "model-keys")
        return
    if arguments.lora:
        lora_golden.make(FIXTURES / "lora")
        return
    if arguments.tagging:
        tagging_golden.make(FIXTURES / "tagging")
        return
    if arguments.exported_heads:
        exported_heads.make(FIXTURES)
        return
    if arguments.shipped:
        shipped.make(*arguments.shipped, FIXTURES)
        return
    text_golden.make(FIXTURES / "models", arguments.only)
    if not arguments.only:
        eeg_golden.make(FIXTURES / "eeg")
        hostile_scripts.make(FIXTURES / "hostile-scripts")
        archives.make(FIXTURES / "archives")
        tokenizer_golden.make(FIXTURES / "tokenizers")
        torchscript_models.make_bad(FIXTURES / "torchscript-texts")
        exported_golden.make(FIXTURES / "exported/signals")
        pair_golden.make(FIXTURES / "pairs")
        embedding_golden.make(FIXTURES / "embeddings")
        late_interaction_golden.make(FIXTURES / "embeddings" / "late-interaction")
        stanford_golden.make(FIXTURES / "embeddings" / "late-interaction")
        exported_embeddings.make(FIXTURES / "embeddings" / "exported")
        tagging_golden.make(FIXTURES / "tagging")
        exported_heads.make(FIXTURES)
        model_keys_golden.make(FIXTURES / "model-keys")
        lora_golden.make(FIXTURES / "lora")


if __name__ == "__main__":
    main()
