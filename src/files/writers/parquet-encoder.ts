import { deserialize, serialize } from 'node:v8';
import { gzipSync } from 'node:zlib';
import { type Timestamp, toExactDouble, toExactInteger } from '../cell-values';
import type { Compression } from '../formats';
import type { ColumnType, ResultColumn } from '../job-spec';
import type { OutputSchema } from '../output-schema';
import { fieldOf } from '../rows';
import { arrowSchema, type Field } from './arrow-schema';
import { toText } from './cell-text';
import { loadZstd } from './compress';
import type { OutputEncoder } from './output-encoder';

/** Of a row group: more would read better, and a run that is ended would lose more. */
const ROWS_OF_GROUP = 8192;
/** Of its vectors. */
const NUMBERS_OF_GROUP = 2 ** 20;
const PAGE_BYTES = 2 ** 20;

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
  // Readers reject what the library writes of a logical type for it.
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
type SchemaElement = InstanceType<Library['ParquetWriter']>['schema'][number];
type Writer = Awaited<ReturnType<typeof openWriter>>;
type RowGroup = Writer['writer']['row_groups'][number];

/** Parquet: each part is a row group, and what the footer says of it is its state. */
export async function parquetEncoder(
  layout: OutputSchema,
  compression: Compression,
): Promise<OutputEncoder> {
  const { bytes, writer } = await openWriter(layout, compression);
  const writeVectors = await openVectors(writer);
  const kept = layout.keptColumns ?? [];
  return {
    rowsPerPart: Math.min(ROWS_OF_GROUP, Math.ceil(NUMBERS_OF_GROUP / numbersOf(layout))),
    start: async () => taken(bytes),
    async part(rows) {
      const answers = rows.map(({ prediction }) => layout.resultCells(prediction));
      const all = [...kept, ...layout.resultColumns];
      const columnData = all.flatMap(({ name, type }, index) => {
        if (type === 'vector') return [];
        const cells =
          index < kept.length
            ? rows.map(({ row }) => fieldOf(row, name))
            : answers.map((values) => values[index - kept.length]);
        const data = cells.map((cell) => stored(cell, type));
        // A dictionary has one value for 0 and -0.
        const encoding = type === 'number' ? { encoding: 'PLAIN' as const } : {};
        // An offset index would have to be kept until the end of the file.
        return [{ name, data, offsetIndex: false, ...encoding }];
      });
      await writer.write({ columnData, rowGroupSize: rows.length });
      for (const [index, column] of layout.resultColumns.entries()) {
        if (column.type !== 'vector') continue;
        const vectors = answers.map((cells) => cells[index] as Float32Array);
        writeVectors(vectors, column, kept.length + index);
      }
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
    schema: [{ name: 'root', num_children: fields.length }, ...fields.flatMap(elementsOf)],
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

/**
 * Puts a column of vectors into the last row group. The library makes an object of each number on the way to
 * what it writes, which takes a tenth of the time of a small model: here they go there as they are.
 */
async function openVectors(writer: Writer['writer']) {
  const { writeColumn } = await import('hyparquet-writer/src/column.js');
  type Encoding = Parameters<typeof writeColumn>[0]['column'];
  return (vectors: readonly Float32Array[], { name, length = 0 }: ResultColumn, at: number) => {
    const group = writer.row_groups.at(-1) as RowGroup;
    const values = new Float32Array(vectors.length * length);
    // The first number of a list begins a row, and each is there.
    const repetitionLevels = new Array<number>(values.length).fill(1);
    const definitionLevels = new Array<number>(values.length).fill(1);
    for (const [row, vector] of vectors.entries()) {
      values.set(vector, row * length);
      repetitionLevels[row * length] = 0;
    }
    const begin = writer.schema.findIndex((element) => element.name === name);
    const elements = writer.schema.slice(begin, begin + 3);
    const compressors = writer.compressors as Encoding['compressors'];
    const { chunk } = writeColumn({
      writer: writer.writer,
      column: {
        columnName: `${name}.list.element`,
        element: elements[2] as SchemaElement,
        schemaPath: [writer.schema[0] as SchemaElement, ...elements],
        codec: writer.codec,
        compressors,
        encoding: 'PLAIN',
        stats: false,
        pageSize: PAGE_BYTES,
        columnIndex: false,
        offsetIndex: false,
      },
      pageData: { values, definitionLevels, repetitionLevels, maxDefinitionLevel: 1 },
    });
    group.columns.splice(at, 0, chunk);
    group.total_byte_size += chunk.meta_data?.total_uncompressed_size ?? 0n;
    group.total_compressed_size =
      (group.total_compressed_size ?? 0n) + (chunk.meta_data?.total_compressed_size ?? 0n);
  };
}

/** Of a vector: the three that the format has for a list. */
function elementsOf({ name, type, nullable }: Field): readonly SchemaElement[] {
  const repetition_type = nullable ? 'OPTIONAL' : 'REQUIRED';
  if (type !== 'vector') return [{ ...ELEMENTS[type], name, repetition_type }];
  return [
    { ...LIST, name, repetition_type, num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'REQUIRED', type: 'FLOAT' },
  ];
}

/** Of a row, in its vectors. */
function numbersOf({ resultColumns }: OutputSchema): number {
  return resultColumns.reduce((sum, { length = 0 }) => sum + length, 1);
}

/** What has been written since the last time; positions in the file go on. */
function taken(bytes: Writer['bytes']): Buffer {
  const some = Buffer.from(bytes.buffer.slice(0, bytes.index));
  bytes.index = 0;
  return some;
}

function stored(value: unknown, type: ColumnType): unknown {
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
