"""tritonclient.http against a service: arguments are its name, its port and that of gRPC."""

from itertools import product

import numpy as np
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
from harness import fails, near, run, texts


def client_of(service, **options):
    return triton.InferenceServerClient(service.http, **options)


def tensor(service, elements, binary=True, datatype=None, shape=None, name=None):
    shape = list(shape or elements.shape)
    given = triton.InferInput(name or service.input, shape, datatype or service.datatype)
    return given.set_data_from_numpy(elements.reshape(shape), binary_data=binary)


def check_health(service):
    client = client_of(service)
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready(service.name) and client.is_model_ready(service.name, "1")
    assert not client.is_model_ready(service.name, "2") and not client.is_model_ready("other")


def check_metadata(service):
    client = client_of(service)
    server = client.get_server_metadata()
    assert server["name"] == "libtorch-serve" and "binary_tensor_data" in server["extensions"]
    metadata = client.get_model_metadata(service.name)
    assert metadata == client.get_model_metadata(service.name, "1")
    assert (metadata["name"], metadata["versions"]) == (service.name, ["1"])
    assert [t["name"] for t in metadata["inputs"]] == service.inputs
    outputs = {t["name"]: t["shape"] for t in metadata["outputs"]}
    assert outputs[service.top] == [-1] and outputs["PROBABILITIES"][0] == -1
    config = client.get_model_config(service.name)
    assert [t["dims"] for t in config["input"]] == [t["shape"] for t in metadata["inputs"]]
    fails(lambda: client.get_model_metadata("other"), "404", "Path not found")


def check_statistics(service):
    client = client_of(service)
    count = lambda: client.get_inference_statistics(service.name)["model_stats"][0]
    before = count()
    client.infer(service.name, [tensor(service, service.elements(3))])
    after = count()
    assert after["inference_count"] == before["inference_count"] + 3
    success = after["inference_stats"]["success"]
    assert success["count"] == after["inference_count"] and success["ns"] > 0
    assert sum(b["compute_infer"]["count"] for b in after["batch_stats"]) <= after["execution_count"]
    assert client.get_inference_statistics()["model_stats"][0]["name"] == service.name


def check_binary_and_json(service):
    client, elements = client_of(service), service.elements(3)
    names = [service.top, service.score, "PROBABILITIES"]
    for sent, received in product((True, False), repeat=2):
        outputs = [triton.InferRequestedOutput(n, binary_data=received) for n in names]
        result = client.infer(service.name, [tensor(service, elements, sent)], outputs=outputs)
        service.check_answer(result, elements)
        for output in result.get_response()["outputs"]:
            assert ("data" in output) != received, output
    # By default everything is binary.
    result = client.infer(service.name, [tensor(service, elements)], model_version="1")
    service.check_answer(result, elements)
    assert all("data" not in output for output in result.get_response()["outputs"])


def check_mixed_outputs(service):
    client, elements = client_of(service), service.elements(2)
    outputs = [
        triton.InferRequestedOutput("PROBABILITIES", binary_data=True),
        triton.InferRequestedOutput(service.top, binary_data=False),
        triton.InferRequestedOutput(service.score, binary_data=True),
    ]
    result = client.infer(service.name, [tensor(service, elements)], outputs=outputs)
    service.check_answer(result, elements)
    found = [output["name"] for output in result.get_response()["outputs"]]
    assert found == ["PROBABILITIES", service.top, service.score], found


def check_shapes(service):
    client, elements = client_of(service), service.elements(2)
    shape = (2, 1) if service.is_text else (2, 1, 256)
    for binary in (True, False):
        given = tensor(service, elements, binary, shape=shape)
        service.check_answer(client.infer(service.name, [given]), elements)
    empty = client.infer(service.name, [tensor(service, elements[:0])])
    assert empty.as_numpy(service.top).shape == (0,)
    assert empty.as_numpy("PROBABILITIES").shape[0] == 0


def check_data_types(service):
    client = client_of(service)
    if service.is_text:
        raw = np.array([text.encode() for text in service.elements(2)], dtype=object)
        service.check_answer(client.infer(service.name, [tensor(service, raw)]), service.elements(2))
        fails(
            lambda: client.infer(
                service.name, [tensor(service, np.array([b"a", b"\xff"], dtype=object))]
            ),
            "400",
            "TEXT[1]: is not valid UTF-8",
        )
        return
    elements = service.elements(2)
    for binary in (True, False):
        double = elements.astype(np.float64)
        given = tensor(service, double, binary, "FP64")
        service.check_answer(client.infer(service.name, [given]), elements)
    half = elements.astype(np.float16)
    fails(
        lambda: client.infer(service.name, [tensor(service, half, datatype="FP16")]),
        "400",
        "inputs[0].datatype: expected FP32 or FP64 for SIGNAL",
    )


def check_pairs(service):
    if not service.is_text:
        return
    client, first = client_of(service), service.elements(3)
    second = np.array(["it is warm", "", "été"], dtype=object)
    for binary in (True, False):
        given = [tensor(service, first, binary), tensor(service, second, binary, name="TEXT_PAIR")]
        for inputs in (given, given[::-1]):
            service.check_answer(client.infer(service.name, inputs), first, second)


