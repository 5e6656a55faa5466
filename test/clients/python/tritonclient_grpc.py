"""tritonclient.grpc, and the clients of gRPC's own health and reflection services."""

import threading
import time
from queue import Queue

import grpc
import numpy as np
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from harness import fails, near, run, texts
from tritonclient.grpc import service_pb2, service_pb2_grpc

SERVICE = "inference.GRPCInferenceService"


def client_of(service):
    return triton.InferenceServerClient(service.grpc)


def tensor(service, elements, datatype=None, shape=None):
    shape = list(shape or elements.shape)
    given = triton.InferInput(service.input, shape, datatype or service.datatype)
    return given.set_data_from_numpy(elements.reshape(shape))


def check_health(service):
    client = client_of(service)
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready(service.name) and client.is_model_ready(service.name, "1")
    fails(lambda: client.is_model_ready("other"), "StatusCode.NOT_FOUND", "model: no model \"other\"")
    fails(lambda: client.is_model_ready(service.name, "2"), "StatusCode.NOT_FOUND", "version: no version")


def check_metadata(service):
    client = client_of(service)
    assert client.get_server_metadata().name == "libtorch-serve"
    metadata = client.get_model_metadata(service.name)
    assert (metadata.name, list(metadata.versions)) == (service.name, ["1"])
    assert [t.name for t in metadata.inputs] == service.inputs
    assert list(metadata.outputs[0].shape) == [-1] and metadata.outputs[0].name == service.top
    config = client.get_model_config(service.name).config
    assert list(config.input[0].dims) == list(metadata.inputs[0].shape)
    assert (config.name, config.max_batch_size) == (service.name, 0)


def check_statistics(service):
    client = client_of(service)
    count = lambda: client.get_inference_statistics(service.name).model_stats[0]
    before = count()
    client.infer(service.name, [tensor(service, service.elements(3))])
    after = count()
    assert after.inference_count == before.inference_count + 3
    assert after.inference_stats.success.count == after.inference_count


def check_infer(service):
    client, elements = client_of(service), service.elements(3)
    for compression in (None, "gzip", "deflate"):
        result = client.infer(
            service.name,
            [tensor(service, elements)],
            request_id="42",
            compression_algorithm=compression,
        )
        service.check_answer(result, elements)
        answer = result.get_response()
        assert (answer.id, answer.model_name, answer.model_version) == ("42", service.name, "1")
    shape = (3, 1) if service.is_text else (3, 1, 256)
    result = client.infer(service.name, [tensor(service, elements, shape=shape)])
    service.check_answer(result, elements)
    if not service.is_text:
        double = tensor(service, elements.astype(np.float64), "FP64")
        service.check_answer(client.infer(service.name, [double]), elements)


def check_pairs(service):
    if not service.is_text:
        return
    first, second = service.elements(2), np.array(["it is warm", ""], dtype=object)
    given = triton.InferInput("TEXT_PAIR", [2], "BYTES").set_data_from_numpy(second)
    result = client_of(service).infer(service.name, [given, tensor(service, first)])
    service.check_answer(result, first, second)


def check_typed_contents(service):
    """Without raw_input_contents, as KServe's own client writes it: the answer is typed, too."""
    elements = service.elements(2)
    names, scores, probabilities = service.expected(elements)
    request = service_pb2.ModelInferRequest(model_name=service.name)
    given = request.inputs.add(
        name=service.input, datatype=service.datatype, shape=elements.shape
    )
    if service.is_text:
        given.contents.bytes_contents.extend(text.encode() for text in elements)
    else:
        given.contents.fp32_contents.extend(map(float, elements.reshape(-1)))
    with grpc.insecure_channel(service.grpc) as channel:
        answer = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(request)
    top, score, all_scores = answer.outputs
    assert not answer.raw_output_contents
    assert [text.decode() for text in top.contents.bytes_contents] == names
    near(np.array(score.contents.fp32_contents), scores)
    rows = np.array(all_scores.contents.fp32_contents).reshape(all_scores.shape)
    near(rows, [list(row.values()) for row in probabilities])


def check_outputs_and_classification(service):
    client, elements = client_of(service), service.elements(2)
    wanted = [
        triton.InferRequestedOutput("PROBABILITIES", class_count=1),
        triton.InferRequestedOutput(service.top),
    ]
    result = client.infer(service.name, [tensor(service, elements)], outputs=wanted)
    names, scores, _ = service.expected(elements)
    split = [text.split(":", 2) for text in texts(result.as_numpy("PROBABILITIES"))]
    assert [label for _, _, label in split] == names == texts(result.as_numpy(service.top))
    near(np.array([float(score) for score, _, _ in split]), scores)
    assert result.as_numpy("PROBABILITIES").shape == (2, 1)
    assert result.as_numpy(service.score) is None


