/** What `npm run check:supply-chain` says of this tree's lock files and licences, and of changed ones. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../helpers/service';
import {
  CHECK,
  copyManifests,
  type Lock,
  type LockEntry,
  runScript,
} from '../helpers/supply-chain';

const FILES = [
  'package.json',
  'package-lock.json',
  'scripts/libtorch',
  'scripts/check-native.txt',
  'test/schemathesis/requirements.txt',
  'models/training/eeg/requirements.txt',
];

let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'supply-chain-'));
});
afterEach(() => rmSync(temporary, { recursive: true }));

/** The files that the check reads, in a folder where a test may change them. */
function copyTree(): void {
  for (const name of FILES)
    cpSync(path.join(ROOT, name), path.join(temporary, name), { recursive: true });
  copyManifests(path.join(temporary, 'native'));
  cpSync(path.join(ROOT, 'native/Cargo.lock'), path.join(temporary, 'native/Cargo.lock'));
}

function change(name: string, edit: (text: string) => string): void {
  const file = path.join(temporary, name);
  const before = readFileSync(file, 'utf8');
  const after = edit(before);
  if (after === before) throw new Error(`${name} was to be changed, and is not`);
  writeFileSync(file, after);
}

function changeEntry(key: string, edit: (entry: LockEntry) => void): void {
  change('package-lock.json', (text) => {
    const lock = JSON.parse(text) as Lock;
    edit(lock.packages[key] as LockEntry);
    return JSON.stringify(lock);
  });
}

const EXPRESS = 'node_modules/express';
const JEST = 'node_modules/jest';

describe('the check of this tree', () => {
  it('finds nothing in its lock files and licences', async () => {
    const { code, stdout, stderr } = await runScript([CHECK, '--offline']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^lock files: complete, exact, with a hash for each download$/m);
    expect(stdout).toMatch(
      /^licences: allowed: npm \d+ \(\d+ shipped\), crate \d+ \(\d+ shipped\)/m,
    );
  });

  it('knows which packages are in the pages', () => {
    const named = ['eeg', 'sentiment'].flatMap((page) => {
      const text = readFileSync(path.join(ROOT, 'dist', 'pages', page, 'licenses.txt'), 'utf8');
      return [...text.matchAll(/^(@?[\w./-]+) \d+\.\d+\.\d+$/gm)].map((match) => match[1]);
    });
    const script = path.join(ROOT, 'scripts', 'supply-chain', 'components.mjs');
    const code = `console.log(JSON.stringify((await import(${JSON.stringify(script)})).IN_THE_PAGES))`;
    const listed = execFileSync(process.execPath, ['--input-type=module', '-e', code]);
    // Swagger UI is copied, and has notices of its own.
    expect(JSON.parse(listed.toString())).toEqual(
      [...new Set([...named, 'swagger-ui-dist'])].sort(),
    );
  });
});

describe('the check of a changed tree', () => {
  beforeEach(copyTree);

  it('finds nothing before the change', async () => {
    expect(await runScript([CHECK, '--offline', temporary])).toMatchObject({ code: 0, stderr: '' });
  });

  it.each<[string, () => void, RegExp]>([
    [
      'a range in package.json',
      () => change('package.json', (text) => text.replace('"express": "', '"express": "^')),
      /package\.json: express: "\^[\d.]+" is no exact version; npm install --save-exact express/,
    ],
    [
      'a package without a hash',
      () => changeEntry(EXPRESS, (entry) => delete entry.integrity),
      /package-lock\.json: node_modules\/express: has no integrity of SHA-512/,
    ],
    [
      'a place that a package was fetched from',
      () =>
        changeEntry(EXPRESS, (entry) => {
          entry.resolved = 'http://127.0.0.1/express.tgz';
        }),
      /package-lock\.json: node_modules\/express: names where it was fetched from/,
    ],
    [
      'a package that runs something when it is installed',
      () =>
        changeEntry(EXPRESS, (entry) => {
          entry.hasInstallScript = true;
        }),
      /package\.json: express: wants to run a script at installation; say in allowScripts whether it may/,
    ],
    [
      'a Cargo.lock that would have to change',
      () => change('native/tokenizers/Cargo.toml', (text) => text.replace('tempfile = "3"', '')),
      /native\/Cargo\.lock: cargo metadata .*cannot update the lock file .*; cargo fetch there/,
    ],
    [
      'a crate without a checksum',
      () => change('native/Cargo.lock', (text) => text.replace(/^checksum = .*\n/m, '')),
      /native\/Cargo\.lock: cargo metadata .*cannot update the lock file .*; cargo fetch there/,
    ],
    [
      'a Python package without a version',
      () =>
        change('models/training/eeg/requirements.txt', (text) =>
          text.replace(/scipy==/, 'scipy>='),
        ),
      /models\/training\/eeg\/requirements\.txt: "scipy>=[\d.]+" is no exact version/,
    ],
    [
      'a tool without a hash',
      () => change('scripts/check-native.txt', (text) => text.replace(/ --hash=\S+/, '')),
      /scripts\/check-native\.txt: "clang-format==[\d.]+" has no hash/,
    ],
    [
      'a wheel of LibTorch without a hash',
      () =>
        change('scripts/libtorch/libtorch.json', (text) => text.replace(/,\s*"sha256": "\w+"/, '')),
      /scripts\/libtorch\/libtorch\.json: linux-x64: torch wants a version, a file, its size and its SHA-256/,
    ],
    [
      'a licence that nobody allowed',
      () =>
        changeEntry(JEST, (entry) => {
          entry.license = 'GPL-3.0-only';
        }),
      /npm jest [\d.]+: its licence "GPL-3\.0-only" is not among those allowed in what builds and tests/,
    ],
    [
      'a licence for development in what is shipped',
      () =>
        changeEntry(EXPRESS, (entry) => {
          entry.license = '(MIT AND MPL-2.0)';
        }),
      /npm express [\d.]+: its licence "\(MIT AND MPL-2\.0\)" is not among those allowed in what is passed on/,
    ],
    [
      'no licence at all',
      () => changeEntry(EXPRESS, (entry) => delete entry.license),
      /npm express [\d.]+: names no licence; replace it, or/,
    ],
    [
      'a licence in words',
      () =>
        changeEntry(EXPRESS, (entry) => {
          entry.license = 'SEE LICENSE IN LICENSE.txt';
        }),
      /npm express [\d.]+: its licence "SEE LICENSE IN LICENSE\.txt" is no SPDX expression/,
    ],
  ])('fails for %s', async (_what, damage, message) => {
    damage();
    const { code, stderr } = await runScript([CHECK, '--offline', temporary]);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });
});
