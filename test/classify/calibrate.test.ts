/** `libtorch-serve calibrate`, and the scores of a calibrated model. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Decider, TextClassifier } from '../../src';
import { Folder } from '../helpers/files';
import { FIXTURES } from '../helpers/service';
import { jsonLines, overFiles } from './command';

const folder = new Folder();
const inFolder = (name: string): string => path.join(folder.path, name);
const run = async (...args: readonly string[]) => {
  const { stdout, ...rest } = await overFiles(['calibrate', ...args], { cwd: folder.path });
  return { ...rest, stdout: String(stdout) };
};
afterAll(() => folder.remove());

const GOOD = ['warm', 'funny', 'brilliant', 'moving', 'charming', 'clever', 'lovely', 'superb'];
const BAD = ['dull', 'boring', 'awful', 'clumsy', 'tedious', 'lifeless', 'silly', 'bad'];
/** Every seventh label is wrong: a model that is sure of all is too confident. */
const EXAMPLES = [...GOOD, ...BAD].flatMap((word, index) =>
  ['film', 'story', 'play'].map((thing, position) => {
    const isGood = index < GOOD.length !== ((3 * index + position) % 7 === 0);
    return { text: `A ${word} ${thing}.`, label: isGood ? 'POSITIVE' : 'NEGATIVE' };
  }),
);

const shipped = path.resolve('models/sentiment');
let model: string;

beforeAll(() => {
  model = inFolder('model');
  cpSync(shipped, model, { recursive: true });
  writeFileSync(inFolder('data.jsonl'), jsonLines(EXAMPLES));
});

it('fits a temperature, prints the report, and writes what servers read', async () => {
  const { code, stdout, stderr } = await run(model, 'data.jsonl');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^48 examples, float32: temperature [\d.]+, threshold [\d.]+\n/);
  expect(stdout).toMatch(/\nbefore: +accuracy 0\.\d{4} +ECE 0\.\d{4} +Brier score 0\.\d{4}/);
  expect(stdout).toMatch(/\nint8 compared with float32, calibrated:\n/);
  const content = JSON.parse(readFileSync(path.join(model, 'calibration.json'), 'utf8'));
  expect(content).toMatchObject({ version: 1, labels: ['NEGATIVE', 'POSITIVE'], examples: 48 });
  expect(content.temperature).toBeGreaterThan(1.2);
  expect(content.measured.after.brier).toBeLessThan(content.measured.before.brier);
  expect(readFileSync(path.join(model, 'calibration.svg'), 'utf8')).toMatch(/^<svg /);

  const [plain, calibrated] = await Promise.all(
    [shipped, model].map((modelDirectory) => TextClassifier.load({ modelDirectory })),
  );
  const text = 'A warm, funny film.';
  const before = await plain?.classify(text);
  const after = await calibrated?.classify(text);
  const logOdds = (p: number) => Math.log(p / (1 - p));
  expect(logOdds(after?.score as number)).toBeCloseTo(
    logOdds(before?.score as number) / content.temperature,
    3,
  );
  await Promise.all([plain?.close(), calibrated?.close()]);
});

it('does not replace a calibration unless asked to', async () => {
  const again = await run(model, 'data.jsonl');
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('Use --force')]);
  const dry = await run(model, 'data.jsonl', '--dry-run', '--no-threshold');
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('threshold none')]);
  const forced = await run(model, 'data.jsonl', '--force', '--no-threshold');
  expect(forced.code).toBe(0);
  const content = JSON.parse(readFileSync(path.join(model, 'calibration.json'), 'utf8'));
  expect(content.threshold).toBeNull();
});

it.each([
  [{ label: 'NEUTRAL' }, 'label: expected one of NEGATIVE, POSITIVE, or an index'],
  [{ label: 2 }, 'label: expected one of NEGATIVE, POSITIVE, or an index'],
  [{ label: ['POSITIVE'] }, 'label: expected one label'],
  [{ text: ' ', label: 1 }, 'text: expected a text'],
  [{ text: 'A film.' }, 'label: is missing'],
])('names the line of %j', async (wrong, message) => {
  const rows = [...EXAMPLES.slice(0, 4), { text: 'A film.', ...wrong }];
  writeFileSync(inFolder('wrong.jsonl'), jsonLines(rows));
  const { code, stderr } = await run(model, 'wrong.jsonl', '--dry-run');
  expect(code).toBe(1);
  expect(stderr).toContain(`wrong.jsonl: line 5: ${message}`);
});

