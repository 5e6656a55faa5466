import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeEdf } from '../helpers/edf';
import { type GoldenTexts, readFixture } from '../helpers/golden';
import { post } from '../helpers/http';
import { killAll, ROOT, startService, textModel } from '../helpers/service';
import { classify, jsonLines, temporaryFolder } from './command';

/** Half a unit of the fourth decimal, and what a probability may differ from the reference. */
const TOLERANCE = 0.5e-4 + 1e-5;
const RATE = 95;

interface GoldenWindows {
  readonly windows: readonly {
    readonly signal: readonly number[];
    readonly probabilities: readonly number[];
  }[];
}

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const env = {
  SENTIMENT_MODEL_DIR: path.join(ROOT, 'models', 'sentiment'),
  EEG_MODEL_PATH: path.join(ROOT, 'models', 'eeg', 'eeg_model.pt'),
};
const run = (...args: readonly string[]) => classify(args, { cwd: folder.path, env });
const objects = (name: string) =>
  readFileSync(inFolder(name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

afterAll(folder.remove);
afterAll(killAll);

describe('the shipped text model', () => {
  it('answers a file as the transformers pipeline', async () => {
    const { texts } = readFixture<GoldenTexts>('shipped-sentiment.json');
    writeFileSync(inFolder('texts.jsonl'), jsonLines(texts.map(({ text }) => ({ text }))));
    const { code, stderr } = await run('texts.jsonl', '-o', 'out.jsonl', '--all-labels');
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${texts.length} answered`)]);
    const answers = objects('out.jsonl');
    expect(answers.length).toBe(texts.length);
    for (const [i, { text, label, score, truncated }] of texts.entries()) {
      expect(answers[i]).toEqual({
        text,
        label,
        score: expect.any(Number),
        probabilities: { NEGATIVE: expect.any(Number), POSITIVE: expect.any(Number) },
        truncated,
      });
      expect(Math.abs(answers[i].score - score)).toBeLessThanOrEqual(TOLERANCE);
      expect(answers[i].probabilities[label]).toBe(answers[i].score);
    }
  });
});

it('reads pairs of texts as the batch route does', async () => {
  const model = textModel('bert-single-label');
  const texts = ['A man plays.', 'good', 'x '.repeat(60)].flatMap((text) =>
    ['Nobody plays.', '', null, '7 '.repeat(60)].map((text_pair) => ({ text, text_pair })),
  );
  const rows = texts.map(({ text, text_pair }) => ({ premise: text, hypothesis: text_pair }));
  writeFileSync(inFolder('pairs.jsonl'), jsonLines(rows));
  const flags = ['--text-column', 'premise', '--pair-column', 'hypothesis', '--all-labels'];
  const args = ['pairs.jsonl', '-o', 'labels.jsonl', ...flags];
  expect((await classify(args, { cwd: folder.path, env: model })).code).toBe(0);
  const service = await startService('sentiment', { env: model });
  const { json } = await post(service, '/analyze/batch', { texts });
  const { results } = json as { readonly results: readonly Record<string, unknown>[] };
  expect(objects('labels.jsonl')).toEqual(
    results.map(({ label, score, probabilities, truncated }, i) => ({
      ...rows[i],
      label,
      score,
      probabilities,
      truncated,
    })),
  );
});

describe('the shipped EEG model', () => {
  it('answers rows as torch, and says what it is not', async () => {
    const { windows } = readFixture<GoldenWindows>('shipped-eeg.json');
    const rows = windows.map(({ signal }, patient) => ({ patient, signal }));
    const bad = [{ patient: -1, signal: [1, 2] }, { patient: -2, signal: 'x' }, { patient: -3 }];
    writeFileSync(inFolder('windows.jsonl'), jsonLines([...rows, ...bad]));
    const args = ['windows.jsonl', '-o', 'eeg.jsonl', '--all-labels', '--summary', 'eeg.json'];
    const { code, stderr } = await run('eeg', ...args);
    expect(code).toBe(4);
    expect(stderr).toContain('no medical device');
    const answers = objects('eeg.jsonl');
    for (const [i, { probabilities }] of windows.entries()) {
      const { patient, diagnosis, confidence, probabilities: got, ...rest } = answers[i];
      expect([patient, rest]).toEqual([i, {}]);
      expect(got[diagnosis]).toBe(confidence);
      for (const [at, value] of Object.values<number>(got).entries()) {
        expect(Math.abs(value - (probabilities[at] as number))).toBeLessThanOrEqual(TOLERANCE);
      }
    }
    const reasons = objects('eeg.jsonl.rejects.jsonl').map(({ reason }) => reason);
    expect(reasons).toEqual([
      'signal: expected 256 samples, found 2',
      'signal: expected an array of numbers',
      'signal: there is no such column',
    ]);
    const summary = JSON.parse(readFileSync(inFolder('eeg.json'), 'utf8'));
    expect(summary).toMatchObject({ service: 'eeg', answered: windows.length, rejected: 3 });
    expect(summary.notice).toContain('no medical device');
  });

  it('cuts recordings into the windows that rows would have, EDF and CSV alike', async () => {
    const { windows } = readFixture<GoldenWindows>('shipped-eeg.json');
    const samples = windows.slice(0, 3).flatMap(({ signal }) => signal.map(Math.round));
    const digital = [...samples, ...Array(95 - (samples.length % 95)).fill(0)];
    const signal = { unit: 'uV', perRecord: RATE, digital, physical: [-32768, 32767] as const };
    const other = { ...signal, label: 'EEG O1', digital: digital.map((value) => -value) };
    const channels = [other, { ...signal, label: 'EEG T3-Ref' }];
    writeFileSync(inFolder('r.edf'), makeEdf({ channels, recordSeconds: 1 }));
    const table = digital.map((value, i) => `${(i / RATE).toFixed(6)},${-value},${value}`);
    writeFileSync(inFolder('r.csv'), ['time,O1,T3', ...table].join('\n'));
    const starts = [0, 128, 256, 384, 512, 640];
    const cut = starts.filter((start) => start + 256 <= digital.length);
    const rows = cut.map((start) => ({ signal: digital.slice(start, start + 256) }));
    writeFileSync(inFolder('rows.jsonl'), jsonLines(rows));
    expect((await run('eeg', 'rows.jsonl', '-o', 'rows-out.jsonl')).code).toBe(0);
    const args = ['r.edf', 'r.csv', '-o', 'r-out.jsonl', '--step', '128'];
    const { code, stderr } = await run('eeg', ...args);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const expected = objects('rows-out.jsonl').map((row) => row.diagnosis);
    const got = objects('r-out.jsonl');
    expect(got.map((row) => row.diagnosis)).toEqual([...expected, ...expected]);
    expect(got[1]).toMatchObject({ recording: 'r.edf', channel: 'EEG T3-Ref', start_sample: 128 });
    expect(got.at(-1)).toMatchObject({ recording: 'r.csv', channel: 'T3' });
    expect(got[1].start_seconds).toBeCloseTo(128 / RATE, 5);
  });

  it('rejects a recording by its name: of another rate, without the channel, too short, broken', async () => {
    const lines = (rate: number, count: number) =>
      ['time,T3,O1', ...Array.from({ length: count }, (_, i) => `${i / rate},${i % 7},0`)].join(
        '\n',
      );
    writeFileSync(inFolder('fast.csv'), lines(256, 800));
    writeFileSync(inFolder('short.csv'), lines(95, 100));
    writeFileSync(inFolder('broken.csv'), `${lines(95, 300)}\n9,secret,0`);
    writeFileSync(inFolder('broken.edf'), `0       ${'x'.repeat(400)}`);
    const files = ['fast.csv', 'short.csv', 'broken.csv', 'broken.edf'];
    const { code } = await run('eeg', ...files, '-o', 'bad.csv');
    expect(code).toBe(4);
    const rejects = objects('bad.csv.rejects.jsonl');
    expect(rejects.map(({ file, line }) => [file, line])).toEqual(
      files.map((file) => [file, null]),
    );
    const reasons = rejects.map(({ reason }) => reason).join('\n');
    expect(reasons).toMatch(/256 Hz.*95 Hz.*--resample/);
    expect(reasons).toMatch(/100 samples are fewer than one window of 256/);
    expect(reasons).toMatch(/broken.csv, line 302/);
    expect(reasons).not.toContain('secret');
    const resampled = await run('eeg', 'fast.csv', '-o', 'resampled.jsonl', '--resample');
    expect([resampled.code, objects('resampled.jsonl').length]).toEqual([0, 1]);
  });
});
