import path from 'node:path';
import { pages, read } from './facts';

const MAX_LINES = 80;
const SECTIONS = ['Context', 'Measurement', 'Decision', 'Consequences'];
const FOLDER = 'docs/project/decisions';
/** First page that combines several decisions, with a section for each of them. */
const FIRST_COLLECTION = 34;

const decisions = pages.filter(
  ({ file }) => path.posix.dirname(file) === FOLDER && !file.endsWith('/README.md'),
);

function numberOf(file: string): number {
  return Number(path.posix.basename(file).slice(0, 3));
}

it.each(decisions)('$file has its number and sections', ({ file, headings, text }) => {
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_LINES);
  expect(headings[0]?.text).toMatch(new RegExp(`^${path.posix.basename(file).slice(0, 3)}\\. \\S`));
  if (numberOf(file) < FIRST_COLLECTION) {
    expect(headings.slice(1)).toEqual(SECTIONS.map((title) => ({ depth: 2, text: title })));
  } else {
    const parts = text.match(/^\*\*Decision\.\*\*/gm) ?? [];
    expect(parts).toHaveLength(headings.length - 1);
  }
});

it('numbers them without a gap, and the index has each by its title', () => {
  const numbers = decisions.map(({ file }) => numberOf(file));
  expect(numbers.length).toBeGreaterThan(30);
  expect([...numbers].sort((a, b) => a - b)).toEqual(numbers.map((_, i) => i + 1));
  const lines = read(`${FOLDER}/README.md`).split('\n');
  const rows = decisions.map(({ file, headings }) => {
    const [number, title] = headings[0]?.text.split('. ', 2) ?? [];
    return `| ${number} | [${title}](${path.posix.basename(file)}) |`;
  });
  expect(rows.filter((row) => !lines.some((line) => line.startsWith(row)))).toEqual([]);
});
