import { CellError } from '../cell-values';
import { UsageError } from '../file-errors';
import type { ColumnType } from '../job-spec';
import { isText, primitiveTypeOf, type SchemaElement } from './parquet-primitive-types';

type Library = typeof import('hyparquet', { with: { 'resolution-mode': 'import' }});
export type MetaData = Awaited<ReturnType<Library['parquetMetadataAsync']>>;

/** Converts a stored value to a cell; null stays null. @throws CellError if the cell is not representable */
type Decode = (value: unknown) => unknown;

export interface ParquetColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** True for lists, structs and maps. */
  readonly isNested: boolean;
  /** Name in the plain metadata. */
  readonly key: string;
  readonly decode: Decode;
}

/** Subtree of the schema. */
interface Node {
  /** Index of the element in the schema. */
  readonly index: number;
  readonly element: SchemaElement;
  readonly children: readonly Node[];
  /** Index of the element after the subtree. */
  readonly next: number;
}

/**
 * Removes logical types from the metadata, so that the library returns stored values. Its conversions lose information
 * (decimals to doubles, bytes to text, times to milliseconds, maps to objects); `columnsOf` converts without loss.
 * Elements are named by their index, because names can be duplicates or contain dots.
 */
export function plainMetadata(metadata: MetaData): MetaData {
  const paths: string[][] = [];
  const schema = metadata.schema.map((element, index) => {
    const { logical_type: _logical, converted_type: _converted, ...stored } = element;
    const list = isList(element) && { converted_type: 'LIST' as const };
    return { ...stored, name: String(index), ...list };
  });
  const collect = ({ index, children }: Node, path: readonly string[]): void => {
    const own = index === 0 ? [] : [...path, String(index)];
    if (children.length === 0) paths.push(own);
    for (const child of children) collect(child, own);
  };
  collect(nodeAt(metadata.schema, 0), []);
  const row_groups = metadata.row_groups.map((group) => ({
    ...group,
    // Column chunks have the order of the schema.
    columns: group.columns.map((column, index) => {
      const { meta_data } = column;
      if (!meta_data) return column;
      return { ...column, meta_data: { ...meta_data, path_in_schema: paths[index] ?? [] } };
    }),
  }));
  return { ...metadata, schema, row_groups };
}

/** Returns the top-level columns. @throws UsageError for duplicate names */
export function columnsOf({ schema }: MetaData, file: string): readonly ParquetColumn[] {
  const { children } = nodeAt(schema, 0);
  requireUniqueNames(children, file);
  return children.map((node) => {
    const { element, index } = node;
    const isNested = node.children.length > 0 || element.repetition_type === 'REPEATED';
    const type = isNested ? 'json' : primitiveTypeOf(element).type;
    return {
      name: element.name,
      key: String(index),
      type,
      isNested,
      decode: decoderFor(node, file),
    };
  });
}

function nodeAt(schema: readonly SchemaElement[], index: number): Node {
  const element = schema[index] as SchemaElement;
  const children: Node[] = [];
  let next = index + 1;
  for (let count = element.num_children ?? 0; count > 0; count--) {
    const child = nodeAt(schema, next);
    children.push(child);
    next = child.next;
  }
  return { index, element, children, next };
}

function decoderFor(node: Node, file: string): Decode {
  const decode = keepNull(singleDecoder(node, file));
  if (node.element.repetition_type !== 'REPEATED') return decode;
  return keepNull((values) => Array.from(values as Iterable<unknown>, decode));
}

const keepNull =
  (decode: Decode): Decode =>
  (value) =>
    value === null || value === undefined ? null : decode(value);

function singleDecoder({ element, children }: Node, file: string): Decode {
  const [first, ...rest] = children;
  if (!first) return primitiveTypeOf(element).decode;
  const isRepeated = first.element.repetition_type === 'REPEATED' && rest.length === 0;
  if (isRepeated && isList(element) && first.children.length <= 1) {
    const decode = keepNull(singleDecoder(first.children[0] ?? first, file));
    return (values) => Array.from(values as Iterable<unknown>, decode);
  }
  if (isRepeated && isMap(element) && first.children.length === 2) return mapDecoder(first, file);
  requireUniqueNames(children, file);
  const fields = children.map((child) => [
    child.element.name,
    child.index,
    decoderFor(child, file),
  ]);
  return (struct) => {
    const all: { [name: string]: unknown } = Object.create(null);
    for (const [name, index, decode] of fields as [string, number, Decode][]) {
      all[name] = decode((struct as Record<string, unknown>)[index]);
    }
    return all;
  };
}

/** Decodes a map: to an object if the keys are strings, otherwise to a list of `{ key, value }`. */
function mapDecoder(entry: Node, file: string): Decode {
  const [key, value] = entry.children as [Node, Node];
  const [decodeKey, decodeValue] = [decoderFor(key, file), decoderFor(value, file)];
  const pairsOf = (map: unknown) =>
    Array.from(
      (map as Record<string, Iterable<Record<string, unknown>>>)[entry.index] ?? [],
      (pair) => [decodeKey(pair[key.index]), decodeValue(pair[value.index])] as const,
    );
  if (key.children.length > 0 || !isText(key.element)) {
    return (map) => pairsOf(map).map(([key, value]) => ({ key, value }));
  }
  return (map) => {
    const all: { [name: string]: unknown } = Object.create(null);
    for (const [name, cell] of pairsOf(map)) {
      if ((name as string) in all) throw new CellError('map with a duplicate key');
      all[name as string] = cell;
    }
    return all;
  };
}

function isList({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'LIST' || logical_type?.type === 'LIST';
}

function isMap({ converted_type, logical_type }: SchemaElement): boolean {
  return (
    converted_type === 'MAP' || converted_type === 'MAP_KEY_VALUE' || logical_type?.type === 'MAP'
  );
}

function requireUniqueNames(nodes: readonly Node[], file: string): void {
  const names = nodes.map(({ element }) => element.name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new UsageError(`${file}: duplicate column “${twice}”`);
}
