"""EDF, BDF and BrainVision files as real programs write them, but no Python library."""

from pathlib import Path

import numpy as np

#: Files that MNE-Python reads as well.
UNUSUAL = (
    "biosemi.bdf",
    "several-annotation-signals.bdf",
    "zero-record-duration.edf",
    "colons-in-time.edf",
    "vectorized.vhdr",
    "eeglab.vhdr",
    "text.vhdr",
    "neurone.vhdr",
)


def digital(count: int, seed: int, limit: int = 2000) -> np.ndarray:
    return np.random.default_rng(seed).integers(-limit, limit, count)


def header(signals: list[dict], *, bdf: bool = False, reserved: str = "", seconds: float = 1, records: int,
           time: str = "13.05.07") -> bytes:
    """Header of EDF or BDF."""
    first = b"\xffBIOSEMI" if bdf else b"0       "
    text = f"{'X X X X':80}{'Startdate 29-FEB-2024 X X X':80}29.02.24{time}{256 * (len(signals) + 1):<8}"
    text += f"{reserved:44}{records:<8}{seconds:<8g}{len(signals):<4}"
    fields = (("label", 16), ("", 80), ("unit", 8), ("pmin", 8), ("pmax", 8), ("dmin", 8), ("dmax", 8), ("", 80),
              ("samples", 8), ("", 32))
    for name, width in fields:
        text += "".join(f"{signal.get(name, ''):<{width}}"[:width] for signal in signals)
    return first + text.encode("latin-1")


def tal(*lists: str, size: int) -> bytes:
    """Annotation lists of one record, padded with NUL."""
    return b"".join(one.encode() + b"\0" for one in lists).ljust(size, b"\0")


def eeg(label: str, samples: int, bits: int = 16, unit: str = "uV") -> dict:
    top = 2 ** (bits - 1) - 1
    return {"label": label, "unit": unit, "pmin": -3200, "pmax": 3200, "dmin": -top - 1, "dmax": top,
            "samples": samples}


def annotation_signal(samples: int, bits: int = 16) -> dict:
    kind = "BDF" if bits == 24 else "EDF"
    return {**eeg(f"{kind} Annotations", samples, bits, ""), "pmin": -1, "pmax": 1}


