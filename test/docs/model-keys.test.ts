import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { keyRows } from '../../src/models/keys/markdown-table';
import { ROOT } from '../helpers/service';

const PAGE = path.join(ROOT, 'docs/model-keys.md');

/** The table is what the loader checks. */
function withTable(page: string): string {
  const before = page.slice(0, page.indexOf(keyRows()[0] as string));
  return `${before}${keyRows().join('\n')}\n`;
}

it('has the table of keys: npm run settings writes it', () => {
  const page = readFileSync(PAGE, 'utf8');
  if (process.env.WRITE) writeFileSync(PAGE, withTable(page));
  expect(readFileSync(PAGE, 'utf8')).toBe(withTable(page));
});
