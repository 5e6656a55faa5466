import { Builder } from 'flatbuffers';
import type { ResultColumn } from '../job-spec';

/** Column of a Parquet file. */
export interface Field extends ResultColumn {
  readonly nullable: boolean;
}

/** Field indexes and enum values of Schema.fbs and Message.fbs of Apache Arrow. */
const MESSAGE = { version: 0, headerType: 1, header: 2, members: 5 };
const SCHEMA = { fields: 1, members: 4 };
const FIELD = { name: 0, nullable: 1, kind: 2, type: 3, children: 5, members: 7 };
const METADATA_V5 = 4;
const HEADER_IS_SCHEMA = 1;
const KIND = { int: 2, floatingPoint: 3, utf8: 5, bool: 6, timestamp: 10, fixedSizeList: 16 };
const PRECISION = { single: 1, double: 2 };
const MILLISECONDS = 1;
const CONTINUES = 0xffffffff;
const ALIGNMENT = 8;

/** Name of the elements of a Parquet list. */
const ELEMENT = 'element';

type Offset = number;
/** Writes the Arrow type of a column into the builder. */
type TypeWriter = (builder: Builder) => { readonly kind: number; readonly type: Offset };

const utf8: TypeWriter = (builder) => table(builder, KIND.utf8, 0);
const floatingPoint =
  (precision: number): TypeWriter =>
  (builder) =>
    table(builder, KIND.floatingPoint, 1, () => builder.addFieldInt16(0, precision, 0));

function integer(isSigned: boolean): TypeWriter {
  return (builder) =>
    table(builder, KIND.int, 2, () => {
      builder.addFieldInt32(0, 64, 0);
      builder.addFieldInt8(1, Number(isSigned), 0);
    });
}

const TYPES: Readonly<Record<Exclude<ResultColumn['type'], 'vector'>, TypeWriter>> = {
  string: utf8,
  json: utf8,
  integer: integer(true),
  unsigned: integer(false),
  number: floatingPoint(PRECISION.double),
  boolean: (builder) => table(builder, KIND.bool, 0),
  time: (builder) => {
    const zone = builder.createString('UTC');
    return table(builder, KIND.timestamp, 2, () => {
      builder.addFieldInt16(0, MILLISECONDS, 0);
      builder.addFieldOffset(1, zone, 0);
    });
  },
};

/**
 * Builds the metadata value `ARROW:schema` of a Parquet file. Parquet lists have variable lengths; with this schema,
 * Arrow readers read vectors as fixed-size lists. Other readers ignore it.
 *
 * @returns encapsulated IPC message in base64
 * Source: the Arrow columnar format, "Encapsulated message format"; Arrow C++, parquet/arrow/schema.cc.
 */
export function arrowSchema(fields: readonly Field[]): string {
  const builder = new Builder();
  const all = vectorOf(
    builder,
    fields.map((field) => fieldOf(builder, field)),
  );
  builder.startObject(SCHEMA.members);
  builder.addFieldOffset(SCHEMA.fields, all, 0);
  const header = builder.endObject();
  builder.startObject(MESSAGE.members);
  builder.addFieldInt16(MESSAGE.version, METADATA_V5, 0);
  builder.addFieldInt8(MESSAGE.headerType, HEADER_IS_SCHEMA, 0);
  builder.addFieldOffset(MESSAGE.header, header, 0);
  builder.finish(builder.endObject());
  return encapsulated(builder.asUint8Array()).toString('base64');
}

function fieldOf(builder: Builder, { name, nullable, type, length = 0 }: Field): Offset {
  if (type !== 'vector') return column(builder, { name, nullable }, TYPES[type]);
  const number = { name: ELEMENT, nullable: false };
  const numbers = [column(builder, number, floatingPoint(PRECISION.single))];
  const list: TypeWriter = () =>
    table(builder, KIND.fixedSizeList, 1, () => builder.addFieldInt32(0, length, 0));
  return column(builder, { name, nullable }, list, numbers);
}

function column(
  builder: Builder,
  { name, nullable }: Pick<Field, 'name' | 'nullable'>,
  write: TypeWriter,
  children: readonly Offset[] = [],
): Offset {
  const { kind, type } = write(builder);
  const nameOffset = builder.createString(name);
  // Readers require the vector of children, even if empty.
  const childrenOffset = vectorOf(builder, children);
  builder.startObject(FIELD.members);
  builder.addFieldOffset(FIELD.name, nameOffset, 0);
  builder.addFieldInt8(FIELD.nullable, Number(nullable), 0);
  builder.addFieldInt8(FIELD.kind, kind, 0);
  builder.addFieldOffset(FIELD.type, type, 0);
  builder.addFieldOffset(FIELD.children, childrenOffset, 0);
  return builder.endObject();
}

function table(builder: Builder, kind: number, members: number, fill = () => {}) {
  builder.startObject(members);
  fill();
  return { kind, type: builder.endObject() };
}

/** Writes a vector of tables. FlatBuffers are written backwards. */
function vectorOf(builder: Builder, offsets: readonly Offset[]): Offset {
  builder.startVector(4, offsets.length, 4);
  for (const offset of offsets.toReversed()) builder.addOffset(offset);
  return builder.endVector();
}

/** Adds the continuation marker, the length and padding to a multiple of 8 bytes. */
function encapsulated(message: Uint8Array): Buffer {
  const length = Math.ceil(message.length / ALIGNMENT) * ALIGNMENT;
  const whole = Buffer.alloc(ALIGNMENT + length);
  whole.writeUInt32LE(CONTINUES, 0);
  whole.writeUInt32LE(length, 4);
  whole.set(message, ALIGNMENT);
  return whole;
}
