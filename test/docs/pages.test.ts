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
  files.filter((file) => file.endsWith('.md')).map((file) => [file, readPage(file)]),
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
  if (anchor === undefined) return undefined;
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
    './docs/api.md#limits',
    '#ask-it',
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
  expect(linkProblem(page('docs/api.md'), '../README.md#ask-it')).toBeUndefined();
  expect(linkProblem(page('docs/api.md'), 'README.md#ask-it')).toBeDefined();
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

it.each(['docs', 'docs/decisions', 'docs/evidence'])('the index of %s has every page', (folder) => {
  const index = `${folder}/README.md`;
  const inFolder = [...pages.keys()].filter((file) => path.posix.dirname(file) === folder);
  const indexed = new Set(page(index).links.map((link) => path.posix.join(folder, link)));
  expect(inFolder.length).toBeGreaterThan(10);
  expect(inFolder.filter((file) => file !== index && !indexed.has(file))).toEqual([]);
});

it('README leads to the index, and the index to those of decisions and evidence', () => {
  expect(page('README.md').links).toContain('docs/README.md');
  const { links } = page('docs/README.md');
  expect(links).toEqual(expect.arrayContaining(['decisions/README.md', 'evidence/README.md']));
});

it('nothing is said twice: no paragraph and no row of a table stands on two pages', () => {
  const said = new Map<string, string>();
  const twice: string[] = [];
  for (const { file, text } of pages.values()) {
    for (const paragraph of text.split(/\n\n|\n(?=\|)/).map((each) => each.trim())) {
      const other = said.get(paragraph);
      if (paragraph.length > 80 && other && other !== file) twice.push(`${other}: ${paragraph}`);
      said.set(paragraph, file);
    }
  }
  expect(twice).toEqual([]);
});

it('operations says what to do about every alert', () => {
  const rules = readFileSync(path.join(ROOT, 'deploy', 'prometheus', 'alerts.yml'), 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+).*?severity: (\w+)/gs)];
  const rows = [
    ...page('docs/operations.md').text.matchAll(/^\| `(Libtorch\w+)` \| (\w+) \| \S/gm),
  ];
  const named = ([, name, severity]: RegExpMatchArray) => `${name} ${severity}`;
  expect(alerts.length).toBeGreaterThan(5);
  expect(rows.map(named).sort()).toEqual(alerts.map(named).sort());
});
