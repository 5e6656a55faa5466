import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { byName, CLASSES, golden, MODEL, RATE, rowsAt } from '../helpers/multichannel';
import { classify, temporaryFolder } from './command';

const RECORDING = path.join(MODEL, 'recording.vhdr');

const folder = temporaryFolder();
afterAll(folder.remove);

const inFolder = (name: string) => path.join(folder.path, name);

/** The model with other settings. @returns path of its file */
function modelWith(name: string, settings: object): string {
  const file = inFolder(`${name}.pt`);
  copyFileSync(path.join(MODEL, 'eeg_model.pt'), file);
  const given = JSON.parse(readFileSync(path.join(MODEL, 'eeg_model.json'), 'utf8')) as object;
  writeFileSync(inFolder(`${name}.json`), JSON.stringify({ ...given, ...settings }));
  return file;
}

interface Line {
  readonly start_seconds: number;
  readonly event?: string | null;
  readonly diagnosis: string;
  readonly probabilities: Readonly<Record<string, number>>;
}

/** Classifies files with a model. */
async function run(model: string, files: readonly string[], ...flags: readonly string[]) {
  const output = inFolder(`${path.basename(model)}.jsonl`);
  const summary = inFolder('summary.json');
  const { code, stderr } = await classify([
    'eeg',
    ...files,
    '-o',
    output,
    '--overwrite',
    '--all-labels',
    '--keep',
    'all',
    '--eeg-model-path',
    model,
    '--summary',
    summary,
    ...flags,
  ]);
  // 4: rows were rejected.
  const isDone = code === 0 || code === 4;
  const lines = isDone ? readFileSync(output, 'utf8').split('\n').filter(Boolean) : [];
  return {
    code,
    stderr,
    lines: lines.map((line) => JSON.parse(line) as Line),
    summary: isDone
      ? (JSON.parse(readFileSync(summary, 'utf8')) as { recordings?: unknown })
      : null,
  };
}

function expectScores(lines: readonly Line[], wanted: readonly (readonly number[])[]): void {
  expect(lines).toHaveLength(wanted.length);
  for (const [index, { probabilities }] of lines.entries()) {
    for (const [k, name] of CLASSES.entries()) {
      const difference = (probabilities[name] as number) - (wanted[index]?.[k] as number);
      expect(Math.abs(difference)).toBeLessThan(6e-5);
    }
  }
}

describe('classify with a model of several channels', () => {
  it('classifies the windows of a recording, step samples apart', async () => {
    const { lines, summary } = await run(path.join(MODEL, 'eeg_model.pt'), [RECORDING]);
    expectScores(lines, golden.windows);
    expect(lines.map(({ start_seconds }) => start_seconds)).toEqual(
      golden.windows.map((_, index) => (index * 32) / RATE),
    );
    expect(summary?.recordings).toEqual([
      {
        file: RECORDING,
        windows: golden.windows.length,
        shares: expect.objectContaining({ left: expect.any(Number) }),
        mean_probabilities: expect.any(Object),
        agreement: null,
      },
    ]);
  });

  it('classifies windows around events like mne.Epochs, and compares their classes', async () => {
    const epochs = {
      events: { 'Comment/L': 'left', 'Comment/R': 'right' },
      start_s: -13 / RATE,
      baseline_s: [-0.1, 0],
    };
    const { lines, stderr, summary } = await run(modelWith('epochs', { epochs }), [RECORDING]);
    expectScores(
      lines,
      golden.epochs.map(({ probabilities }) => probabilities),
    );
    expect(lines.map(({ event }) => event)).toEqual(golden.epochs.map(({ event }) => event));
    expect(lines.map(({ start_seconds }) => Math.round(start_seconds * RATE) + 13)).toEqual(
      golden.epochs.map(({ sample }) => sample),
    );
    expect(stderr).toContain('2 of 5 events have no complete window without a gap.');
    const agreed = golden.epochs.filter(({ event, probabilities }) => {
      const top = probabilities.indexOf(Math.max(...probabilities));
      return CLASSES[top] === (event === 'Comment/L' ? 'left' : 'right');
    }).length;
    expect(summary?.recordings).toEqual([
      expect.objectContaining({
        agreement: { compared: 3, agreed, share: Math.round((agreed / 3) * 1e4) / 1e4 },
      }),
    ]);
  });

  it('classifies rows of windows, as an object of channels or as an array', async () => {
    const rows = rowsAt(32);
    const signals = byName(rows);
    const input = inFolder('rows.jsonl');
    const bad = { ...signals, Cz: [1] };
    writeFileSync(
      input,
      [rows, signals, bad].map((signal) => JSON.stringify({ signal })).join('\n'),
    );
    const rejects = inFolder('rejects.jsonl');
    const { lines } = await run(path.join(MODEL, 'eeg_model.pt'), [input], '--rejects', rejects);
    expectScores(lines, [golden.alone[1] ?? [], golden.alone[1] ?? []]);
    expect(JSON.parse(readFileSync(rejects, 'utf8'))).toMatchObject({
      line: 3,
      reason: 'signal.Cz: expected 64 samples at 128 Hz, found 1',
    });
  });

  it('rejects a recording without the channels, with another rate, or without events', async () => {
    const csv = inFolder('other.csv');
    writeFileSync(csv, `Fp1,Fp2,Cz,X\n${'1,2,3,4\n'.repeat(100)}`);
    const rejects = inFolder('rejects.jsonl');
    const reasonOf = async (model: string, file: string, ...flags: readonly string[]) => {
      const result = await run(model, [file], '--rejects', rejects, ...flags);
      expect(result.code).toBe(4);
      return (JSON.parse(readFileSync(rejects, 'utf8')) as { reason: string }).reason;
    };
    const model = path.join(MODEL, 'eeg_model.pt');
    expect(await reasonOf(model, csv, '--sampling-rate', '128')).toMatch(
      /missing channels “O1”, “O2”\. They can be interpolated from at least 4 channels of the model, found 3/,
    );
    expect(await reasonOf(model, csv, '--sampling-rate', '256')).toMatch(
      /recorded at 256 Hz, the model expects 128 Hz\. Use --resample\./,
    );
    const epochs = { events: { never: null } };
    expect(await reasonOf(modelWith('never', { epochs }), RECORDING)).toMatch(
      /no annotation that "epochs" of the model names has a window of 64 samples/,
    );
  });
});
