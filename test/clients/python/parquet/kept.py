"""Values of every type that Parquet has, and whether `libtorch-serve classify` keeps them.

kept.py write SEED FOLDER: writes the files of WRITINGS, and values.jsonl.
kept.py check SEED FOLDER FILE parquet|jsonl: compares FILE, an output with the columns of one of these, with what was
written, and prints as JSON how many cells are equal, rejected and different.
"""

import base64
import json
import random
import re
import struct
import sys
from decimal import Context, Decimal
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 300
WRITINGS = {
    "values": {"row_group_size": 128},
    "second": {"data_page_version": "2.0", "compression": "zstd", "use_dictionary": False, "data_page_size": 512},
    "index": {"write_page_index": True, "data_page_size": 256, "compression": "gzip"},
    "old": {"version": "1.0", "compression": "none"},
    "int96": {"use_deprecated_int96_timestamps": True},
}
SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
TIME = r"([+-]?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?Z"


class Invalid:
    """Bytes of a string that are not UTF-8: the row must be a reject."""


class Number(str):
    """A number of JSON by its text."""


def integers(bits, signed):
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    edges = [least, most, 0, 1, most - 1, min(most, 2**53 + 1), max(least, -(2**53) - 1)]
    return lambda r: r.choice(edges) if r.random() < 0.5 else r.randint(least, most)


def double(r):
    edges = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 5e-324, 1.7976931348623157e308]
    edges += [0.1, 1e21, 1e22, 2.0**53, 2.0**63, -1e-7, 1e-6, 123456789012345680.0, 1.0]
    if r.random() < 0.5:
        return r.choice(edges)
    return struct.unpack("<d", r.randbytes(8))[0]


def text(r):
    edges = ["", "\ufeff", "\ufefffilm", "a,b", 'a "quote"', "a\nb", "a\r\nb", "\r", " a ", "\0", "null", "喜悦", "😀"]
    edges += ["\u2028", "\ufffd", "=1+1", "\t", "\\", "\\u0041", "\ufffe"]
    return r.choice(edges) + ("" if r.random() < 0.5 else r.choice(edges))


def ticks(unit):
    edges = [-(2**63) + 1, 2**63 - 1, 0, -1, 1, 10**17, -(10**17)]
    now = 1_704_067_200 * SECONDS[unit]
    # pyarrow stores seconds as milliseconds.
    limit = 2**63 // 1000 if unit == "s" else 2**63
    far = [value for value in edges if abs(value) < limit]
    return lambda r: r.choice(far) if r.random() < 0.5 else r.randint(-now, now)


def decimal(precision, scale):
    def draw(r):
        digits = r.choice([0, 1, 10**precision - 1, -(10**precision - 1), r.randrange(10**precision)])
        return Decimal(digits).scaleb(-scale, context=WIDE)

    return draw


WIDE = Context(prec=100)


def leaf(kind, draw, stored=None, chance=0.15):
    """A column of values; `stored` is the type of what pyarrow is given before it is seen as `kind`."""

    def column(r, count):
        values = [None if r.random() < chance else draw(r) for _ in range(count)]
        array = pa.array(values, stored or kind)
        return (array.view(kind) if stored else array), [(kind, value) for value in values]

    return column


def halves(r, count):
    """pyarrow makes them of numpy's only."""
    raw = [None if r.random() < 0.15 else r.randbytes(2) for _ in range(count)]
    values = [None if some is None else struct.unpack("<e", some)[0] for some in raw]
    return pa.array(raw, pa.binary(2)).view(pa.float16()), [(pa.float16(), value) for value in values]


def strings(r, count):
    """A few are not UTF-8: pyarrow takes them as bytes."""
    values = [None if r.random() < 0.1 else text(r) for _ in range(count)]
    raw = [None if value is None else value.encode() for value in values]
    for row in range(0, count, 50):
        raw[row], values[row] = b"a\xff\xfe", Invalid
    return pa.array(raw, pa.binary()).view(pa.string()), [(pa.string(), value) for value in values]


def lists(inner):
    def column(r, count):
        lengths = [None if r.random() < 0.15 else r.choice([0, 1, 1, 2, 3]) for _ in range(count)]
        values, models = inner(r, sum(length or 0 for length in lengths))
        offsets, all_models, at = [], [], 0
        for length in lengths:
            offsets.append(None if length is None else at)
            all_models.append(("list", None if length is None else models[at : at + length]))
            at += length or 0
        offsets.append(at)
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values), all_models

    return column