it('reads tables, and labels by index', async () => {
  const lines = EXAMPLES.map(({ text, label }) => `"${text}",${label === 'POSITIVE' ? 1 : 0}`);
  writeFileSync(inFolder('data.csv'), `text,label\n${lines.join('\n')}\n`);
  const [table, json] = [
    await run(model, 'data.csv', '--dry-run'),
    await run(model, 'data.jsonl', '--dry-run'),
  ];
  expect([table.code, table.stdout]).toEqual([0, json.stdout]);
});

it.each([
  [{ labels: ['NEGATIVE', 'GOOD'] }, 'calibration.json: labels: expected those of config.json'],
  [{ temperature: 0 }, 'calibration.json: temperature'],
  [{ threshold: 1 }, 'calibration.json: threshold'],
  [{ version: 2 }, 'calibration.json: version'],
])('a model with another calibration is not loaded: %j', async (wrong, message) => {
  const file = path.join(model, 'calibration.json');
  const content = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...content, ...wrong }));
  await expect(TextClassifier.load({ modelDirectory: model })).rejects.toThrow(message);
  writeFileSync(file, JSON.stringify(content));
});

it('the threshold selects the label', async () => {
  const file = path.join(model, 'calibration.json');
  const content = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...content, temperature: 1, threshold: 0.999999 }));
  const classifier = await TextClassifier.load({ modelDirectory: model });
  const result = await classifier.classify('A warm, funny film.');
  expect(result.label).toBe('NEGATIVE');
  expect(result.score).toBeLessThan(0.5);
  await classifier.close();
  rmSync(file);
});

describe('--decisions', () => {
  const shippedLaya = path.join(FIXTURES, 'laya', 'english');
  const QUESTION = { type: 'choice', instructions: 'Topic?', options: ['film', 'sport', 'food'] };
  const rows = Array.from({ length: 60 }, (_, index) => ({
    state: `Text number ${index} about a warm, funny film.`,
    question:
      index % 2 === 0
        ? QUESTION
        : { type: 'predicate', instructions: `It is about number ${index}.` },
    answer: index % 2 === 0 ? QUESTION.options[index % 3] : index % 4 === 1,
  }));
  let decisionModel: string;

  beforeAll(() => {
    decisionModel = inFolder('decisions');
    cpSync(shippedLaya, decisionModel, { recursive: true });
    writeFileSync(inFolder('decisions.jsonl'), jsonLines(rows));
  });

  it('fits a temperature for each type of question, which the model then applies', async () => {
    const { code, stdout, stderr } = await run(decisionModel, 'decisions.jsonl', '--decisions');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^60 examples: temperatures predicate [\d.]+, choice [\d.]+, score 1\n/);
    const file = path.join(decisionModel, 'decision-calibration.json');
    const { temperatures, measured } = JSON.parse(readFileSync(file, 'utf8'));
    expect(measured.after.nll).toBeGreaterThan(0);
    const [plain, calibrated] = await Promise.all(
      [shippedLaya, decisionModel].map((modelDirectory) => Decider.load({ modelDirectory })),
    );
    const ask = (decider?: Decider) => decider?.decide('A warm film.', [QUESTION as never]);
    const [[before] = [], [after] = []] = [await ask(plain), await ask(calibrated)];
    const odds = (answer: unknown) => {
      const { probabilities } = answer as { probabilities: readonly { probability: number }[] };
      const [first, second] = probabilities.map(({ probability }) => probability);
      return Math.log((first as number) / (second as number));
    };
    expect(odds(after)).toBeCloseTo(odds(before) / temperatures.choice, 4);
    await Promise.all([plain?.close(), calibrated?.close()]);
  });

  it.each([
    [{ answer: 'opera' }, 'answer: expected the label of an option'],
    [{ question: { type: 'choice', options: [] } }, 'question.options: '],
    [{ state: null }, 'state: is missing'],
  ])('names the line of %j', async (wrong, message) => {
    writeFileSync(inFolder('wrong.jsonl'), jsonLines([rows[0], { ...rows[0], ...wrong }]));
    const { code, stderr } = await run(decisionModel, 'wrong.jsonl', '--decisions', '--dry-run');
    expect(code).toBe(1);
    expect(stderr).toContain(`wrong.jsonl: line 2: ${message}`);
  });
});
