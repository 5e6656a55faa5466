/** TorchScript files that do what no classifier does. Made by test/parity/hostile_scripts.py. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { signalClassification } from '../../src/tasks/signal-classification/signal-classification-task';
import { TaskModel } from '../../src/tasks/task-model';
import { SCHEDULING } from '../helpers/scheduling';
import { killAll, NodeProcess } from '../helpers/service';

const SCRIPT = path.join(__dirname, 'scripts', 'load-each.cjs');
const FOLDER = path.join(__dirname, '..', 'fixtures', 'hostile-scripts');
const GIBIBYTE = 1024 ** 3;

interface Outcome {
  readonly name: string;
  readonly diagnosis?: string;
  readonly confidence?: number;
  readonly error?: string;
  readonly grownBytes?: number;
}

const SERVED = ['empty-memory', 'looked-at', 'prints-once', 'swaps-parts'];

const REFUSED: Readonly<Record<string, RegExp>> = {
  // Operators.
  'as-strided': /forward\(\) uses aten::as_strided, .* set ALLOWED_OPERATORS=aten::as_strided$/,
  'raw-memory': /forward\(\) uses aten::empty_strided, /,
  resizes: /forward\(\) uses aten::resize_, /,
  seeds: /forward\(\) uses aten::manual_seed, /,
  'sets-memory': /forward\(\) uses aten::set_, /,
  'prints-for-ever': /forward\(\) prints in a loop/,
  'opaque-tensor': /forward\(\) makes a tensor that is not dense \(aten::zeros\)/,
  'writes-into-weights': /forward\(\) uses aten::add\.Scalar_out, .*=aten::add\.Scalar_out$/,
  // Code that would run while it is compiled, or that the compiler would not come back from.
  'default-reads-file': /code\/__torch__\.py:\d+: contains an expression that would run while /,
  'default-of-terabytes': /code\/__torch__\.py:\d+: contains an expression that would run while /,
  'named-tuple-reads-file': /code\/__torch__\/other\.py:2: contains an expression that would run /,
  'cpp-class': /code\/__torch__\.py:\d+: contains a C\+\+ class/,
  'nested-brackets': /code\/__torch__\.py:\d+: contains code that is nested too deeply/,
  'nested-operators': /code\/__torch__\.py:\d+: contains code that is nested too deeply/,
  'functions-that-double': /forward\(\) is too large or too deeply nested/,
  'too-much-code': /holds too much code/,
  // The archive and its pickles.
  bomb: /archive\/code\/__torch__\.py: unpacks to more than the 256 MiB/,
  'overlapping-records': /archive\/data\.pkl: its zip record has another name/,
  'record-twice': /archive\/data\/0: is duplicated in the zip directory/,
  'no-constants': /has no record constants\.pkl/,
  'no-weights': /data\.pkl: refers to data\/0, which is missing/,
  'pickle-runs-code': /data\.pkl: refers to os\.system, /,
  'nested-values': /data\.pkl: holds values that nest too deeply/,
  'value-in-itself': /data\.pkl: holds values that nest too deeply/,
  'storage-too-long': /data\.pkl: refers to 4194304 bytes of data\/0, which has 12$/,
  'tensor-too-long': /data\.pkl: holds a tensor whose shape does not fit its storage, data\/0/,
  // Memory: from the code, or when it is tried. The last ones may also meet the time's limit.
  terabytes: /forward\(\) creates a tensor of 1099511627776 numbers \(aten::ones\)/,
  'terabytes-computed': /asked for more than 1024 MiB of memory in the load-time check/,
  'constant-of-gigabytes': /asked for more than 1024 MiB of memory in the load-time check/,
  gigabytes: /asked for more than 1024 MiB of memory|did not end within/,
  'repeats-list': /asked for more than 1024 MiB of memory in the load-time check/,
  'doubles-list': /asked for more than 1024 MiB of memory|did not end within/,
  'grows-list': /asked for more than 1024 MiB of memory|did not end within/,
  'grows-text': /asked for more than 1024 MiB of memory|did not end within/,
};

/** What would end the process, or read beyond its tensors (program/preconditions.h). */
const STOPPED: Readonly<Record<string, string>> = {
  divides: 'aten::remainder: division by zero',
  'divides-too-far': 'aten::floordiv: the quotient overflows',
  'divides-tensors': 'aten::div: the quotient overflows',
  'reads-beyond-weights': 'aten::lstm: the weights do not fit the states or the input',
  'reads-beyond-when-frozen': 'aten::_weight_norm: the lengths are not as many as there are rows',
};
const ALL = [...Object.keys(REFUSED), ...Object.keys(STOPPED), ...SERVED];

/** In a process of its own, since one of them might end it. */
async function loadEach(names: readonly string[], options: object): Promise<readonly Outcome[]> {
  const files = names.map((name) => path.join(FOLDER, `${name}.pt`));
  const child = new NodeProcess({ script: SCRIPT, args: [JSON.stringify(options), ...files] });
  expect(await child.exit).toEqual({ code: 0, signal: null });
  expect(child.stderr).toBe('');
  return child.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome);
}

const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  for (const outcome of await loadEach(ALL, { inferenceTimeoutMs: 2000 })) {
    outcomes.set(outcome.name, outcome);
  }
});

afterAll(killAll);

it('knows every file of the folder', () => {
  const files = readdirSync(FOLDER).map((file) => path.basename(file, '.pt'));
  expect(files.sort()).toEqual([...ALL].sort());
});

it.each(Object.entries(REFUSED))('refuses %s, and says why', (name, why) => {
  const { error, grownBytes } = outcomes.get(name) as Outcome;
  expect(error).toMatch(new RegExp(`^${name}\\.pt: `));
  expect(error).toMatch(why);
  expect(grownBytes).toBeLessThan(GIBIBYTE);
});

it.each(Object.entries(STOPPED))('stops %s before it runs', (name, why) => {
  expect(outcomes.get(name)?.error).toBe(why);
});

it.each(SERVED)('serves %s', (name) => {
  expect(outcomes.get(name)).toMatchObject({ diagnosis: expect.any(String) });
});

it('says what makes it slower', async () => {
  const warningsOf = async (name: string): Promise<readonly string[]> => {
    const file = path.join(FOLDER, `${name}.pt`);
    const classifier = await TaskModel.load(signalClassification, file, SCHEDULING);
    await classifier.close();
    return classifier.warnings;
  };
  const cannot =
    /^swaps-parts\.pt: cannot be frozen, so that it runs as it was saved, more slowly: /;
  const warnings = await warningsOf('swaps-parts');
  expect(warnings.filter((text) => text.includes('frozen'))).toEqual([
    expect.stringMatching(cannot),
  ]);
  expect(warnings.join()).not.toContain('\n');
  expect((await warningsOf('looked-at')).join()).not.toContain('frozen');
});

it('never shows what was in its memory before', () => {
  expect(outcomes.get('empty-memory')?.confidence).toBeCloseTo(1 / 3);
});

it('lets pass what it is told to', async () => {
  const [seeds, strided, written] = await loadEach(['seeds', 'as-strided', 'writes-into-weights'], {
    allowedOperators: ['aten::manual_seed', 'aten::as_strided', 'aten::add.Scalar_out'],
  });
  expect(seeds).toMatchObject({ diagnosis: expect.any(String) });
  expect(strided?.error).toMatch(/out of bounds for storage of size/);
  expect(written?.error).not.toMatch(/ALLOWED_OPERATORS/);
});
