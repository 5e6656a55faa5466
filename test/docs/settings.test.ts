import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SETTINGS } from '../../src/settings/settings';
import { ROOT } from '../helpers/service';

const PAGE = path.join(ROOT, 'docs/settings.md');
const HEAD = ['| variable | default | | more |', '| --- | --- | --- | --- |'];

/** The table's rows follow from the settings; the last cell is the page's own, by the name of the row. */
function withTable(page: string): string {
  const lines = page.split('\n');
  const begin = lines.indexOf(HEAD[0] as string);
  const end = lines.indexOf('', begin);
  const cells = lines.slice(begin, end).map((line) => line.split(' | '));
  const more = new Map(cells.map(([name = '', , , last = '|']) => [name.replace('| ', ''), last]));
  const rows = Object.entries(SETTINGS).map(([name, setting]) => {
    const fallback = setting.shownDefault ?? `\`${setting.default}\``;
    const row = [`\`${name}\``, withCode(fallback), withCode(setting.help)].join(' | ');
    return `| ${row} | ${more.get(`\`${name}\``) ?? '|'}`;
  });
  return [...lines.slice(0, begin), ...HEAD, ...rows, ...lines.slice(end)].join('\n');
}

/** Names of settings, and what else is written as in a program. */
function withCode(text: string): string {
  return text.replaceAll(
    /(?<!`)(?:\b[A-Z]+(?:_[A-Z]+)+\b|(?<= )\/[a-z]+|\w+::\w+(?:,\w+::\w+)*)/g,
    '`$&`',
  );
}

it('has the table of the settings: npm run settings writes it', () => {
  const page = readFileSync(PAGE, 'utf8');
  if (process.env.WRITE) writeFileSync(PAGE, withTable(page));
  expect(readFileSync(PAGE, 'utf8')).toBe(withTable(page));
});
