"""Plays a recording as a Lab Streaming Layer stream: a CSV file with a header and one column per channel."""

import argparse
import csv
import time

import pylsl

BLOCK_S = 0.05


def main(args):
    with open(args.file, newline="", encoding="utf-8") as file:
        labels, *rows = csv.reader(file)
    info = pylsl.StreamInfo(args.name, "EEG", len(labels), args.rate, "float32", f"{args.name}-played")
    channels = info.desc().append_child("channels")
    for label in labels:
        channels.append_child("channel").append_child_value("label", label)
    outlet = pylsl.StreamOutlet(info)
    outlet.wait_for_consumers(args.timeout)
    start = pylsl.local_clock()
    sent = 0
    while sent < len(rows):
        due = min(len(rows), int((pylsl.local_clock() - start) * args.rate))
        if due > sent:
            # Timestamp of the last sample in the chunk.
            outlet.push_chunk([list(map(float, row)) for row in rows[sent:due]], start + (due - 1) / args.rate)
            sent = due
        time.sleep(BLOCK_S)
    time.sleep(1)  # lets the last samples arrive before the stream closes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--rate", type=float, required=True, help="Hz")
    parser.add_argument("--name", default="recording")
    parser.add_argument("--timeout", type=float, default=60, help="timeout for the first consumer in seconds")
    main(parser.parse_args())
