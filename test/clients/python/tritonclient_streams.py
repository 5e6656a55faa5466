"""Streams of tritonclient.grpc: ModelStreamInfer."""

import asyncio
import time
from queue import Empty, Queue

import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from harness import fails, near, run, texts

WAIT_S = 60


class Stream:
    """Of a client of its own; what its callback is told, in that order."""

    def __init__(self, service, **options):
        self.service = service
        self.client = triton.InferenceServerClient(service.grpc)
        self.told = Queue()
        self.client.start_stream(
            callback=lambda result, error: self.told.put((result, error)), **options
        )

    def ask(self, elements, name=None, **options):
        given = tensor(self.service, elements)
        self.client.async_stream_infer(name or self.service.name, [given], **options)

    def result(self):
        result, error = self.told.get(timeout=WAIT_S)
        assert error is None, error
        return result

    def error(self):
        result, error = self.told.get(timeout=WAIT_S)
        assert result is None and error is not None
        return error

    def ends(self):
        """After stop_stream there is nothing more to be told."""
        try:
            told = self.told.get(timeout=0.2)
        except Empty:
            return
        raise AssertionError(f"told after the end: {told}")


def tensor(service, elements):
    given = triton.InferInput(service.input, list(elements.shape), service.datatype)
    return given.set_data_from_numpy(elements)


def parameters_of(result):
    return {name: value.bool_param for name, value in result.get_response().parameters.items()}


def check_order(service):
    """Large and small ones in turns: the answers come as the requests went."""
    elements = service.elements(100)
    stream = Stream(service)
    sizes = [(100 if i % 7 == 0 else 1) for i in range(150)]
    for i, size in enumerate(sizes):
        stream.ask(elements[:size], request_id=str(i))
    names, scores, _ = service.expected(elements)
    for i, size in enumerate(sizes):
        result = stream.result()
        assert result.get_response().id == str(i)
        assert texts(result.as_numpy(service.top)) == names[:size]
        near(result.as_numpy(service.score), scores[:size])
    stream.client.stop_stream()
    stream.ends()


def check_final_responses(service):
    """One answer each, which says that it is the last, also where an empty one may follow."""
    stream, elements = Stream(service), service.elements(2)
    for is_asked in (False, True):
        stream.ask(elements, request_id="7", enable_empty_final_response=is_asked)
        result = stream.result()
        service.check_answer(result, elements)
        answer = result.get_response()
        assert (answer.id, answer.model_name, answer.model_version) == ("7", service.name, "1")
        assert parameters_of(result) == {"triton_final_response": True}
    stream.client.stop_stream()
    stream.ends()


def check_errors_stay_with_their_request(service):
    stream, elements = Stream(service), service.elements(1)
    stream.ask(elements)
    stream.ask(elements, name="other")
    stream.ask(elements, sequence_id=5)
    stream.ask(elements, timeout=1)
    stream.ask(elements)
    service.check_answer(stream.result(), elements)
    for message in ("model: no model \"other\"", "parameters.sequence_id: ", "The deadline of 0.001"):
        error = stream.error()
        assert error.status() is None and error.message().startswith(message), error
    service.check_answer(stream.result(), elements)
    stream.client.stop_stream()
    stream.ends()


def check_errors_as_statuses(service):
    """With Triton's header they end the stream."""
    stream, elements = Stream(service, headers={"triton_grpc_error": "true"}), service.elements(1)
    stream.ask(elements)
    stream.ask(elements, name="other")
    service.check_answer(stream.result(), elements)
    error = stream.error()
    assert error.status() == "StatusCode.NOT_FOUND", error
    assert error.message().startswith("model: no model \"other\""), error
    stream.client.stop_stream()


def check_large_messages_end_the_stream(service):
    stream = Stream(service)
    large = triton.InferInput(service.input, [1], service.datatype)
    large._raw_content = bytes(2**20 + 1)
    stream.client.async_stream_infer(service.name, [large])
    error = stream.error()
    assert error.status() == "StatusCode.RESOURCE_EXHAUSTED", error
    fails(lambda: stream.ask(service.elements(1)), "None", "The stream is no longer in valid state")
    stream.client.stop_stream()


def check_compression(service):
    elements = service.elements(3)
    for compression in ("gzip", "deflate"):
        stream = Stream(service, compression_algorithm=compression)
        for _ in range(20):
            stream.ask(elements)
        for _ in range(20):
            service.check_answer(stream.result(), elements)
        stream.client.stop_stream()
        stream.ends()


def check_timeout(service):
    stream, elements = Stream(service, stream_timeout=1.5), service.elements(1)
    stream.ask(elements)
    service.check_answer(stream.result(), elements)
    error = stream.error()  # the stream has idled until then
    assert error.status() == "StatusCode.DEADLINE_EXCEEDED", error
    stream.client.stop_stream()


def check_cancellation(service):
    """What is cancelled leaves the queue: what follows does not wait for it."""
    stream, elements = Stream(service), service.elements(100)
    for _ in range(200):
        stream.ask(elements)
    stream.client.stop_stream(cancel_requests=True)
    while True:
        result, error = stream.told.get(timeout=WAIT_S)
        if error is not None:
            break
        service.check_answer(result, elements)
    assert error.status() == "StatusCode.CANCELLED", error
    client = triton.InferenceServerClient(service.grpc)
    service.check_answer(client.infer(service.name, [tensor(service, elements)]), elements)


def check_stop_waits_for_all(service):
    stream, elements = Stream(service), service.elements(64)
    for _ in range(100):
        stream.ask(elements)
    stream.client.stop_stream()
    assert stream.told.qsize() == 100
    for _ in range(100):
        service.check_answer(stream.result(), elements)


def check_idle_streams(service):
    """They go on when something comes, and keep nobody waiting."""
    streams, elements = [Stream(service) for _ in range(8)], service.elements(1)
    time.sleep(2)
    for stream in streams:
        stream.ask(elements)
        service.check_answer(stream.result(), elements)
        stream.client.stop_stream()
        stream.ends()


def check_asyncio(service):
    elements = service.elements(40)

    async def requests():
        for i in range(40):
            given = tensor(service, elements[i : i + 1])
            yield {"model_name": service.name, "inputs": [given], "request_id": str(i)}

    async def ask():
        async with triton_aio.InferenceServerClient(service.grpc) as client:
            answers = client.stream_infer(requests())
            return [(result, error) async for result, error in answers]

    answers = asyncio.run(ask())
    assert [result.get_response().id for result, _ in answers] == [str(i) for i in range(40)]
    for i, (result, error) in enumerate(answers):
        assert error is None
        service.check_answer(result, elements[i : i + 1])


if __name__ == "__main__":
    run(dict(globals()))
