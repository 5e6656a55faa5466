import { MODEL_KEYS, PACKAGE_KEYS } from './index';
import type { KeyTable, KeyUse } from './table';

/**
 * Returns the rows of the table in docs/reference/config-keys.md; keys with the same handling share a row.
 * `npm run references` writes the table.
 */
export function keyRows(): readonly string[] {
  const rows = [...byFile()].flatMap(([file, uses]) =>
    [...grouped(uses)].map(([use, keys]) => `| ${file} | ${keys.join(', ')} | ${use} |`),
  );
  return ['| File | Keys | Effect |', '| --- | --- | --- |', ...rows];
}

interface Described {
  readonly key: string;
  readonly use: string;
}

const CONFIG = 'config.json: ';

/**
 * Groups the keys by file. Keys that several model types handle alike are listed once for all of
 * them.
 */
function byFile(): ReadonlyMap<string, readonly Described[]> {
  const kinds = new Map<string, { readonly described: Described; readonly files: string[] }>();
  for (const [file, table] of Object.entries({ ...MODEL_KEYS, ...PACKAGE_KEYS })) {
    for (const described of describe(table, '')) {
      const isConfig = file.startsWith(CONFIG);
      const name = JSON.stringify([isConfig ? CONFIG : file, described]);
      const entry = kinds.get(name) ?? { described, files: [] };
      entry.files.push(file);
      kinds.set(name, entry);
    }
  }
  const files = new Map<string, Described[]>();
  for (const { described, files: where } of kinds.values()) {
    const name = titled(where);
    files.set(name, [...(files.get(name) ?? []), described]);
  }
  return files;
}

function titled(files: readonly string[]): string {
  const types = files.map((file) => (file.startsWith(CONFIG) ? file.slice(CONFIG.length) : null));
  const modelTypes = types.filter((type) => type !== null);
  return modelTypes.length === 0 ? (files[0] as string) : `config.json of ${modelTypes.join(', ')}`;
}

function* describe({ keys, unknownKeys }: KeyTable, before: string): Generator<Described> {
  for (const [key, use] of Object.entries(keys)) {
    if (use.use === 'object') yield* describe(use.keys, `${before}${key}.`);
    else yield { key: `\`${before}${key}\``, use: effectOf(use) };
  }
  if (unknownKeys === 'rejected') yield { key: `${before}(any other)`, use: 'rejected' };
}

function effectOf(use: Exclude<KeyUse, { use: 'object' }>): string {
  if (use.use === 'honored') return 'as in the reference';
  if (use.use === 'alias') return `rejected unless it is the same as \`${use.of}\``;
  if (use.use === 'no effect') return `none: ${use.why}`;
  const accepted = use.accepts.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  return `${accepted ? `rejected unless ${accepted}` : 'rejected'}. ${use.fix}`;
}

function grouped(uses: readonly Described[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { key, use } of uses) groups.set(use, [...(groups.get(use) ?? []), key]);
  return groups;
}
