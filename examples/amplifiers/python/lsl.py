"""Lab Streaming Layer to libtorch-serve: reads one channel of a stream in the local network, prints results as JSON."""

import argparse
import asyncio
import json
import os
import sys

import numpy as np
import pylsl
from pylsl.util import LostError
from stream import Stream


def find(name, timeout):
    kind, value = ("name", name) if name else ("type", "EEG")
    found = pylsl.resolve_byprop(kind, value, timeout=timeout)
    return found[0] if found else sys.exit(f"No stream with {kind} {value} in this network.")


def labels_of(info):
    channels = info.desc().child("channels").child("channel")
    for _ in range(info.channel_count()):
        yield channels.child_value("label")
        channels = channels.next_sibling("channel")


async def blocks_of(inlet, channel):
    """Yields blocks until the stream is lost."""
    while True:
        try:
            rows, times = await asyncio.to_thread(inlet.pull_chunk, timeout=0.1)
        except LostError:
            return
        if times:
            yield times[0], np.array(rows, np.float32)[:, channel]


async def main(args):
    # Timestamps are converted to the local clock and smoothed.
    inlet = pylsl.StreamInlet(find(args.name, args.timeout), recover=False, processing_flags=pylsl.proc_ALL)
    info = inlet.info()
    labels = list(labels_of(info))
    channel = labels.index(args.channel) if args.channel in labels else 0
    print(f"{info.name()}: {labels[channel]} at {info.nominal_srate()} Hz", file=sys.stderr, flush=True)
    stream = Stream(args.url, info.nominal_srate(), args.step, os.environ.get("API_KEY"))
    async for message in stream.answers(blocks_of(inlet, channel)):
        print(json.dumps(message), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="ws://localhost:8001/stream")
    parser.add_argument("--name", help="stream name; default: first stream of type EEG")
    parser.add_argument("--channel", default="T3", help="channel label; default: first channel if missing")
    parser.add_argument("--step", type=int, default=64, help="hop size in samples")
    parser.add_argument("--timeout", type=float, default=10, help="timeout of the search in seconds")
    asyncio.run(main(parser.parse_args()))
