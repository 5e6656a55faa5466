/** Rows of a table from a JSON Schema (zod's `toJSONSchema` of the input). */

interface Node {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const HEAD = ['| Key | Type | Default | Meaning |', '| --- | --- | --- | --- |'];

/** A table of the keys of an object schema; keys of nested objects are joined with dots. */
export function schemaTable(schema: object, { prefix = '' } = {}): string {
  return [...HEAD, ...rowsOf(schema as Node, prefix)].join('\n');
}

/** The alternatives of a schema for a list of objects with a `type`. */
export function alternativesOf(schema: object): readonly (readonly [type: string, node: object])[] {
  const { oneOf = [], anyOf = [] } = schema as Node;
  return [...oneOf, ...anyOf].map((node) => [String(node.properties?.type?.const), node] as const);
}

function rowsOf({ properties = {}, required = [] }: Node, prefix: string): readonly string[] {
  return Object.entries(properties).flatMap(([name, node]) => {
    const key = `${prefix}${name}`;
    const fallback = required.includes(name) ? 'required' : defaultOf(node);
    const row = `| \`${key}\` | ${typeOf(node)} | ${fallback} | ${escapePipes(node.description ?? '')} |`;
    return node.properties ? [row, ...rowsOf(node, `${key}.`)] : [row];
  });
}

function defaultOf({ default: value, properties }: Node): string {
  if (value === undefined || properties) return '–';
  return `\`${JSON.stringify(value)}\``;
}

function typeOf(node: Node): string {
  const { type, items, enum: values, anyOf, oneOf, additionalProperties } = node;
  if (node.const !== undefined) return code(JSON.stringify(node.const));
  if (values) return values.map((value) => code(JSON.stringify(value))).join(', ');
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return [...new Set(alternatives.map(typeOf))].join(' or ');
  if (type === 'array') return `array of ${items ? typeOf(items) : 'values'}`;
  if (type === 'object') {
    return typeof additionalProperties === 'object'
      ? `object: name to ${typeOf(additionalProperties)}`
      : 'object';
  }
  return `${type ?? 'value'}${rangeOf(node)}`;
}

function rangeOf({ minimum, maximum }: Node): string {
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  const isFrom = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER;
  if (isFrom && isBounded) return `, ${minimum} to ${maximum}`;
  if (isFrom) return `, at least ${minimum}`;
  return isBounded ? `, at most ${maximum}` : '';
}

function code(text: string): string {
  return `\`${escapePipes(text)}\``;
}

function escapePipes(text: string): string {
  return text.replaceAll('|', '\\|');
}