def check_errors(service):
    client, elements = client_of(service), service.elements(3)
    infer = lambda given, **more: client.infer(service.name, [given], **more)
    given = tensor(service, elements)
    invalid = "StatusCode.INVALID_ARGUMENT"
    fails(lambda: client.infer("other", [given]), "StatusCode.NOT_FOUND", "model: no model \"other\"")
    fails(lambda: infer(given, sequence_id=5), invalid, "parameters.sequence_id: sequences")
    fails(
        lambda: infer(given, outputs=[triton.InferRequestedOutput("OTHER")]),
        invalid,
        "outputs[0].name: expected ",
    )
    if service.is_text:
        blank = tensor(service, np.array(["a", ""], dtype=object))
        fails(lambda: infer(blank), invalid, "TEXT[1]: Text payload cannot be empty.")
    else:
        elements[1][3] = np.inf
        fails(lambda: infer(tensor(service, elements)), invalid, "SIGNAL[1][3]: expected a finite")
    negative = triton.InferInput(service.input, [-1], service.datatype)
    negative._raw_content = b""
    fails(lambda: infer(negative), invalid, f"{service.input}: expected the shape [n")
    large = triton.InferInput(service.input, [1], service.datatype)
    large._raw_content = bytes(2**20 + 1)
    fails(lambda: infer(large), "StatusCode.RESOURCE_EXHAUSTED", "The message exceeds the limit")
    with grpc.insecure_channel(service.grpc) as channel:
        nonsense = channel.unary_unary(f"/{SERVICE}/ModelInfer")
        fails_grpc(lambda: nonsense(b"\xff\xff\xff"), grpc.StatusCode.INVALID_ARGUMENT)
        unknown = channel.unary_unary(f"/{SERVICE}/Unknown")
        fails_grpc(lambda: unknown(b""), grpc.StatusCode.UNIMPLEMENTED)
    fails(client.get_trace_settings, "StatusCode.UNIMPLEMENTED", "/inference.GRPCInferenceService/TraceSetting: not implemented")


def check_deadlines(service):
    client, given = client_of(service), tensor(service, service.elements(1))
    exceeded = "StatusCode.DEADLINE_EXCEEDED"
    fails(lambda: client.infer(service.name, [given], timeout=1), exceeded, "The deadline of 0.001")
    # A client may round its timeout up to milliseconds, in which one element may be answered.
    many = tensor(service, service.elements(500))
    fails(lambda: client.infer(service.name, [many], client_timeout=1e-6), exceeded, "")
    client.infer(service.name, [given], timeout=20_000_000, client_timeout=60)


def check_request_ids_and_trailers(service):
    elements = service.elements(2)
    request = service_pb2.ModelInferRequest(model_name=service.name)
    with grpc.insecure_channel(service.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        _, call = stub.ServerLive.with_call(
            service_pb2.ServerLiveRequest(), metadata=[("x-request-id", "mine")]
        )
        assert dict(call.trailing_metadata())["x-request-id"] == "mine"
        given = tensor(service, elements)
        request.inputs.extend([given._get_tensor()])
        request.raw_input_contents.extend([given._get_content()])
        _, call = stub.ModelInfer.with_call(request)
        trailers = dict(call.trailing_metadata())
        assert float(trailers["x-inference-time"]) > 0 and int(trailers["x-compute-tokens"]) > 1


def check_many_at_once(service):
    client, elements = client_of(service), service.elements(8)
    names, scores, _ = service.expected(elements)
    answers, free = Queue(), threading.Semaphore(32)

    def done(i, result, error):
        free.release()
        answers.put((i, result, error))

    for i in range(320):
        free.acquire()
        given = tensor(service, elements[i % 8 : i % 8 + 1])
        client.async_infer(
            service.name, [given], lambda result, error, i=i: done(i, result, error)
        )
    for _ in range(320):
        i, result, error = answers.get(timeout=60)
        assert error is None, error
        assert texts(result.as_numpy(service.top)) == [names[i % 8]]
        near(result.as_numpy(service.score), [scores[i % 8]])


def check_asyncio(service):
    import asyncio

    async def ask():
        async with triton_aio.InferenceServerClient(service.grpc) as client:
            given = [tensor(service, elements[i : i + 4]) for i in range(0, 40, 4)]
            return await asyncio.gather(*(client.infer(service.name, [one]) for one in given))

    elements = service.elements(40)
    for i, result in enumerate(asyncio.run(ask())):
        service.check_answer(result, elements[4 * i : 4 * i + 4])


def check_cancellation(service):
    client, given = client_of(service), tensor(service, service.elements(64))
    ended = Queue()
    call = client.async_infer(service.name, [given], lambda result, error: ended.put(error))
    call.cancel()
    error = ended.get(timeout=60)
    assert error is None or "ancelled" in error.message(), error
    client.infer(service.name, [given])


def check_grpc_health(service):
    with grpc.insecure_channel(service.grpc) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        serving = health_pb2.HealthCheckResponse.SERVING
        for name in ("", SERVICE):
            question = health_pb2.HealthCheckRequest(service=name)
            assert stub.Check(question).status == serving
            watch = stub.Watch(question)
            assert next(watch).status == serving
            watch.cancel()
        other = health_pb2.HealthCheckRequest(service="other")
        fails_grpc(lambda: stub.Check(other), grpc.StatusCode.NOT_FOUND)
        unknown = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        assert next(stub.Watch(other)).status == unknown


def check_reflection(service):
    with grpc.insecure_channel(service.grpc) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        assert {SERVICE, "grpc.health.v1.Health"} <= set(database.get_services())
        found = DescriptorPool(database).FindServiceByName(SERVICE)
        own = service_pb2.DESCRIPTOR.services_by_name["GRPCInferenceService"]
        assert [m.name for m in found.methods] == [m.name for m in own.methods]
        fields = lambda d: [(f.name, f.number, f.type) for f in d.fields]
        for method in own.methods:
            other = found.methods_by_name[method.name]
            assert fields(other.input_type) == fields(method.input_type)
            assert fields(other.output_type) == fields(method.output_type)


def fails_grpc(call, code):
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() == code, error
    else:
        raise AssertionError(f"no error: expected {code}")


if __name__ == "__main__":
    run(dict(globals()))