def check_request_id(service):
    client, given = client_of(service), tensor(service, service.elements(1))
    for request_id in ("42", "été"):
        answer = client.infer(service.name, [given], request_id=request_id).get_response()
        assert answer["id"] == request_id
    answer = client.infer(service.name, [given]).get_response()
    assert "id" not in answer and answer["model_name"] == service.name
    assert answer["model_version"] == "1"


def check_classification(service):
    client, elements = client_of(service), service.elements(2)
    _, _, probabilities = service.expected(elements)
    labels = list(probabilities[0])
    for count, binary in product((1, 2, 99), (True, False)):
        wanted = triton.InferRequestedOutput("PROBABILITIES", binary, class_count=count)
        result = client.infer(service.name, [tensor(service, elements)], outputs=[wanted])
        found = result.as_numpy("PROBABILITIES")
        assert found.shape == (2, min(count, len(labels))), found.shape
        for row, of in zip(found, probabilities):
            split = [text.split(":", 2) for text in texts(row)]
            near(np.array([float(s) for s, _, _ in split]), [of[label] for _, _, label in split])
            assert all(labels[int(index)] == label for _, index, label in split)
            scores = [float(s) for s, _, _ in split]
            assert scores == sorted(scores, reverse=True)
    fails(
        lambda: client.infer(
            service.name,
            [tensor(service, elements)],
            outputs=[triton.InferRequestedOutput(service.top, class_count=1)],
        ),
        "400",
        "outputs[0].parameters.classification: is for PROBABILITIES only",
    )


def check_compression(service):
    client, elements = client_of(service), service.elements(100)
    names = [service.top, service.score, "PROBABILITIES"]
    for sent, received in product((None, "gzip", "deflate"), repeat=2):
        for binary in (True, False):
            outputs = [triton.InferRequestedOutput(n, binary_data=binary) for n in names]
            result = client.infer(
                service.name,
                [tensor(service, elements, binary)],
                outputs=outputs,
                request_compression_algorithm=sent,
                response_compression_algorithm=received,
            )
            service.check_answer(result, elements)


def check_parameters(service):
    client, given = client_of(service), tensor(service, service.elements(1))
    infer = lambda **more: client.infer(service.name, [given], **more)
    infer(timeout=20_000_000, priority=2, parameters={"anything": "goes"})
    fails(lambda: infer(timeout=1), "504", "The deadline of 0.001 ms passed")
    fails(lambda: infer(sequence_id=5), "400", "parameters.sequence_id: sequences are not supp")


def check_errors(service):
    client, elements = client_of(service), service.elements(3)
    given = tensor(service, elements)
    infer = lambda *inputs, **more: client.infer(more.pop("model", service.name), inputs, **more)
    fails(lambda: infer(given, model="other"), "404", "Path not found")
    fails(lambda: infer(given, model_version="2"), "404", "Path not found")
    fails(
        lambda: infer(given, outputs=[triton.InferRequestedOutput("OTHER")]),
        "400",
        "outputs[0].name: expected ",
    )
    other = triton.InferInput("OTHER", [1], "BYTES")
    other.set_data_from_numpy(np.array(["a"], dtype=object))
    fails(lambda: infer(other), "400", f"inputs[0].name: expected {service.input}")
    fails(lambda: infer(given, given), "400", "inputs[1].name: is there twice")
    fails(lambda: infer(), "400", f"inputs: {service.input} is required")
    region = triton.InferInput(service.input, [1], service.datatype)
    region.set_shared_memory("region", 4)
    fails(lambda: infer(region), "400", "inputs[0].parameters.shared_memory_region: ")
    if service.is_text:
        blank = np.array(["a", " \t"], dtype=object)
        for binary in (True, False):
            fails(
                lambda: infer(tensor(service, blank, binary)),
                "400",
                "TEXT[1]: Text payload cannot be empty.",
            )
        fails(
            lambda: infer(tensor(service, elements, shape=(1, 3))),
            "400",
            "TEXT: expected the shape [n] or [n, 1], received [1, 3]",
        )
        return
    elements[2][17] = np.nan
    fails(lambda: infer(given_nan(service, elements)), "400", "SIGNAL[2][17]: expected a finite")
    fails(
        lambda: infer(tensor(service, elements[:, :255].copy())),
        "400",
        "SIGNAL: expected the shape [n, 256] or [n, 1, 256], received [3, 255]",
    )


def given_nan(service, elements):
    return tensor(service, elements, binary=True)


def check_many_at_once(service):
    """As perf_analyzer asks: a number of requests under way at any time."""
    elements = service.elements(8)
    names, scores, _ = service.expected(elements)
    with client_of(service, concurrency=16) as client:
        asked = [
            client.async_infer(service.name, [tensor(service, elements[i % 8 : i % 8 + 1], i % 3 > 0)])
            for i in range(320)
        ]
        for i, request in enumerate(asked):
            result = request.get_result()
            assert texts(result.as_numpy(service.top)) == [names[i % 8]]
            near(result.as_numpy(service.score), [scores[i % 8]])


def check_asyncio(service):
    import asyncio

    async def ask():
        async with triton_aio.InferenceServerClient(service.http) as client:
            assert await client.is_server_ready()
            given = [tensor(service, elements[i : i + 4]) for i in range(0, 40, 4)]
            return await asyncio.gather(*(client.infer(service.name, [one]) for one in given))

    elements = service.elements(40)
    for i, result in enumerate(asyncio.run(ask())):
        service.check_answer(result, elements[4 * i : 4 * i + 4])


if __name__ == "__main__":
    run(dict(globals()))
