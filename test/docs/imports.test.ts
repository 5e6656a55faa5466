import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../helpers/service';

const CHECK = path.join(ROOT, 'scripts', 'check-imports.mjs');
const checkouts: string[] = [];

/** What the check says of a src/ with these files and texts, a line each. */
function check(files: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'imports-'));
  checkouts.push(folder);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(folder, 'src', path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, 'src', file), text);
  }
  const { status, stderr } = spawnSync('node', [CHECK, folder], { encoding: 'utf8' });
  const lines = stderr.split('\n').filter(Boolean);
  expect(status).toBe(lines.length > 0 ? 1 : 0);
  return lines;
}

afterAll(() => {
  for (const folder of checkouts) rmSync(folder, { recursive: true });
});

it('is run by npm run check, and takes this checkout', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  expect(scripts['check:ts']).toContain('node scripts/check-imports.mjs');
  expect(spawnSync('node', [CHECK], { encoding: 'utf8' }).stderr).toBe('');
});

it.each([
  ['serving', 'http/app', 'src/serving may not import src/http/app'],
  ['serving', 'protocols/route', 'src/serving may not import src/protocols/route'],
  ['grpc', 'http/server', 'src/grpc may not import src/http/server'],
  [
    'protocols',
    'http/http-request-context',
    'src/protocols may not import src/http/http-request-context',
  ],
  ['protocols', 'grpc/server', 'src/protocols may not import src/grpc/server'],
  ['tasks', 'protocols/route', 'src/tasks may not import src/protocols/route'],
])('says that %s may not import %s, a type neither', (folder, target, problem) => {
  const text = `import type { A } from '../${target}';\n`;
  expect(check({ [`${folder}/a.ts`]: text, [`${target}.ts`]: '' })).toEqual([
    `src/${folder}/a.ts: ${problem}`,
  ]);
});

it('keeps protocols apart, and tasks, and packages and files where they belong', () => {
  expect(
    check({
      'protocols/one/a.ts': "import { b } from '../two/b';\nimport { c } from '../openapi/c';\n",
      'protocols/two/b.ts': "import express from 'express';\n",
      'protocols/openapi/c.ts': "import { native } from '../../native/binding';\n",
      'protocols/openapi/d.ts': "import { look } from '../../native/binding/scan';\n",
      'native/binding.ts': '',
      'native/binding/scan.ts': '',
      'new/a.ts': '',
    }),
  ).toEqual([
    'src/new/a.ts: give src/new a line in scripts/check-imports.mjs',
    'src/protocols/one/a.ts: one and two are to know nothing of each other',
    'src/protocols/openapi/c.ts: only native may import src/native/binding',
    'src/protocols/openapi/d.ts: only native may import src/native/binding/scan',
    'src/protocols/two/b.ts: only http may import express',
  ]);
});

it('finds circles, those of types too, through imports, exports and require', () => {
  expect(
    check({
      'serving/a.ts': "import type { B } from './b';\n",
      'serving/b.ts': "export { c } from './c';\n",
      'serving/c.ts': "const a = require('./a') as typeof import('./a');\n",
      'http/d.ts': "import { a } from '../serving/a';\n",
    }),
  ).toEqual([
    'circle: src/serving/a.ts -> src/serving/b.ts -> src/serving/c.ts -> src/serving/a.ts',
  ]);
});
