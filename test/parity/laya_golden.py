"""Tiny Laya models with the sequences and probabilities of the package laya.

    pip install -r test/parity/requirements.txt && pip install --no-deps laya==0.4.15
    python test/parity/laya_golden.py  # test/fixtures/laya
"""

import json
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy
import tiny_models
import tiny_tokenizers
import torch
from common import FIXTURES, floats, set_up, versions, write_json
from laya import Agent
from laya.common import DecisionModel, collate_items, temp_bucket
from safetensors.torch import save_file
from transformers import AutoModel, BertConfig, ModernBertConfig

ROOT = FIXTURES / "laya"
SIZES = {"num_hidden_layers": 2, "max_position_embeddings": 128, "pad_token_id": 0}
LOCAL = {"global_attn_every_n_layers": 2, "local_attention": 16}
THETA = {"rope_theta": 160000.0, "rope_type": "default"}
SMALL = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 48}
# Temperatures of the English checkpoint; the last one is clamped.
TEMPERATURES = {
    "temperature": [1.6369, 1.2514, 1.9834],
    "temperature_by_options": {"choice:2": 1.9064, "choice:3-5": 1.7602, "choice:11+": 0.1006, "score:3-5": 7, "noul:2": None},
}
# Name: tokenizer, encoder, settings of Laya, data type of the weights.
MODELS = {
    "english": (
        tiny_tokenizers.save_modernbert,
        lambda count: ModernBertConfig(
            vocab_size=count,
            **{**SIZES, "num_hidden_layers": 3},
            **LOCAL,
            hidden_size=128,
            num_attention_heads=4,
            intermediate_size=64,
        ),
        {"head_layers": 1, "max_len": 96, "head_max_len": 56, "act_costs": {}, **TEMPERATURES},
        torch.float16,
    ),
    "multilingual": (
        tiny_tokenizers.save_xlm_roberta,
        lambda count: ModernBertConfig(
            vocab_size=count,
            **SIZES,
            **LOCAL,
            **SMALL,
            rope_parameters={"full_attention": THETA, "sliding_attention": THETA},
        ),
        {"head_layers": 2, "max_len": 128, "head_max_len": 64, "act_costs": {"ask": 0.1}},
        torch.float32,
    ),
    "without-layers": (
        tiny_tokenizers.save_bert,
        lambda count: BertConfig(vocab_size=count, **SIZES, **SMALL),
        {"head_layers": 0, "max_len": 100, "head_max_len": 40, "temperature": [0.2, 1, "2.5"]},
        torch.float32,
    ),
}
# Options at the same positions, in layers with a window and without.
MODELS["parallel"] = (
    tiny_tokenizers.save_modernbert,
    lambda count: ModernBertConfig(
        vocab_size=count,
        **{**SIZES, "num_hidden_layers": 4},
        **LOCAL,
        hidden_size=64,
        num_attention_heads=2,
        intermediate_size=48,
    ),
    {"head_layers": 1, "max_len": 112, "head_max_len": 64, "act_costs": {"ask": 0.1, "wait": 0.2}, "option_layout": "parallel"},
    torch.float32,
)
STATES = [
    "A warm, funny film that the whole family can watch together.",
    "",
    "Refund request: the order 4711 arrived late — and broken! 😀 日本 e\u0301",
    "The train was late. " * 40,
    ["first turn " * 60, "last turn"],
    {"order": 4711, "paid": True, "note": "späť"},
    "a [MASK] <mask> [SEP] b",
]
# States that laya reads in windows, and names of questions.
LONG_STATES = [STATES[3], "The film was late. A warm train, and a refund of the order 4711! " * 12, "no window"]
LONG_QUESTIONS = ["yes", "criteria", "two", "seven", "scale"]
MANY = [f"topic {index}" for index in range(12)]
LONG = "a description that goes on and on with film after film " * 12
INPUTS = ("input_ids", "attention_mask", "marker_pos", "marker_mask", "qtype", "position_ids", "option_ids")
QUESTIONS = {
    "yes": {"type": "noul", "instructions": "Is the text about a film?"},
    "criteria": {"type": "noul", "instructions": "Positive?", "criteria": {"true": "praises", "false": "complains"}},
    "one": {"type": "noul", "instructions": "Ok [MASK] <mask>?", "criteria": {"true": "it is"}},
    "two": {"type": "choice", "instructions": "Topic", "criteria": {"film": None, "refund": "money back"}},
    "single": {"type": "choice", "instructions": "Topic", "criteria": {"film": ""}},
    "four": {"type": "choice", "instructions": "Which?", "criteria": {"a": "first", "b": "", "c": "third", "d": None}},
    "seven": {"type": "choice", "instructions": "Which of seven?", "criteria": dict.fromkeys(MANY[:7])},
    "scale": {"type": "score", "instructions": "Urgency", "criteria": ["none", "some", "high"]},
    "long": {"type": "choice", "instructions": LONG, "criteria": {"a": LONG, "b": "short"}},
    "many": {"type": "choice", "instructions": LONG, "criteria": dict.fromkeys(MANY)},
}


