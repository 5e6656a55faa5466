import { deserialize, serialize } from 'node:v8';
import { gzipSync } from 'node:zlib';
import type { Compression } from '../formats';
import type { Layout } from '../layout';
import type { ColumnType } from '../plan';
import { fieldOf } from '../rows';
import { loadZstd } from './compress';
import type { Encoder } from './encoder';
import { toText } from './values';

/** Of a row group: more would read better, and a run that is ended would lose more. */
const ROWS_OF_GROUP = 8192;

const CODECS = {
  none: 'UNCOMPRESSED',
  snappy: 'SNAPPY',
  gzip: 'GZIP',
  zstd: 'ZSTD',
} as const satisfies Readonly<Record<Compression, string>>;

const TEXT = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const;

const ELEMENTS = {
  string: TEXT,
  json: TEXT,
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
} as const satisfies Readonly<Record<ColumnType, object>>;

type Writer = Awaited<ReturnType<typeof openWriter>>;
type RowGroup = Writer['writer']['row_groups'][number];

/** Parquet: each part is a row group, and what the footer says of it is its state. */
export async function parquetEncoder(layout: Layout, compression: Compression): Promise<Encoder> {
  const { bytes, writer } = await openWriter(layout, compression);
  const kept = layout.kept ?? [];
  return {
    rowsOfPart: ROWS_OF_GROUP,
    start: async () => taken(bytes),
    async part(rows) {
      const answers = rows.map(({ answer }) => layout.cellsOf(answer));
      const data = [
        ...kept.map(({ name, type }) => rows.map(({ row }) => stored(fieldOf(row, name), type))),
        ...layout.columns.map((_, index) => answers.map((cells) => cells[index])),
      ];
      const columnData = [...kept, ...layout.columns].map(({ name }, index) => ({
        name,
        data: data[index] as unknown[],
        // It would have to be kept until the end of the file.
        offsetIndex: false,
      }));
      await writer.write({ columnData, rowGroupSize: rows.length });
      const state = serialize(writer.row_groups.at(-1)).toString('base64');
      return { bytes: taken(bytes), state };
    },
    async finish() {
      await writer.finish();
      return taken(bytes);
    },
    async restore(states, length) {
      taken(bytes);
      bytes.offset = length;
      for (const state of states) {
        const group: RowGroup = deserialize(Buffer.from(state, 'base64'));
        writer.row_groups.push(group);
        writer.num_rows += group.num_rows;
      }
    },
  };
}

/** The packages are ES modules, which this one, a CommonJS module, imports when it needs them. */
async function openWriter({ kept, columns }: Layout, compression: Compression) {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const codec = CODECS[compression];
  const elements = (some: Layout['columns'], repetition_type: 'OPTIONAL' | 'REQUIRED') =>
    some.map(({ name, type }) => ({ ...ELEMENTS[type], name, repetition_type }));
  const leaves = [...elements(kept ?? [], 'OPTIONAL'), ...elements(columns, 'REQUIRED')];
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: leaves.length }, ...leaves],
    codec,
    compressors: {
      GZIP: (block: Uint8Array) => gzipSync(block),
      ...(codec === 'ZSTD' && { ZSTD: await loadZstd() }),
    },
    createdBy: 'libtorch-serve',
  });
  return { bytes, writer };
}

/** What has been written since the last time; positions in the file go on. */
function taken(bytes: Writer['bytes']): Buffer {
  const some = Buffer.from(bytes.buffer.slice(0, bytes.index));
  bytes.index = 0;
  return some;
}

function stored(value: unknown, type: ColumnType): unknown {
  if (value === null || value === undefined) return undefined;
  if (type === 'integer') return BigInt(value as number | bigint);
  if (type === 'json' || type === 'string') return toText(value);
  return value;
}
