import { CellError } from '../cell-values';
import { UsageError } from '../file-errors';
import type { ColumnType } from '../job-spec';
import { isText, leafOf, type SchemaElement } from './parquet-primitive-types';

type Library = typeof import('hyparquet', { with: { 'resolution-mode': 'import' }});
export type MetaData = Awaited<ReturnType<Library['parquetMetadataAsync']>>;

/** What a value of the library means; null in, null out. @throws CellError: it cannot be kept */
type Decode = (value: unknown) => unknown;

export interface ParquetColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Whether it is a list, a struct or a map. */
  readonly isNested: boolean;
  /** Its name in the plain metadata. */
  readonly key: string;
  readonly decode: Decode;
}

/** The part of a schema below an element. */
interface Node {
  /** Of the element in the schema. */
  readonly index: number;
  readonly element: SchemaElement;
  readonly children: readonly Node[];
  /** Of the element behind it. */
  readonly next: number;
}

/**
 * Metadata for which the library gives values as they are stored. Types that it would convert, some with a loss
 * (decimals to doubles, bytes to text, times to milliseconds, maps to objects), are converted by `columnsOf`. Elements
 * are named by their places: a name may be there twice, or have points in it.
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
    // In the order of the schema, as the format has it.
    columns: group.columns.map((column, index) => {
      const { meta_data } = column;
      if (!meta_data) return column;
      return { ...column, meta_data: { ...meta_data, path_in_schema: paths[index] ?? [] } };
    }),
  }));
  return { ...metadata, schema, row_groups };
}

/** @throws UsageError: a name is there twice */
export function columnsOf({ schema }: MetaData, file: string): readonly ParquetColumn[] {
  const { children } = nodeAt(schema, 0);
  requireOnce(children, file);
  return children.map((node) => {
    const { element, index } = node;
    const isNested = node.children.length > 0 || element.repetition_type === 'REPEATED';
    const type = isNested ? 'json' : leafOf(element).type;
    return {
      name: element.name,
      key: String(index),
      type,
      isNested,
      decode: decoderOf(node, file),
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

function decoderOf(node: Node, file: string): Decode {
  const decode = orNull(decoderOfOne(node, file));
  if (node.element.repetition_type !== 'REPEATED') return decode;
  return orNull((values) => Array.from(values as Iterable<unknown>, decode));
}

const orNull =
  (decode: Decode): Decode =>
  (value) =>
    value === null || value === undefined ? null : decode(value);

function decoderOfOne({ element, children }: Node, file: string): Decode {
  const [first, ...others] = children;
  if (!first) return leafOf(element).decode;
  const isRepeated = first.element.repetition_type === 'REPEATED' && others.length === 0;
  if (isRepeated && isList(element) && first.children.length <= 1) {
    const decode = orNull(decoderOfOne(first.children[0] ?? first, file));
    return (values) => Array.from(values as Iterable<unknown>, decode);
  }
  if (isRepeated && isMap(element) && first.children.length === 2) return mapDecoder(first, file);
  requireOnce(children, file);
  const fields = children.map((child) => [child.element.name, child.index, decoderOf(child, file)]);
  return (struct) => {
    const all: { [name: string]: unknown } = Object.create(null);
    for (const [name, index, decode] of fields as [string, number, Decode][]) {
      all[name] = decode((struct as Record<string, unknown>)[index]);
    }
    return all;
  };
}

/** A map with texts as keys is an object; another one is a list of its keys and values, since JSON has no such keys. */
function mapDecoder(entry: Node, file: string): Decode {
  const [key, value] = entry.children as [Node, Node];
  const [decodeKey, decodeValue] = [decoderOf(key, file), decoderOf(value, file)];
  const pairsOf = (map: unknown) =>
    Array.from(
      (map as Record<string, Iterable<Record<string, unknown>>>)[entry.index] ?? [],
      (pair) => [decodeKey(pair[key.index]), decodeValue(pair[value.index])] as const,
    );
  if (key.children.length > 0 || !isText(key.element)) {
    return (map) => pairsOf(map).map(([one, other]) => ({ key: one, value: other }));
  }
  return (map) => {
    const all: { [name: string]: unknown } = Object.create(null);
    for (const [name, cell] of pairsOf(map)) {
      if ((name as string) in all) throw new CellError('has a map with the same key twice');
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

function requireOnce(nodes: readonly Node[], file: string): void {
  const names = nodes.map(({ element }) => element.name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new UsageError(`${file}: has two columns named “${twice}”`);
}
