import { deserialize, serialize } from 'node:v8';
import { gzipSync } from 'node:zlib';
import { type Timestamp, toExactDouble, toExactInteger, toText } from '../cell-values';
import type { Compression } from '../formats';
import type { ColumnType, ResultColumn } from '../job-spec';
import type { OutputSchema } from '../output-schema';
import { fieldOf } from '../rows';
import { arrowSchema, type Field } from './arrow-schema';
import { loadZstd } from './compress';
import type { OutputEncoder } from './output-encoder';

/** Rows per row group. Larger groups are faster to read, but a crash loses more work. */
const ROWS_PER_GROUP = 8192;
/** Maximum number of vector elements per row group. */
const ELEMENTS_PER_GROUP = 2 ** 20;

// hyparquet-writer (1.2 MB with the reader and codecs) writes single row groups and exposes the metadata that the journal
// needs. parquet-wasm has 15 MB, DuckDB 71 MB, and @dsnp/parquetjs includes a cloud storage client.
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

const LIST = { converted_type: 'LIST', logical_type: { type: 'LIST' } } as const;

const ELEMENTS = {
  string: TEXT,
  json: TEXT,
  integer: { type: 'INT64' },
  // Readers reject the logical type that the library writes for unsigned integers.
  unsigned: { type: 'INT64', converted_type: 'UINT_64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
} as const satisfies Readonly<Record<ColumnType, object>>;

type Library = typeof import('hyparquet-writer', { with: { 'resolution-mode': 'import' }});
type ParquetWriter = InstanceType<Library['ParquetWriter']>;
type SchemaElement = ParquetWriter['schema'][number];
type RowGroup = ParquetWriter['row_groups'][number];
type ColumnSource = Parameters<ParquetWriter['write']>[0]['columnData'][number];

/** Encodes Parquet. Each part is a row group; its state is the group's entry in the footer. */
export async function parquetEncoder(
  schema: OutputSchema,
  compression: Compression,
): Promise<OutputEncoder> {
  const { bytes, writer } = await openWriter(schema, compression);
  const keptColumns = schema.keptColumns ?? [];
  const elementsPerRow = schema.resultColumns.reduce((sum, { length = 0 }) => sum + length, 1);
  /** Returns the bytes written since the last call. The file offset of the writer is kept. */
  const takeBytes = (): Buffer => {
    const taken = Buffer.from(bytes.buffer.slice(0, bytes.index));
    bytes.index = 0;
    return taken;
  };
  return {
    rowsPerPart: Math.min(ROWS_PER_GROUP, Math.ceil(ELEMENTS_PER_GROUP / elementsPerRow)),
    start: async () => takeBytes(),
    async part(rows) {
      const results = rows.map(({ prediction }) => schema.resultCells(prediction));
      const columnData = [
        ...keptColumns.map((column) =>
          toSource(
            column,
            rows.map(({ row }) => fieldOf(row, column.name)),
          ),
        ),
        ...(await Promise.all(
          schema.resultColumns.map((column, index) =>
            resultSource(
              column,
              results.map((cells) => cells[index]),
            ),
          ),
        )),
      ];
      await writer.write({ columnData, rowGroupSize: rows.length });
      const state = serialize(writer.row_groups.at(-1)).toString('base64');
      return { bytes: takeBytes(), state };
    },
    async finish() {
      await writer.finish();
      return takeBytes();
    },
    async restore(states, length) {
      takeBytes();
      bytes.offset = length;
      for (const state of states) {
        const group: RowGroup = deserialize(Buffer.from(state, 'base64'));
        writer.row_groups.push(group);
        writer.num_rows += group.num_rows;
      }
    },
  };
}

/** Creates the writer. The library is an ES module, which a CommonJS module must import dynamically. */
async function openWriter({ keptColumns, resultColumns }: OutputSchema, compression: Compression) {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const codec = CODECS[compression];
  const fields = [
    ...(keptColumns ?? []).map((column) => ({ ...column, nullable: true })),
    ...resultColumns.map((column) => ({ ...column, nullable: false })),
  ];
  const hasVectors = resultColumns.some(({ type }) => type === 'vector');
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: fields.length }, ...fields.flatMap(schemaElements)],
    codec,
    compressors: {
      GZIP: (block: Uint8Array) => gzipSync(block),
      ...(codec === 'ZSTD' && { ZSTD: await loadZstd() }),
    },
    ...(hasVectors && { kvMetadata: [{ key: 'ARROW:schema', value: arrowSchema(fields) }] }),
    createdBy: 'libtorch-serve',
  });
  return { bytes, writer };
}

/** Schema elements of a column: three for a vector, which is a list. */
function schemaElements({ name, type, nullable }: Field): readonly SchemaElement[] {
  const repetition_type = nullable ? 'OPTIONAL' : 'REQUIRED';
  if (type !== 'vector') return [{ ...ELEMENTS[type], name, repetition_type }];
  return [
    { ...LIST, name, repetition_type, num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'REQUIRED', type: 'FLOAT' },
  ];
}

/** Values of a column of results. `json` columns with large values have their own serialization. */
async function resultSource(column: ResultColumn, cells: readonly unknown[]) {
  if (column.type !== 'json' || !column.toJson) return toSource(column, cells);
  const texts = await column.toJson(cells);
  return toSource(
    column,
    texts.map((text) => text.toString('latin1')),
  );
}

/** Values of a column for the library. Without an offset index, which would be kept in memory until the end. */
function toSource({ name, type }: ResultColumn, cells: readonly unknown[]): ColumnSource {
  if (type === 'vector') {
    const data = cells.map((cell) => Array.from(cell as Float32Array));
    return { name, data, offsetIndex: false, encoding: 'PLAIN', statistics: false };
  }
  const data = cells.map((cell) => toStored(cell, type));
  // A dictionary would merge 0 and -0.
  if (type === 'number') return { name, data, offsetIndex: false, encoding: 'PLAIN' };
  return { name, data, offsetIndex: false };
}

function toStored(value: unknown, type: ColumnType): unknown {
  if (value === null || value === undefined) return undefined;
  switch (type) {
    case 'integer':
    case 'unsigned':
      return toExactInteger(value);
    case 'number':
      return toExactDouble(value);
    case 'time':
      return (value as Timestamp).millis;
    case 'boolean':
      return value;
    default:
      return toText(value);
  }
}
