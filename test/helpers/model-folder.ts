import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from './service';

/** How many have been made. */
let count = 0;

/**
 * A copy of a model of test/fixtures/models with other files.
 *
 * @param files their content; of config.json entries that are added to its own
 * @returns its path
 */
export function modelWith(
  folder: { readonly path: string },
  fixture: string,
  files: Readonly<Record<string, unknown>>,
  place = `${fixture}-${count++}`,
): string {
  const target = path.join(folder.path, place);
  cpSync(path.join(FIXTURES, 'models', fixture), target, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(target, name);
    const known = name === 'config.json' ? JSON.parse(readFileSync(file, 'utf8')) : null;
    const whole = known ? { ...known, ...(content as object) } : content;
    writeFileSync(file, JSON.stringify(whole));
  }
  return target;
}
