"""Runs the functions of a script that are called check_…, and prints what came of each as JSON."""

import json
import sys
import traceback
import urllib.request

import numpy as np


class Service:
    """The service under test, and what its own batch route answers."""

    def __init__(self, name, http_port, grpc_port):
        self.name = name
        self.http = f"127.0.0.1:{http_port}"
        self.grpc = f"127.0.0.1:{grpc_port}"
        self.is_text = name == "sentiment"
        self.input = "TEXT" if self.is_text else "SIGNAL"
        self.datatype = "BYTES" if self.is_text else "FP32"
        self.top = "LABEL" if self.is_text else "DIAGNOSIS"
        self.score = "SCORE" if self.is_text else "CONFIDENCE"

    def elements(self, count):
        """As the model takes them: texts as objects, or float32 windows of 256 samples."""
        if self.is_text:
            words = ["a warm film", "dull", "été ☃ 😀", "not good, not bad"]
            return np.array([f"{words[i % 4]} {i}" for i in range(count)], dtype=object)
        steps = np.arange(256)
        return np.stack(
            [np.sin(steps / (3 + i)) * 20 + np.cos(steps / 7) for i in range(count)]
        ).astype(np.float32)

    @property
    def inputs(self):
        """Names of all inputs, optional ones too."""
        return ["TEXT", "TEXT_PAIR"] if self.is_text else ["SIGNAL"]

    def expected(self, elements, pairs=None):
        """Of the service's own batch route: names, scores and the probabilities of all labels."""
        if self.is_text:
            texts = list(elements)
            if pairs is not None:
                texts = [{"text": a, "text_pair": b} for a, b in zip(elements, pairs)]
            path, body = "/analyze/batch", {"texts": texts}
        else:
            path, body = "/predict/batch", {"signals": [list(map(float, e)) for e in elements]}
        request = urllib.request.Request(
            f"http://{self.http}{path}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            results = json.load(response)["results"]
        top, score = ("label", "score") if self.is_text else ("diagnosis", "confidence")
        return (
            [result[top] for result in results],
            [result[score] for result in results],
            [result["probabilities"] for result in results],
        )

    def check_answer(self, result, elements, pairs=None):
        """`result`: with as_numpy, of all outputs."""
        names, scores, probabilities = self.expected(elements, pairs)
        assert texts(result.as_numpy(self.top)) == names, (result.as_numpy(self.top), names)
        near(result.as_numpy(self.score), scores)
        near(result.as_numpy("PROBABILITIES"), [list(row.values()) for row in probabilities])


def texts(array):
    """BYTES come as bytes from binary data, and as str from JSON."""
    return [e.decode() if isinstance(e, bytes) else str(e) for e in array.reshape(-1)]


def near(array, expected):
    """The service's own routes round to four decimals."""
    assert array.shape == np.shape(expected), (array.shape, np.shape(expected))
    np.testing.assert_allclose(array, expected, atol=6e-5, rtol=0)


def fails(call, status, message):
    """`call` ends with an error of this status, whose message begins like that."""
    try:
        call()
    except Exception as error:  # every client has its own
        found = (str(error.status()), error.message())
        assert found[0] == status and found[1].startswith(message), found
    else:
        raise AssertionError(f"no error: expected {message}")


def run(namespace):
    service = Service(*sys.argv[1:4])
    results = {}
    for name, check in namespace.items():
        if not name.startswith("check_"):
            continue
        try:
            check(service)
            results[name] = "ok"
        except Exception:
            results[name] = traceback.format_exc()
    print(json.dumps(results))
