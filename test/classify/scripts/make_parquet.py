"""Writes test/fixtures/parquet: small files as pyarrow writes them. Needs pyarrow 24 or newer."""

import datetime
import decimal
import json
import pathlib

import pyarrow
import pyarrow.parquet

FOLDER = pathlib.Path(__file__).parents[2] / "fixtures" / "parquet"
START = datetime.datetime(2024, 1, 1, 0, 0, 0, 123456, tzinfo=datetime.timezone.utc)

rows = [{"id": 2**53 - 100 + i, "text": f"text {i} é 喜悦"} for i in range(100)]
table = pyarrow.table(
    {
        "id": pyarrow.array([row["id"] for row in rows], pyarrow.int64()),
        "text": [row["text"] for row in rows],
        "score": [None if i % 3 else i / 4 for i in range(100)],
        "day": [datetime.date(2024, 1, 1 + i % 28) for i in range(100)],
        "at": pyarrow.array([START] * 100, pyarrow.timestamp("us", "UTC")),
        "tags": [["a", "b"]] * 100,
        "flag": [i % 2 == 0 for i in range(100)],
    }
)
FOLDER.mkdir(exist_ok=True)
(FOLDER / "rows.json").write_text(json.dumps(rows, ensure_ascii=False))
for codec in ["snappy", "gzip", "zstd", "brotli", "lz4", "none"]:
    file = FOLDER / f"{codec}.parquet"
    pyarrow.parquet.write_table(table, file, compression=codec, row_group_size=40)
price = pyarrow.array([decimal.Decimal("1.5")], pyarrow.decimal128(30, 2))
decimals = pyarrow.table({"text": ["a"], "price": price})
pyarrow.parquet.write_table(decimals, FOLDER / "decimals.parquet")