def structs(**fields):
    def column(r, count):
        drawn = {name: inner(r, count) for name, inner in fields.items()}
        gone = [r.random() < 0.15 for _ in range(count)]
        arrays = [array for array, _ in drawn.values()]
        array = pa.StructArray.from_arrays(arrays, list(drawn), mask=pa.array(gone))
        models = [
            ("struct", None if gone[row] else {name: model[row] for name, (_, model) in drawn.items()})
            for row in range(count)
        ]
        return array, models

    return column


def maps(keys, inner, kind):
    def column(r, count):
        lengths = [r.choice([0, 1, 2, 3]) for _ in range(count)]
        key_values = [keys(at) for length in lengths for at in range(length)]
        values, models = inner(r, len(key_values))
        offsets = list(accumulate([0, *lengths]))
        array = pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(key_values, kind), values)
        all_models = [
            ("map", list(zip(key_values[start:end], models[start:end])))
            for start, end in zip(offsets, offsets[1:])
        ]
        return array, all_models

    return column


def columns():
    leaves = {
        **{f"int{bits}": leaf(getattr(pa, f"int{bits}")(), integers(bits, True)) for bits in (8, 16, 32, 64)},
        **{f"uint{bits}": leaf(getattr(pa, f"uint{bits}")(), integers(bits, False)) for bits in (8, 16, 32, 64)},
        "double": leaf(pa.float64(), double),
        "float": leaf(pa.float32(), lambda r: struct.unpack("<f", r.randbytes(4))[0]),
        "half": halves,
        "bool": leaf(pa.bool_(), lambda r: r.random() < 0.5),
        "text": leaf(pa.string(), text),
        "bytes": leaf(pa.binary(), lambda r: r.randbytes(r.choice([0, 1, 5]))),
        "fixed": leaf(pa.binary(5), lambda r: r.randbytes(5)),
        "date": leaf(pa.date32(), integers(32, True), pa.int32()),
        "time_ms": leaf(pa.time32("ms"), lambda r: r.randrange(86_400_000), pa.int32()),
        "time_us": leaf(pa.time64("us"), lambda r: r.randrange(86_400 * 10**6), pa.int64()),
        "time_ns": leaf(pa.time64("ns"), lambda r: r.randrange(86_400 * 10**9), pa.int64()),
        **{f"at_{unit}": leaf(pa.timestamp(unit), ticks(unit), pa.int64()) for unit in SECONDS},
        "at_utc": leaf(pa.timestamp("ms", "UTC"), ticks("ms"), pa.int64()),
        **{
            f"decimal{precision}_{scale}": leaf(pa.decimal128(precision, scale), decimal(precision, scale))
            for precision, scale in ((5, 2), (9, 9), (15, 3), (18, 0), (18, 4), (38, 10), (38, 38))
        },
        "decimal76": leaf(pa.decimal256(76, 30), decimal(76, 30)),
        "null": leaf(pa.null(), lambda r: None),
    }
    nested = {}
    for name, inner in leaves.items():
        nested[f"list_{name}"] = lists(inner)
    some = {name: leaves[name] for name in ("int64", "uint64", "double", "text", "decimal38_10", "at_us", "bytes")}
    nested["struct"] = structs(**some)
    nested["struct_names"] = structs(**{"__proto__": leaves["int64"], "a.b": leaves["text"], "1": leaves["bool"]})
    nested["lists"] = lists(lists(leaves["uint64"]))
    nested["structs"] = lists(structs(**some))
    nested["deep"] = structs(a=structs(b=lists(structs(c=lists(leaves["decimal38_10"])))))
    nested["map_text"] = maps(lambda at: f"k{at}", leaves["uint64"], pa.string())
    nested["map_int"] = maps(lambda at: at + 2**53, leaves["double"], pa.int64())
    nested["list_map"] = structs(m=maps(lambda at: str(at), lists(leaves["at_ns"]), pa.string()))
    return {**leaves, **nested, "invalid": strings, "__proto__": leaves["int64"], "a.b": leaves["text"]}


def table(seed):
    r = random.Random(seed)
    drawn = {name: column(r, ROWS) for name, column in columns().items()}
    arrays = {"id": pa.array(range(ROWS)), "text": pa.array(["a film"] * ROWS)}
    models = {}
    for name, (array, model) in drawn.items():
        # `text` is what the model reads.
        name = "words" if name == "text" else name
        arrays[name], models[name] = array, model
    return pa.table(arrays), models