def int24(values) -> bytes:
    return np.asarray(values, "<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()


def int16(values) -> bytes:
    return np.asarray(values, "<i2").tobytes()


def write_edf(folder: Path) -> None:
    rate, records = 64, 4
    status = {**eeg("Status", rate, 24, "Boolean"), "pmin": -8388608, "pmax": 8388607}
    # The code is 7 at the start, then 0, 1, 2 without a pause, 0, and 65535; bit 20 is the state of the amplifier.
    codes = np.zeros(rate * records, int) | 1 << 20
    for start, end, code in ((0, 5, 7), (40, 50, 1), (50, 60, 2), (200, 210, 65535)):
        codes[start:end] |= code
    data = digital(rate * records, 1, 2**22)
    body = b"".join(int24(data[i * rate:(i + 1) * rate]) + int24(codes[i * rate:(i + 1) * rate])
                    for i in range(records))
    signals = [eeg("A1", rate, 24), status]
    (folder / "biosemi.bdf").write_bytes(header(signals, bdf=True, reserved="24BIT", records=records) + body)

    signals = [eeg("T3", rate, 24), annotation_signal(20, 24), annotation_signal(10, 24)]
    body = b"".join(
        int24(data[i * rate:(i + 1) * rate])
        + tal(f"+{i}\x14\x14", f"+{i}.5\x150.25\x14first {i}\x14", size=60)
        + tal(f"+{i}.75\x14second {i}\x14", size=30)
        for i in range(records)
    )
    (folder / "several-annotation-signals.bdf").write_bytes(
        header(signals, bdf=True, reserved="BDF+C", records=records) + body)

    body = int16(digital(rate * records, 2))
    (folder / "zero-record-duration.edf").write_bytes(
        header([eeg("T3", rate)], records=records, seconds=0) + body)
    (folder / "colons-in-time.edf").write_bytes(
        header([eeg("T3", rate)], records=-1, time="13:05:07") + body)


def write_gaps(folder: Path) -> None:
    """EDF+D, whose gaps MNE-Python does not read: the record starts are the expected result."""
    rate, starts = 32, (0.5, 1.5, 2.5, 10.25, 11.25, 60)
    signals = [eeg("T3", rate), eeg("ECG", rate * 2), annotation_signal(30)]
    body = b""
    for index, start in enumerate(starts):
        body += int16(np.full(rate, index)) + int16(np.full(rate * 2, 10 * index))
        body += tal(f"+{start:g}\x14\x14", *([f"+{start + 0.25:g}\x14stimulus {index}\x14"] if index != 1 else []),
                    size=60)
    (folder / "gaps.edf").write_bytes(header(signals, reserved="EDF+D", records=len(starts)) + body)


VHDR = "Brain Vision Data Exchange Header File Version 1.0\r\n"
VMRK = "Brain Vision Data Exchange Marker File, Version 1.0\r\n"


def write_brainvision(folder: Path) -> None:
    values = np.stack([digital(150, seed) for seed in (3, 4)])

    def write(name: str, head: str, markers: str, data: bytes, encoding: str = "utf-8") -> None:
        (folder / f"{name}.vhdr").write_bytes((VHDR + head).replace("NAME", name).encode(encoding))
        (folder / f"{name}.vmrk").write_bytes(
            (VMRK + f"[Common Infos]\r\nDataFile={name}.eeg\r\n[Marker Infos]\r\n" + markers).encode(encoding))
        (folder / f"{name}.eeg").write_bytes(data)

    start = "Mk1=New Segment,,1,1,0,20240229130507250000\r\n"
    write("vectorized",
          "; a comment\r\n[Common Infos]\r\nCodepage=UTF-8\r\nDataFile=NAME.eeg\r\nMarkerFile=NAME.vmrk\r\n"
          "DataFormat=BINARY\r\nDataOrientation=VECTORIZED\r\nNumberOfChannels=2\r\nDataPoints=150\r\n"
          "SamplingInterval=3906.25\r\n[Binary Infos]\r\nBinaryFormat=INT_16\r\n[Channel Infos]\r\n"
          "Ch1=T3,Ref,0.5,µV\r\nCh2=skin,,2,µS\r\n[Comment]\r\nNumberOfChannels=9 [not a section]\r\n",
          start + "Mk2=Stimulus,S  1,26,1,0\r\nMk3=New Segment,,101,1,0,20240229130607250000\r\n"
          "Mk4=Comment,one\\1 two,120,10,1\r\n",
          values.astype("<i2").tobytes())
    write("eeglab",
          "; Data created from the EEGLAB software\r\n\r\n[Common Infos]\r\nDataFile=NAME.eeg\r\nMarkerFile=NAME.vmrk\r\n"
          "DataFormat=BINARY\r\n; Data orientation: VECTORIZED=ch1,pt1, ch1,pt2 ..., MULTIPLEXED=ch1,pt1, ch2,pt1 ...\r\n"
          "DataOrientation=MULTIPLEXED\r\nDataType=TIMEDOMAIN\r\nNumberOfChannels=2\r\nDataPoints=150\r\n"
          "SamplingInterval=4000\r\n[Binary Infos]\r\nBinaryFormat=IEEE_FLOAT_32\r\n[Channel Infos]\r\n"
          "Ch1=T3,, \r\nCh2=O1,, \r\n",
          start, (values.T / 100).astype("<f4").tobytes())
    write("text",
          "[Common Infos]\r\nDataFile=NAME.eeg\r\nMarkerFile=NAME.vmrk\r\nDataFormat=ASCII\r\n"
          "DataOrientation=MULTIPLEXED\r\nNumberOfChannels=2\r\nSamplingInterval=2000\r\n[ASCII Infos]\r\n"
          "DecimalSymbol=,\r\nSkipLines=1\r\nSkipColumns=0\r\n[Channel Infos]\r\nCh1=T3,,1,µV\r\nCh2=Größe,,1,nV\r\n",
          start, ("T3 O1\r\n" + "".join(f"{a / 10:.1f} {b / 10:.1f}\r\n" for a, b in values.T)).replace(".", ",")
          .encode(), "latin-1")
    write("neurone",
          "[Common infos]\r\nDataFile=NAME.eeg\r\nMarkerFile=NAME.vmrk\r\nDataFormat=BINARY\r\n"
          "DataOrientation=MULTIPLEXED\r\nNumberOfChannels=2\r\nSamplingInterval=1000\r\n[Binary Infos]\r\n"
          "BinaryFormat=INT_32\r\n[Channel Infos]\r\nCh1=T3,,0.001,uV\r\nCh2=O1,,0.001,uV\r\n",
          start, values.T.astype("<i4").tobytes())


def write_unusual(folder: Path) -> None:
    write_edf(folder)
    write_gaps(folder)
    write_brainvision(folder)
