/** A text in JSON. */
export interface TextField {
  readonly text: string;
  /** Replaces the text in the JSON. */
  readonly replace: (text: string) => void;
  /** Path of the field. Elements of arrays are identified by their field `index`, if any, otherwise by position. */
  readonly path: string;
  /** True for arguments and results of tools, which may be JSON. */
  readonly isToolData: boolean;
}

/** Path of fields: names, and null for each element of an array. */
export type FieldPath = readonly (string | null)[];

/** Names of fields with arguments or results of tools. */
const TOOL_FIELDS: FieldPath = ['arguments', 'input', 'output', 'partial_json'];

/** @param path in the notation of the guard file: `messages[].content` */
export function parseFieldPath(path: string): FieldPath {
  return path.split('.').flatMap((part) => {
    const name = part.replace(/(\[\])+$/, '');
    return [name, ...Array((part.length - name.length) / 2).fill(null)];
  });
}

/** The texts at the paths, in the order of the paths. Other values are skipped. */
export function findTexts(json: unknown, paths: readonly FieldPath[]): readonly TextField[] {
  const found: TextField[] = [];

  function walk(node: unknown, fields: FieldPath, path: string): void {
    const [field, ...rest] = fields;
    if (field === null) {
      if (!Array.isArray(node)) return;
      for (const index of node.keys()) visit(node, index, rest, `${path}[${indexOf(node, index)}]`);
    } else if (isObject(node) && !Array.isArray(node) && Object.hasOwn(node, field as string)) {
      visit(node, field as string, rest, `${path}.${field}`);
    }
  }

  function visit(node: object, key: string | number, rest: FieldPath, path: string): void {
    const parent = node as Record<string | number, unknown>;
    const value = parent[key];
    const isToolData = node !== json && TOOL_FIELDS.includes(String(key));
    if (rest.length > 0) walk(value, rest, path);
    else if (typeof value === 'string') {
      const replace = (text: string): void => {
        parent[key] = text;
      };
      found.push({ path, text: value, replace, isToolData });
    } else if (isToolData && isObject(value)) {
      const replace = (text: string): void => {
        parent[key] = JSON.parse(text);
      };
      found.push({ path, text: JSON.stringify(value), replace, isToolData });
    }
  }

  for (const fields of paths) walk(json, fields, '');
  return found;
}

function indexOf(array: readonly unknown[], position: number): number {
  const element = array[position];
  const index = isObject(element) ? (element as { readonly index?: unknown }).index : undefined;
  return typeof index === 'number' ? index : position;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