def json_rows(seed):
    """Objects by their texts, with numbers of any length."""
    r = random.Random(seed)

    def number():
        digits = "".join(r.choice("0123456789") for _ in range(r.choice([1, 5, 16, 17, 20, 40]))).lstrip("0") or "0"
        sign, fraction = r.choice(["", "-"]), r.choice(["", "", ".5", ".10", ".12345678901234567890", ".0"])
        return sign + digits + fraction + r.choice(["", "", "", "e5", "E-7", "e+400"])

    def value(depth):
        kind = r.choice(["number"] * 4 + ["text", "word"] + ["list", "object"] * (depth < 3))
        if kind == "number":
            return number()
        if kind == "text":
            return r.choice([json.dumps(text(r)), json.dumps(text(r), ensure_ascii=False), '"\\ud800"', '"\\"]}"'])
        if kind == "word":
            return r.choice(["true", "false", "null"])
        space = r.choice(["", " ", "\t "])
        if kind == "list":
            return "[" + f"{space},".join(value(depth + 1) for _ in range(r.randrange(4))) + space + "]"
        names = r.sample(['"a"', '"b\\"}"', '"\\u0063"', '"__proto__"', '"1"'], r.randrange(4))
        return "{" + f",{space}".join(f"{name}{space}:{space}{value(depth + 1)}" for name in names) + "}"

    return [{"any": value(0), "number": number(), "long": str(r.randrange(-(2**63), 2**64))} for _ in range(ROWS)]


def write(seed, folder):
    data, _ = table(seed)
    # The first version has no nanoseconds, and its days since 4713 BC hold them only.
    nanoseconds = ["at_ns", "list_at_ns", "list_map"]
    parts = {"old": data.drop_columns(nanoseconds), "int96": data.select(["id", "text", "at_ns", "list_at_ns"])}
    for name, options in WRITINGS.items():
        pq.write_table(parts.get(name, data), folder / f"{name}.parquet", **options)
    with open(folder / "values.jsonl", "w", encoding="utf-8", newline="") as file:
        for row, fields in enumerate(json_rows(seed)):
            members = "".join(f', "{name}" : {value}' for name, value in fields.items())
            file.write(f'{{"id": {row}, "text": "a film"{members}}}\n')


def strict(value):
    """JSON with numbers as texts."""

    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(value, parse_int=Number, parse_float=Number, parse_constant=refuse)


def instant(value, per_second):
    """Ticks of a time in ISO 8601; years of any number of digits."""
    match = re.fullmatch(TIME, value)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    # Days from civil, http://howardhinnant.github.io/date_algorithms.html
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    seconds = days * 86400 + hour * 3600 + minute * 60 + second
    fraction = match.group(7) or "0"
    ticks_of_fraction, rest = divmod(int(fraction) * per_second, 10 ** len(fraction))
    return None if rest else seconds * per_second + ticks_of_fraction


def same_float(value, got):
    value = float(value)
    if got in ("NaN", "Infinity", "-Infinity"):
        return repr(float(got)) == repr(value)
    return isinstance(got, (Number, str)) and repr(float(got)) == repr(value)


def same(model, got):
    """Whether what JSON says is the value."""
    kind, value = model
    if value is None:
        return got is None
    if kind == "list":
        return isinstance(got, list) and len(got) == len(value) and all(map(same, value, got))
    if kind == "struct":
        return isinstance(got, dict) and set(got) == set(value) and all(same(value[n], got[n]) for n in value)
    if kind == "map":
        if isinstance(got, dict):
            return list(got) == [key for key, _ in value] and all(same(m, got[k]) for k, m in value)
        return len(got) == len(value) and all(
            int(pair["key"]) == key and same(m, pair["value"]) for (key, m), pair in zip(value, got)
        )
    return same_leaf(kind, value, got)


def same_leaf(kind, value, got):
    if pa.types.is_boolean(kind):
        return got is value or got == str(value).lower()
    if pa.types.is_integer(kind):
        return got == str(value)
    if pa.types.is_floating(kind):
        return same_float(value, got)
    if pa.types.is_decimal(kind):
        return Decimal(got) == value
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return got == base64.b64encode(value).decode()
    if pa.types.is_date(kind):
        return instant(got, 1) == value * 86400
    if pa.types.is_timestamp(kind):
        return instant(got, SECONDS[kind.unit]) == value
    if pa.types.is_time(kind):
        return instant(f"1970-01-01T{got}Z", SECONDS[kind.unit]) == value
    return got == value


