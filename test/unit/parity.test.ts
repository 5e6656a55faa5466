import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { FIXTURES, ROOT } from '../helpers/service';

const MODEL = path.join(FIXTURES, 'models', 'bert-single-label');

let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'parity-'));
});

afterEach(() => rmSync(temporary, { recursive: true }));

/** `npm run parity`, without the build before it. */
function parity(args: readonly string[], python: string): { status: number | null; text: string } {
  const tool = path.join(ROOT, 'scripts/parity/parity.mjs');
  const run = spawnSync(process.execPath, [tool, ...args], {
    encoding: 'utf8',
    env: { ...process.env, PYTHON: python },
  });
  return { status: run.status, text: run.stdout + run.stderr };
}

/** A program in the place of Python that writes one answer. */
function pythonThatAnswers(answer: unknown): string {
  const file = path.join(temporary, 'python');
  const script = `#!/bin/sh\ncat > /dev/null\ncat <<'END'\n${JSON.stringify(answer)}\nEND\n`;
  writeFileSync(file, script, { mode: 0o755 });
  return file;
}

const VERSIONS = { transformers: '5', torch: '2' };

describe('npm run parity', () => {
  it('says how it is used', () => {
    expect(parity([], 'python3')).toEqual({
      status: 2,
      text: 'parity: usage: npm run parity -- DIR [--texts FILE] [--prompt NAME]\n',
    });
  });

  it('says what to install where there is no Python, or none with transformers', () => {
    expect(parity([MODEL], '/nowhere/python3')).toMatchObject({
      status: 2,
      text: expect.stringContaining('/nowhere/python3 -m pip install torch transformers'),
    });
    const python = pythonThatAnswers({ missing: 'transformers' });
    expect(parity([MODEL], python)).toMatchObject({
      status: 2,
      text: expect.stringContaining(`${python} has no transformers.`),
    });
  });

  it('says why a model cannot be loaded', () => {
    expect(parity([temporary], 'python3')).toMatchObject({
      status: 2,
      text: expect.stringContaining('cannot load the model: config.json: not found'),
    });
  });

  it('fails when a logit or a label differs', () => {
    const texts = path.join(temporary, 'texts.txt');
    writeFileSync(texts, 'Good.\n\n');
    const answer = { tokens: 5, values: [9, 0, 0], label: 'anger' };
    const python = pythonThatAnswers({ versions: VERSIONS, answers: [answer] });
    const { status, text } = parity([MODEL, '--texts', texts], python);
    expect(text).toMatch(/1 texts, 1 differ from transformers 5, torch 2; largest difference/);
    expect(status).toBe(1);
  });
});
