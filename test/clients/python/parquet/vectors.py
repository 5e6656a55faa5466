"""What three readers of Parquet say of a file that `libtorch-serve embed` wrote: python vectors.py FILE."""

import json
import sys

import duckdb
import polars
import pyarrow.parquet as parquet


def main(file: str) -> None:
    schema = parquet.read_schema(file)
    table = parquet.read_table(file)
    frame = polars.read_parquet(file)
    rows = duckdb.sql("SELECT embedding FROM read_parquet($file)", params={"file": file}).fetchall()
    told = {
        "pyarrow": {field.name: [str(field.type), field.nullable] for field in schema},
        "polars": {name: str(kind) for name, kind in frame.schema.items()},
        "vectors": {
            "pyarrow": table["embedding"].to_pylist(),
            "polars": frame["embedding"].to_list(),
            "duckdb": [list(vector) for (vector,) in rows],
        },
        "others": table.drop_columns(["embedding"]).to_pylist(),
    }
    json.dump(told, sys.stdout, default=str)


if __name__ == "__main__":
    main(sys.argv[1])
