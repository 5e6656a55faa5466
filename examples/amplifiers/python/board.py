"""BrainFlow to libtorch-serve: reads one channel of a board (a synthetic one by default), prints results as JSON."""

import argparse
import asyncio
import json
import os
import sys

import numpy as np
from brainflow.board_shim import BoardIds, BoardShim, BrainFlowInputParams
from stream import Stream

WAIT_S = 0.05


async def blocks_of(board, channel, seconds):
    """Yields blocks. Times are counted from the first sample, because timestamps of boards have transport jitter."""
    board_id = board.get_board_id()
    rate, clock = BoardShim.get_sampling_rate(board_id), BoardShim.get_timestamp_channel(board_id)
    start, count = None, 0
    while start is None or count < seconds * rate:
        await asyncio.sleep(WAIT_S)
        data = board.get_board_data()
        if data.shape[1] > 0:
            start = data[clock, 0] if start is None else start
            yield start + count / rate, data[channel].astype(np.float32)
            count += data.shape[1]


async def main(args):
    BoardShim.disable_board_logger()
    params = BrainFlowInputParams()
    params.serial_port = args.serial_port
    board = BoardShim(args.board, params)
    names, channels = BoardShim.get_eeg_names(args.board), BoardShim.get_eeg_channels(args.board)
    channel = channels[names.index(args.channel) if args.channel in names else 0]
    board.prepare_session()
    board.start_stream()
    rate = BoardShim.get_sampling_rate(args.board)
    print(f"{names[channels.index(channel)]} at {rate} Hz", file=sys.stderr, flush=True)
    try:
        stream = Stream(args.url, rate, args.step, os.environ.get("API_KEY"))
        async for message in stream.answers(blocks_of(board, channel, args.seconds)):
            print(json.dumps(message), flush=True)
    finally:
        board.release_session()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="ws://localhost:8001/stream")
    parser.add_argument("--board", type=int, default=BoardIds.SYNTHETIC_BOARD, help="BrainFlow board id")
    parser.add_argument("--serial-port", default="", help="serial port of the board, if any")
    parser.add_argument("--channel", default="T3", help="channel name; default: first channel if missing")
    parser.add_argument("--step", type=int, default=64, help="hop size in samples")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="duration in seconds")
    asyncio.run(main(parser.parse_args()))
