"""XDF files, which no Python library writes, and what pyxdf reads in them."""

import gzip
import struct
import uuid
from pathlib import Path

import numpy as np
import pyxdf

BOUNDARY = uuid.UUID("43A546DCCBF5410FB30ED5467383CBE4").bytes


def length(value: int) -> bytes:
    if value < 256:
        return struct.pack("<BB", 1, value)
    return struct.pack("<BI", 4, value) if value < 2**32 else struct.pack("<BQ", 8, value)


def chunk(tag: int, content: bytes) -> bytes:
    return length(len(content) + 2) + struct.pack("<H", tag) + content


def file_header() -> bytes:
    xml = '<?xml version="1.0"?><info><version>1.0</version><datetime>2024-02-29T13:05:07+0100</datetime></info>'
    return b"XDF:" + chunk(1, xml.encode())


def stream_header(stream: int, name: str, rate: float, kind: str, labels: list[str], count: int | None = None,
                  desc: str = "") -> bytes:
    channels = "".join(f"<channel><label>{label}</label><unit>microvolts</unit></channel>" for label in labels)
    xml = (f"<?xml version='1.0'?><info><name>{name}</name><type>EEG</type>"
           f"<channel_count>{count or len(labels)}</channel_count><nominal_srate>{rate}</nominal_srate>"
           f"<channel_format>{kind}</channel_format><created_at>1</created_at>"
           f"<desc>{f'<channels>{channels}</channels>' if labels else ''}{desc}</desc></info>")
    return chunk(2, struct.pack("<I", stream) + xml.encode())


FORMATS = {"float32": "<f4", "double64": "<f8", "int8": "<i1", "int16": "<i2", "int32": "<i4", "int64": "<i8"}


def samples(stream: int, stamps, rows, kind: str) -> bytes:
    """Chunk of samples; a stamp of None is one interval after the previous stamp."""
    content = struct.pack("<I", stream) + length(len(rows))
    for stamp, row in zip(stamps, rows):
        content += b"\0" if stamp is None else b"\x08" + struct.pack("<d", stamp)
        if kind == "string":
            content += b"".join(length(len(text.encode())) + text.encode() for text in row)
        else:
            content += np.asarray(row).astype(FORMATS[kind]).tobytes()
    return chunk(3, content)


def offset(stream: int, time: float, value: float) -> bytes:
    return chunk(4, struct.pack("<Idd", stream, time, value))


def footer(stream: int, count: str) -> bytes:
    xml = f"<?xml version='1.0'?><info><sample_count>{count}</sample_count></info>"
    return chunk(6, struct.pack("<I", stream) + xml.encode())


def boundary() -> bytes:
    return chunk(5, BOUNDARY)


def amplifier(random, stream: int, name: str, rate: float, count: int, kind: str, labels: list[str], *, start: float,
              drift: float = 1.0, gap_after: int | None = None, gap: float = 0) -> list[tuple[float, bytes]]:
    """Chunks of a regular stream with jitter and a clock that is 1000 s ahead and drifts."""
    time = start + np.arange(count) / (rate * drift)
    if gap_after is not None:
        time[gap_after:] += gap
    stamps = time + 1000 + np.abs(random.normal(0, 0.002, count))
    rows = random.normal(0, 30, (count, len(labels)))
    chunks = []
    for first in range(0, count, 32):
        # LSL sends a stamp with the first sample of a chunk, and deduces the others.
        given = [stamp if i == 0 or first % 64 else None for i, stamp in enumerate(stamps[first:first + 32])]
        chunks.append((time[first], samples(stream, given, rows[first:first + 32], kind)))
    for at in np.arange(start, time[-1] + 0.5, 0.5):
        # Some measurements are late: outliers of the robust fit.
        late = 0.05 if random.random() < 0.1 else 0
        chunks.append((at, offset(stream, at + 1000, -1000 - 2e-5 * (at - start) + random.normal(0, 2e-5) - late)))
    return [(start - 1, stream_header(stream, name, rate, kind, labels)), *chunks, (1e9, footer(stream, str(count)))]


