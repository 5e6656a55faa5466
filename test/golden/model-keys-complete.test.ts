/**
 * Every key that transformers, sentence-transformers and peft read of a model's files has its place in src/models/keys. Their
 * source is read, not run: a new version is noticed by its pins in python/reference.txt.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MODEL_KEYS } from '../../src/models/keys';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython } from '../helpers/python';
import { ROOT } from '../helpers/service';

const PINS = path.join(__dirname, 'python', 'reference.txt');
const SCRIPT = path.join(ROOT, 'test', 'parity', 'model_keys.py');

function compare(packages: string, known: Readonly<Record<string, readonly string[]>>) {
  const { stdout, stderr, status } = spawnSync('python3', [SCRIPT, packages], {
    input: JSON.stringify(known),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as {
    readonly missing: Readonly<Record<string, readonly string[]>>;
    readonly unread: readonly string[];
  };
}

const KNOWN = Object.fromEntries(
  Object.entries(MODEL_KEYS).map(([file, { keys }]) => [file, Object.keys(keys)]),
);

it('pins the versions that golden answers are from', () => {
  const parity = path.join(ROOT, 'test', 'parity', 'requirements.txt');
  const pins = readFileSync(PINS, 'utf8').matchAll(/^(\S+==\S+)/gm);
  for (const [, pin] of pins) expect(readFileSync(parity, 'utf8').split('\n')).toContain(pin);
});

needs('python').describe('the keys that the reference reads', () => {
  let packages: string;
  beforeAll(async () => {
    packages = await installPython('reference', PINS);
  }, INSTALL_MS);

  it('are all known', () => {
    expect(compare(packages, KNOWN)).toEqual({ missing: {}, unread: [] });
  });

  it('are missed where one is not known', () => {
    const file = 'config.json: bert';
    const fewer = { ...KNOWN, [file]: KNOWN[file]?.filter((key) => key !== 'is_decoder') ?? [] };
    expect(compare(packages, fewer)).toEqual({ missing: { [file]: ['is_decoder'] }, unread: [] });
    const more = { ...KNOWN, 'no such file': [] };
    expect(compare(packages, more)).toEqual({ missing: {}, unread: ['no such file'] });
  });
});
