import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../helpers/service';
import { filesOfRepository, type Page, readPage } from './markdown';

const MOST_LINES = 200;
const MOST_LINES_OF_ARCHITECTURE = 150;
const LANGUAGES = ['console', 'js', 'json', 'python', 'sh', 'text'];

const files = filesOfRepository();
const existing = new Set(files.flatMap((file) => [file, ...foldersOf(file)]));
const pages = new Map(
  files
    // TypeDoc writes these pages, and checks their links.
    .filter((file) => file.endsWith('.md') && !file.startsWith('docs/reference/js-api/'))
    .map((file) => [file, readPage(file)]),
);

function foldersOf(file: string): readonly string[] {
  const folder = path.posix.dirname(file);
  return folder === '.' ? ['.'] : [folder, ...foldersOf(folder)];
}

function page(file: string): Page {
  const found = pages.get(file);
  if (!found) throw new Error(`there is no ${file}`);
  return found;
}

/** Why a link of a page leads nowhere, or undefined. */
function linkProblem({ file }: Page, link: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) {
    const url = URL.canParse(link) ? new URL(link) : null;
    const isHere = url?.protocol === 'http:' && url.hostname === 'localhost';
    return url?.protocol === 'https:' || isHere ? undefined : `${link}: expected https://…`;
  }
  const [target = '', anchor] = link.split('#');
  const place =
    target === ''
      ? file
      : path.posix.join(path.posix.dirname(file), decodeURI(target)).replace(/\/$/, '');
  if (!existing.has(place)) return `${link}: there is no ${place}`;
  if (anchor === undefined || place.startsWith('docs/reference/js-api/')) return undefined;
  const anchors = pages.get(place)?.anchors;
  if (anchors?.has(decodeURI(anchor))) return undefined;
  return `${link}: ${place} has no #${anchor}, but ${[...(anchors ?? [])].join(', ')}`;
}

/** Names of pages that stand in the text, relative to the page or to the root. */
function missingPages({ file, text }: Page): readonly string[] {
  const names = text.replaceAll(/\]\([^)]*\)/g, '').match(/[\w./-]+\.md\b/g) ?? [];
  return names.filter((name) => {
    const near = path.posix.join(path.posix.dirname(file), name);
    return !existing.has(near) && !existing.has(name);
  });
}

it('finds what a link can lead to', () => {
  const readme = page('README.md');
  const asked = [
    'docs',
    'docs/#x',
    './docs/reference/errors.md#codes',
    '#quick-start',
    'docs/README.md#no',
    'no.md',
  ];
  expect(asked.map((link) => linkProblem(readme, link) === undefined)).toEqual([
    true,
    false,
    true,
    true,
    false,
    false,
  ]);
  expect(linkProblem(readme, 'http://example.org')).toBeDefined();
  const errors = page('docs/reference/errors.md');
  expect(linkProblem(errors, '../../README.md#quick-start')).toBeUndefined();
  expect(linkProblem(errors, 'README.md#quick-start')).toBeDefined();
});

describe.each([...pages.keys()])('%s', (file) => {
  it('has links that lead somewhere', () => {
    const all = page(file);
    const problems = all.links.map((link) => linkProblem(all, link)).filter(Boolean);
    expect(problems).toEqual([]);
    expect(missingPages(all)).toEqual([]);
  });

  it('has one title, and no heading below one that is missing', () => {
    const depths = page(file).headings.map(({ depth }) => depth);
    expect(depths.filter((depth) => depth === 1)).toHaveLength(1);
    expect(depths[0]).toBe(1);
    const leaps = depths.filter((depth, i) => depth > (depths[i - 1] ?? 0) + 1);
    expect(leaps).toEqual([]);
  });

  it('says of each block what it is (CONTRIBUTING.md, "Documents")', () => {
    const others = page(file).blocks.filter(({ language }) => !LANGUAGES.includes(language));
    expect(others).toEqual([]);
  });
});

it('README is for five minutes', () => {
  expect(page('README.md').text.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
});

it('ARCHITECTURE is a map: decisions have pages of their own', () => {
  const lines = page('ARCHITECTURE.md').text.trimEnd().split('\n').length;
  expect(lines).toBeLessThanOrEqual(MOST_LINES_OF_ARCHITECTURE);
});

it('the index of the documents has every page', () => {
  const indexes = {
    'docs/README.md': ['start', 'guides', 'reference', 'reference/http', 'explanation'],
    'docs/project/decisions/README.md': ['project/decisions'],
    'docs/project/evidence/README.md': ['project/evidence'],
  };
  for (const [index, folders] of Object.entries(indexes)) {
    const folder = path.posix.dirname(index);
    const indexed = new Set(page(index).links.map((link) => path.posix.join(folder, link)));
    const inFolders = [...pages.keys()].filter((file) =>
      folders.some((name) => path.posix.dirname(file) === `docs/${name}`),
    );
    expect(inFolders.length).toBeGreaterThan(7);
    expect(inFolders.filter((file) => file !== index && !indexed.has(file))).toEqual([]);
  }
});

it('README leads to the index, and the index to the indexes of decisions and evidence', () => {
  expect(page('README.md').links).toContain('docs/README.md');
  const { links } = page('docs/README.md');
  expect(links).toEqual(
    expect.arrayContaining(['project/decisions/README.md', 'project/evidence/README.md']),
  );
});

const CHECKED_PAGES = [...pages.keys()].filter((file) =>
  /^(?:README\.md$|docs\/(?:README|start|guides|reference|explanation|project))/.test(file),
);

/** Sentences of prose with over 30 words; code, tables and generated blocks are left out. */
function longSentences(text: string): readonly string[] {
  const prose = text
    .replaceAll(/<!-- generated[\s\S]*?<!-- end -->/g, '')
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/^\|.*$/gm, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/`[^`]*`/g, 'code');
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*>]|\d+\.) )/)
    .flatMap((block) => block.replaceAll(/\s+/g, ' ').split(/(?<=[.!?:;])\s/))
    .filter((sentence) => sentence.split(' ').filter((word) => /\w/.test(word)).length > 30);
}

describe.each(CHECKED_PAGES)('%s', (file) => {
  it('has headers in its tables', () => {
    const headers = [...page(file).text.matchAll(/^\|(.*)\|\n\| --- /gm)].map(([, cells = '']) =>
      cells.split('|'),
    );
    // The first cell of a header may be empty: the column has the names of the rows.
    const incomplete = headers.filter((cells) => cells.slice(1).some((cell) => cell.trim() === ''));
    expect(incomplete).toEqual([]);
  });

  it('has sentences of at most 30 words', () => {
    expect(longSentences(page(file).text)).toEqual([]);
  });
});

it('the monitoring guide says what to do about every alert', () => {
  const rules = readFileSync(path.join(ROOT, 'deploy', 'prometheus', 'alerts.yml'), 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+).*?severity: (\w+)/gs)];
  const rows = [
    ...page('docs/guides/monitor.md').text.matchAll(/^\| `(Libtorch\w+)` \| (\w+) \| \S/gm),
  ];
  const named = ([, name, severity]: RegExpMatchArray) => `${name} ${severity}`;
  expect(alerts.length).toBeGreaterThan(5);
  expect(rows.map(named).sort()).toEqual(alerts.map(named).sort());
});