def csv_rows(content):
    """RFC 4180: a cell without quotes and without text is null."""
    rows, row, cell, quoted, at = [], [], "", False, 0
    while at < len(content):
        mark = content[at]
        if mark == '"' and cell == "" and not quoted:
            quoted, at = True, at + 1
            while True:
                end = content.index('"', at)
                cell += content[at:end]
                if content[end + 1 : end + 2] != '"':
                    at = end + 1
                    break
                cell, at = cell + '"', end + 2
            continue
        if mark in ",\n":
            row.append(cell if cell or quoted else None)
            cell, quoted = "", False
            if mark == "\n":
                rows.append(row)
                row = []
        else:
            cell += mark
        at += 1
    header, *others = rows
    return [dict(zip(header, other, strict=True)) for other in others]


def from_text(model, got):
    """Whether a cell of text is the value: nested ones are JSON."""
    nested = model[0] in ("list", "struct", "map") and got is not None
    return same(model, strict(got) if nested else got)


def from_column(array):
    """Values of a Parquet file as texts, or as they are."""
    if pa.types.is_timestamp(array.type):
        return [None if v is None else ("ms", v) for v in array.view(pa.int64()).to_pylist()]
    return array.to_pylist()


def from_parquet(model, got):
    kind, value = model
    if isinstance(got, tuple):
        per_day = isinstance(kind, pa.DataType) and pa.types.is_date(kind)
        ticks = 86_400_000 if per_day else (1000 if kind.unit == "s" else 1)
        return value is not None and got[1] == value * ticks
    if isinstance(got, float):
        return same_number(value, got)
    if isinstance(got, bool):
        return got is value
    return from_text(model, str(got) if isinstance(got, int) else got)


def same_number(value, got):
    if isinstance(value, Decimal):
        return Decimal(repr(got)) == value
    return value is not None and repr(float(value)) == repr(got)


def outputs(file):
    if file.suffix == ".parquet":
        data = pq.read_table(file)
        columns_of = {name: from_column(data[name].combine_chunks()) for name in data.column_names}
        rows = [{name: values[row] for name, values in columns_of.items()} for row in range(data.num_rows)]
        return rows, from_parquet
    content = file.read_bytes().decode("utf-8")
    if file.suffix == ".csv":
        return csv_rows(content), from_text
    return [strict(line) for line in content.split("\n")[:-1]], same


def from_json(value, got):
    """Whether a value that was JSON is the same; a number by its value, or where it is JSON by its text."""
    if isinstance(got, float):
        return Decimal(repr(got)) == Decimal(value)
    if isinstance(got, (bool, int)):
        return str(got).lower() == value
    if got is None:
        return value == "null"
    if got == value or strict(value) == got:
        return True
    try:
        return strict(value) == strict(got)
    except ValueError:
        return False


def check(seed, folder, file, source):
    rows, compare = outputs(file)
    rejects = Path(f"{file}.rejects.jsonl")
    gone = [json.loads(line) for line in rejects.read_text().splitlines()] if rejects.exists() else []
    rejected = {reject["line"] - 1: reject["reason"] for reject in gone}
    if source == "parquet":
        _, models = table(seed)
    else:
        fields = json_rows(seed)
        models = {name: [row[name] for row in fields] for name in fields[0]}
        compare = from_json
    equal, different = 0, []
    seen = set()
    for got in rows:
        row = int(got["id"])
        seen.add(row)
        for name in models:
            if name not in got:
                continue
            if compare(models[name][row], got[name]):
                equal += 1
            else:
                different.append([row, name, repr(models[name][row])[:200], repr(got[name])[:200]])
    missing = [row for row in range(ROWS) if row not in seen and not rejected.get(row)]
    print(json.dumps({"equal": equal, "rejected": len(rejected), "different": different, "missing": missing}))


if __name__ == "__main__":
    command, seed, folder, *rest = sys.argv[1:]
    if command == "write":
        write(int(seed), Path(folder))
    else:
        check(int(seed), Path(folder), Path(folder) / rest[0], rest[1])