def markers(stream: int, kind: str, rows: list, times: list[float]) -> list[tuple[float, bytes]]:
    header = stream_header(stream, f"markers {stream}", 0, kind, [], count=len(rows[0]))
    chunks = [(time, samples(stream, [time + 20], [row], kind)) for time, row in zip(times, rows)]
    return [(0, header), *chunks, (0, offset(stream, 20, -20))]


def merged(*streams: list[tuple[float, bytes]]) -> bytes:
    chunks = sorted((chunk for stream in streams for chunk in stream), key=lambda pair: pair[0])
    return file_header() + b"".join(content for _, content in chunks)


def write_files(folder: Path) -> None:
    random = np.random.default_rng(11)
    plain = [
        amplifier(random, 1, "EEG amplifier", 250, 1000, "float32", ["T3", "O1", "Cz"], start=100, drift=1.0004),
        amplifier(random, 2, "ECG &amp; more", 64, 300, "int16", ["Cz", "ECG"], start=101.3, gap_after=120, gap=12.5),
        markers(3, "string", [["start"], ["größe"], [""], ["<end>"]], [100.5, 102.25, 103, 103.5]),
        markers(4, "int32", [[1], [255], [-3]], [100.75, 101.5, 102.75]),
        markers(5, "float32", [[0.5, 0.25]] * 4, [101, 102, 103, 104]),
    ]
    content = merged(*plain)
    (folder / "streams.xdf").write_bytes(content)
    (folder / "streams.xdfz").write_bytes(gzip.compress(content, mtime=0))
    formats = [amplifier(random, 10 + i, kind, 100, 200, kind, [f"{kind} a", f"{kind} b"], start=5 + i / 7)
               for i, kind in enumerate(FORMATS)]
    (folder / "formats.xdf").write_bytes(merged(*formats))
    # A computer restarts: its clock begins anew.
    count, rate = 600, 50
    time = 10 + np.arange(count) / rate
    clock = np.where(time < 15, 5000, -8)
    chunks = [(0, stream_header(7, "restarted", rate, "double64", ["T3"]))]
    for first in range(0, count, 25):
        part = slice(first, first + 25)
        chunks.append((time[first], samples(7, time[part] + clock[part], np.sin(time[part])[:, None], "double64")))
    for at in np.arange(10, 22, 0.5):
        ahead = 5000 if at < 15 else -8
        chunks.append((at, offset(7, at + ahead, -ahead + random.normal(0, 1e-5))))
    (folder / "clock-reset.xdf").write_bytes(merged(chunks))
    # liblsl 1.16 writes samples and a wrong offset when the recorder stops; the sample count is a decimal number.
    stopped = amplifier(random, 8, "stopped", 100, 300, "float32", ["T3"], start=50)
    stopped = [pair for pair in stopped if pair[0] < 1e9]
    extra = [(60, samples(8, [1060.5, None], [[1.0], [2.0]], "float32")), (61, offset(8, 8000.0, -950.0)),
             (1e9, footer(8, "300"))]
    (folder / "damaged-offset.xdf").write_bytes(merged([*stopped, *extra]))


def read(path: Path) -> dict:
    result = {"file": path.name, "streams": []}
    streams, _ = pyxdf.load_xdf(path)
    for stream in streams:
        info = stream["info"]
        values = stream["time_series"]
        result["streams"].append({
            "name": info["name"][0], "format": info["channel_format"][0], "rate": float(info["nominal_srate"][0]),
            "segments": [[int(a), int(b)] for a, b in info["segments"]],
            "stamps": np.asarray(stream["time_stamps"]).tolist(),
            "values": values if isinstance(values, list) else np.asarray(values, "f8").T.tolist(),
        })
    return result


def xdf_cases(folder: Path) -> list[dict]:
    write_files(folder)
    names = ("streams.xdf", "streams.xdfz", "formats.xdf", "clock-reset.xdf", "damaged-offset.xdf")
    return [read(folder / name) for name in names]
