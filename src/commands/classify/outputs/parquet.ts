import { deserialize, serialize } from 'node:v8';
import { gzipSync } from 'node:zlib';
import type { Compression } from '../formats';
import type {
  ByteWriter,
  CompressionCodec,
  ParquetWriter,
  RowGroup,
  SchemaElement,
} from '../hyparquet';
import { type Answered, answerValues, type Column, type ColumnType, type Layout } from '../layout';
import { fieldOf } from '../rows';
import { loadZstd } from './compress';
import type { Encoder, Part } from './encoder';
import { toText } from './values';

/** Of a row group: more would read better, and a run that is ended would lose more. */
const ROWS_OF_GROUP = 8192;

const CODECS: Readonly<Record<Compression, CompressionCodec>> = {
  none: 'UNCOMPRESSED',
  snappy: 'SNAPPY',
  gzip: 'GZIP',
  zstd: 'ZSTD',
};

const ELEMENTS: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
};

/** Parquet: each part is a row group, and what the footer says of it is its state. */
export class ParquetEncoder implements Encoder {
  readonly rowsOfPart = ROWS_OF_GROUP;
  readonly #layout: Layout;
  readonly #compression: Compression;
  readonly #columns: readonly Column[];
  #open: { readonly writer: ParquetWriter; readonly bytes: ByteWriter } | null = null;

  constructor(layout: Layout, compression: Compression) {
    this.#layout = layout;
    this.#compression = compression;
    this.#columns = [...(layout.kept ?? []), ...layout.answers];
  }

  async start(): Promise<Buffer> {
    return taken((await this.#writer()).bytes);
  }

  async part(rows: readonly Answered[]): Promise<Part> {
    const { writer, bytes } = await this.#writer();
    const kept = this.#layout.kept ?? [];
    const answers = rows.map(({ answer }) => answerValues(answer, this.#layout));
    const columnData = this.#columns.map(({ name, type }, index) => ({
      name,
      data:
        index < kept.length
          ? rows.map(({ row }) => stored(fieldOf(row, name), type))
          : answers.map((values) => values[index - kept.length]),
      // It would have to be kept until the end of the file.
      offsetIndex: false,
    }));
    await writer.write({ columnData, rowGroupSize: rows.length });
    const state = serialize(writer.row_groups.at(-1)).toString('base64');
    return { bytes: taken(bytes), state };
  }

  async finish(): Promise<Buffer> {
    const { writer, bytes } = await this.#writer();
    await writer.finish();
    return taken(bytes);
  }

  async restore(states: readonly string[], length: number): Promise<void> {
    const { writer, bytes } = await this.#writer();
    taken(bytes);
    bytes.offset = length;
    for (const state of states) {
      const group = deserialize(Buffer.from(state, 'base64')) as RowGroup;
      writer.row_groups.push(group);
      writer.num_rows += group.num_rows;
    }
  }

  async #writer() {
    if (this.#open) return this.#open;
    const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
    const codec = CODECS[this.#compression];
    const bytes = new ByteWriter();
    const schema: SchemaElement[] = [
      { name: 'root', num_children: this.#columns.length },
      ...this.#columns.map(({ name, type }, index) => ({
        ...ELEMENTS[type],
        name,
        repetition_type:
          index < (this.#layout.kept?.length ?? 0) ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      })),
    ];
    const compressors = {
      GZIP: (block: Uint8Array) => gzipSync(block),
      ...(codec === 'ZSTD' && { ZSTD: await loadZstd() }),
    };
    const createdBy = 'libtorch-serve';
    const writer = new ParquetWriter({ writer: bytes, schema, codec, compressors, createdBy });
    this.#open = { writer, bytes };
    return this.#open;
  }
}

/** What has been written since the last time; positions in the file go on. */
function taken(bytes: ByteWriter): Buffer {
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
