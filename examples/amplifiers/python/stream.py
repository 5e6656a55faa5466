"""Client of a libtorch-serve stream over WebSocket (https://websockets.readthedocs.io)."""

import asyncio
import json
import sys
from collections import deque

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


class Stream:
    """Streams samples. Keeps blocks until their windows have results, to resume after a broken connection."""

    def __init__(self, url, rate, step, key=None):
        self.url, self.rate, self.step = url, rate, step
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.kept = deque()  # (number of the block, time of its first sample in seconds, float32 array)
        self.news = asyncio.Event()
        self.has_ended = False
        self.window, self.time = 0, None  # first window without a result, and its time

    async def answers(self, blocks):
        """Yields messages. blocks: an async iterator of (time of the first sample in seconds, float32 array)"""
        reading = asyncio.create_task(self._read(blocks))
        await self.news.wait()
        if not self.kept:
            await reading
            return
        # Reconnects with increasing delays.
        async for socket in connect(self.url, additional_headers=self.headers, compression=None):
            sending = asyncio.create_task(self._send(socket))
            try:
                async for text in socket:
                    message = json.loads(text)
                    self._note(message)
                    yield message
                    if "end" in message:
                        await reading  # raises the error of the source, if any
                        return
                    if "error" in message:
                        raise RuntimeError(message["error"]["detail"])
            except ConnectionClosed as closed:
                print(f"{self.url}: {closed}", file=sys.stderr, flush=True)
            finally:
                sending.cancel()

    async def _read(self, blocks):
        number = 0
        try:
            async for time, samples in blocks:
                self.kept.append((number, time, samples))
                number += 1
                self.news.set()
        finally:
            self.has_ended = True
            self.news.set()

    async def _send(self, socket):
        """Sends kept and new blocks, starting at the first window without a result."""
        _, first, samples = self.kept[0]
        skip = 0 if self.time is None else min(max(0, round((self.time - first) * self.rate)), len(samples))
        start = {"seconds": first + skip / self.rate}
        opening = {"sampling_rate_hz": self.rate, "step": self.step, "format": "f32", "start": start}
        await socket.send(json.dumps({**opening, "first_window": self.window}))
        next_block = 0
        while True:
            self.news.clear()
            for number, time, samples in [block for block in self.kept if block[0] >= next_block]:
                # The time reveals gaps in the signal.
                await socket.send(json.dumps({"at": {"seconds": time + skip / self.rate}}))
                await socket.send(samples[skip:].astype("<f4").tobytes())
                next_block, skip = number + 1, 0
            if self.has_ended:
                await socket.send(json.dumps({"end": True}))
                return
            await self.news.wait()

    def _note(self, message):
        if "window" not in message:
            return
        self.window = message["window"] + 1
        self.time = message["time"] + self.step / self.rate
        while len(self.kept) > 1 and self.kept[1][1] <= self.time:
            self.kept.popleft()