def make(name: str, seed: int) -> Path:
    make_tokenizer, encoder_config, settings, dtype = MODELS[name]
    folder = ROOT / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tokenizer").mkdir(parents=True)
    count = make_tokenizer(folder / "tokenizer", tiny_models.VOCABULARY_SIZE, model_max_length=128)
    config = encoder_config(count)
    config.save_pretrained(folder / "encoder")
    model = DecisionModel(AutoModel.from_config(config), settings["head_layers"], len(settings.get("act_costs", {})) + 1)
    tiny_models.randomize(model, seed)
    generator = torch.Generator().manual_seed(seed + 100)
    with torch.no_grad():
        for key, parameter in sorted(model.named_parameters()):
            if not key.startswith("encoder.") and parameter.dim() > 1:
                noise = torch.randn(parameter.shape, generator=generator)
                parameter.copy_((2.5 if key == "scorer.3.weight" else 1.2) / parameter.shape[-1] ** 0.5 * noise)
    save_file({key: value.to(dtype).contiguous() for key, value in model.state_dict().items()}, folder / "model.safetensors")
    text = json.dumps({"encoder": name, "option_layout": "sequential", **settings}, indent=2)
    (folder / "rl_agent_config.json").write_text(text + "\n")
    tiny_models.compact(folder / "tokenizer/tokenizer.json")
    return folder


def rows_of(agent: Agent) -> list[dict]:
    rows = []
    internal = {name: agent._to_internal(question) for name, question in QUESTIONS.items()}
    names = list(QUESTIONS)
    for index, state in enumerate(STATES):
        items = agent._encode_state(state, names, internal)
        rounded = agent.system_one(state, QUESTIONS)
        for name, item in zip(names, items):
            batch = collate_items([[item]], agent.tok.pad_token_id)
            inputs = {key: batch[key] for key in INPUTS if key in batch}
            with torch.no_grad():
                logits, act = agent.model(**inputs)
            logits, act = logits[0, : len(item["markers"])], torch.softmax(act[0].float(), -1)
            count, kind = len(item["markers"]), item["qtype"]
            temperature = agent.temperature_by_options.get(temp_bucket(kind, count), agent.temperature[kind])
            z = logits.numpy() / temperature
            p = numpy.exp(z - z.max())
            p /= p.sum()
            answer = rounded["answers"][name] if "answers" in rounded else rounded[name]
            expected = [1 - answer["noul"], answer["noul"]] if "noul" in answer else list(answer["probabilities"].values())
            assert numpy.allclose(p, expected, atol=6e-5), (name, p, expected)
            assert abs(answer["action"]["act_probability"] - float(act[0])) <= 6e-5
            rows.append({
                "state": index,
                "question": name,
                "ids": item["ids"],
                "markers": item["markers"],
                "is_truncated": item["state_stats"]["truncated"],
                "act_probability": float(act[0]),
                "probabilities": floats(torch.from_numpy(p)),
            })
    return rows


def long_rows_of(agent: Agent) -> list[dict]:
    """Answers to questions about long states, rounded to four decimals."""
    rows = []
    for index, state in enumerate(LONG_STATES):
        for names in ([name] for name in LONG_QUESTIONS):
            result = agent.predict_long(state, {name: QUESTIONS[name] for name in names})
            for name in names:
                answer = result["answers"][name]
                window = answer.get("window", {"index": None, "count": 1})
                rows.append({
                    "state": index,
                    "question": name,
                    "window": window["index"],
                    "windows": window["count"],
                    "act_probability": answer["action"]["act_probability"],
                    "probabilities": [1 - answer["noul"], answer["noul"]] if "noul" in answer else list(answer["probabilities"].values()),
                })
    # The questions that leave the least room determine the windows of all.
    assert {row["windows"] for row in rows if row["state"] < 2} != {1}
    return rows


def is_spread(rows: list[dict]) -> bool:
    """Some random weights give nearly the same answer to all questions, or are certain."""
    yes = [row["probabilities"][1] for row in rows if row["question"] in ("yes", "criteria")]
    return max(yes) - min(yes) > 0.03 and min(yes) > 0.01 and max(yes) < 0.99


def main() -> None:
    set_up()
    shutil.rmtree(ROOT, ignore_errors=True)
    for name in MODELS:
        agents = (Agent(str(make(name, seed)), device="cpu") for seed in range(1, 100))
        agent, rows = next((one, rows) for one in agents if is_spread(rows := rows_of(one)))
        serialized = [state if isinstance(state, str) else json.dumps(state, ensure_ascii=False) for state in STATES]
        head = {
            "versions": {**versions(), "laya": version("laya")},
            "states": serialized,
            "left": [isinstance(state, list) for state in STATES],
            "questions": QUESTIONS,
            "long_states": LONG_STATES,
            "long_answers": long_rows_of(agent),
        }
        write_json(ROOT / name / "golden.json", head, "answers", rows)
        print(name, len(rows), "answers")


if __name__ == "__main__":
    main()
