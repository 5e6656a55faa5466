import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../helpers/service';
import { filesOfRepository } from './markdown';

const CHECK = path.join(ROOT, 'scripts', 'check-map.mjs');
const checkouts: string[] = [];

/** A repository with empty files, and ARCHITECTURE.md as it is here or with this layout. */
function checkout(files: readonly string[], layout?: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'map-'));
  checkouts.push(folder);
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  for (const file of files) write(folder, file, '');
  const page = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const own = layout === undefined ? page : `## Layout\n\n\`\`\`text\n${layout}\n\`\`\`\n`;
  write(folder, 'ARCHITECTURE.md', own);
  return folder;
}

function write(folder: string, file: string, text: string): void {
  mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
}

/** The first folder inside of another one. */
function firstFolder(files: readonly string[], parent: string): string {
  const inside = files.find((file) => new RegExp(`^${parent}/[^/]+/`).test(file));
  return inside?.match(new RegExp(`^${parent}/[^/]+`))?.[0] ?? `${parent}/none`;
}

/** What the check says of a repository, with its exit code. */
function check(folder: string): readonly [code: number | null, said: string] {
  const { status, stderr } = spawnSync('node', [CHECK, folder], { encoding: 'utf8' });
  return [status, stderr];
}

afterAll(() => {
  for (const folder of checkouts) rmSync(folder, { recursive: true });
});

it('is run by npm run check', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  expect(scripts.check).toContain('npm run check:ts');
  expect(scripts['check:ts']).toContain('node scripts/check-map.mjs');
});

it('takes this checkout, and misses a folder that is added to it or removed', () => {
  const files = filesOfRepository().filter((file) => file !== 'ARCHITECTURE.md');
  const folder = checkout(files);
  expect(check(folder)).toEqual([0, '']);
  for (const added of ['new', 'src/new', 'native/backend/new', 'test/new']) {
    write(folder, `${added}/a.txt`, '');
    expect(check(folder)).toEqual([
      1,
      `ARCHITECTURE.md: ${added}/ exists; give it a line in the layout\n`,
    ]);
    rmSync(path.join(folder, added), { recursive: true });
  }
  for (const parent of ['src', 'native/backend', 'test']) {
    const removed = firstFolder(files, parent);
    rmSync(path.join(folder, removed), { recursive: true });
    expect(check(folder)).toEqual([
      1,
      `ARCHITECTURE.md: ${removed}/ does not exist; take its line out of the layout\n`,
    ]);
    for (const file of files.filter((each) => each.startsWith(`${removed}/`))) {
      write(folder, file, '');
    }
  }
});

it('asks for all folders beside one that is shown, for no deeper ones, and for files that are named', () => {
  const layout = 'docs/          pages\nsrc/\n  a/, b/       two\n    one.ts     a file\n  main.ts';
  const files = ['docs/deep/page.md', 'src/a/deep/x.ts', 'src/b/one.ts', 'src/main.ts'];
  expect(check(checkout(files, layout))).toEqual([0, '']);
  const [code, said] = check(checkout(['docs/x', 'src/a/x', 'src/c/x', 'src/b/x'], layout));
  expect([code, said.split('\n')]).toEqual([
    1,
    [
      'ARCHITECTURE.md: src/b/one.ts does not exist; take its line out of the layout',
      'ARCHITECTURE.md: src/c/ exists; give it a line in the layout',
      'ARCHITECTURE.md: src/main.ts does not exist; take its line out of the layout',
      '',
    ],
  ]);
});

it('refuses a layout that it cannot read', () => {
  expect(check(checkout([], 'src/\n   a/'))[1]).toContain('is indented under no folder:    a/');
  expect(check(checkout([], 'a.ts\n  b.ts'))[1]).toContain('is indented under no folder:   b.ts');
});
