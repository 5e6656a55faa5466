import path from 'node:path';
import { pages, read } from './facts';

const MOST_LINES = 40;
const SECTIONS = ['Context', 'What was measured', 'Decision', 'Consequences'];
const FOLDER = 'docs/decisions';

const decisions = pages.filter(
  ({ file }) => path.posix.dirname(file) === FOLDER && !file.endsWith('/README.md'),
);

it.each(decisions)(
  '$file has its four sections in at most 40 lines',
  ({ file, text, headings }) => {
    const number = path.posix.basename(file).slice(0, 3);
    expect(headings[0]?.text).toMatch(new RegExp(`^${number}\\. \\S`));
    expect(headings.slice(1)).toEqual(SECTIONS.map((text) => ({ depth: 2, text })));
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
  },
);

it('numbers them without a gap, and the index has each by its title', () => {
  const numbers = decisions.map(({ file }) => Number(path.posix.basename(file).slice(0, 3)));
  expect(numbers.length).toBeGreaterThan(50);
  expect([...numbers].sort((a, b) => a - b)).toEqual(numbers.map((_, i) => i + 1));
  const lines = read(`${FOLDER}/README.md`).split('\n');
  const rows = decisions.map(({ file, headings }) => {
    const [number, title] = headings[0]?.text.split('. ', 2) ?? [];
    return `| ${number} | [${title}](${path.posix.basename(file)}) |`;
  });
  expect(rows.filter((row) => !lines.includes(row))).toEqual([]);
});
