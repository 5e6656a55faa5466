import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ModelTrial } from '../../src/native/engine';
import {
  CLASSES,
  type ModelSettings,
  parseModelSettings,
  readModelSettings,
  settingsPath,
  WINDOW_LENGTH,
} from '../../src/tasks/signal-classification/model-settings';
import { DEFAULT_QUALITY } from '../../src/tasks/signal-classification/quality-thresholds';
import { validateTrialRun } from '../../src/tasks/signal-classification/validate-trial-run';

const ROOT = path.resolve(__dirname, '..', '..');

describe('parseModelSettings', () => {
  const parse = (content: string) => parseModelSettings(content, 'm.json');

  it.each([
    ['', /^m\.json: is not JSON: /],
    ['null', 'm.json: expected an object'],
    ['[]', 'm.json: expected an object'],
    ['{"sfreq": 95, "x": 1}', /^m\.json: sfreq: unknown key, expected one of name, version, /],
    ['{"classes": "a"}', 'm.json: classes: expected an array of names, found "a"'],
    ['{"classes": []}', 'm.json: classes: expected the names of at least 2 classes'],
    ['{"classes": ["a"]}', 'm.json: classes: expected the names of at least 2 classes'],
    ['{"classes": ["a", 1]}', 'm.json: classes[1]: expected a string, found 1'],
    ['{"classes": ["a", " "]}', 'm.json: classes[1]: expected a name, found none'],
    [
      '{"classes": ["a", "b", "a"]}',
      'm.json: classes[2]: expected a name of its own, found "a" again',
    ],
    [
      '{"output": "softmax"}',
      'm.json: output: expected "logits" or "probabilities", found "softmax"',
    ],
    ['{"output": null}', 'm.json: output: expected "logits" or "probabilities", found null'],
    ['{"window_length": 0}', 'm.json: window_length: expected from 1 to 1000000 samples, found 0'],
    ['{"window_length": -3}', /window_length: expected from 1 to 1000000 samples, found -3$/],
    ['{"window_length": 1000001}', /window_length: expected from 1 to 1000000 samples, found/],
    ['{"window_length": 25.5}', /window_length: expected a whole number of samples, found 25\.5$/],
    ['{"window_length": "256"}', /window_length: expected a whole number of samples, found "256"$/],
    ['{"sampling_rate_hz": 0}', /sampling_rate_hz: expected a number of Hz above 0, found 0$/],
    ['{"sampling_rate_hz": "95"}', /sampling_rate_hz: expected a number of Hz, found "95"$/],
    ['{"sampling_rate_hz": 1e400}', /sampling_rate_hz: expected a number of Hz/],
    ['{"input_shape": 3}', 'm.json: input_shape: expected an array of whole numbers, found 3'],
    ['{"input_shape": []}', 'm.json: input_shape: expected at least one number'],
    ['{"input_shape": [3, 0]}', 'm.json: input_shape[1]: expected a number above 0, found 0'],
    ['{"input_shape": [2.5]}', 'm.json: input_shape[0]: expected a whole number, found 2.5'],
    [
      '{"input_shape": [1000, 1001]}',
      'm.json: input_shape: expected up to 1000000 samples, found 1001000',
    ],
    [
      '{"input_shape": [3, 32], "window_length": 256}',
      'm.json: input_shape: expected numbers with the product window_length, 256, found 96',
    ],
    ['{"channel": 3}', 'm.json: channel: expected a string, found 3'],
    ['{"name": ""}', 'm.json: name: expected a name, found none'],
    ['{"version": 1}', 'm.json: version: expected a string, found 1'],
    ['{"__proto__": {}}', /^m\.json: __proto__: unknown key/],
  ])('refuses %s', (content, message) => {
    expect(() => parse(content)).toThrow(
      typeof message === 'string' ? expect.objectContaining({ message }) : message,
    );
  });

  it('takes a shape with the length that it has', () => {
    const given = { input_shape: [3, 32], window_length: 96 };
    expect(parse(JSON.stringify(given))).toEqual(given);
  });

  it('takes any part of it', () => {
    expect(parse('{}')).toEqual({});
    expect(parse('{"window_length": 1, "sampling_rate_hz": 128.5}')).toEqual({
      window_length: 1,
      sampling_rate_hz: 128.5,
    });
  });
});

describe('readModelSettings', () => {
  it.each([
    ['/a/eeg_model.pt', '/a/eeg_model.json'],
    ['/a.b/foo.v2.pt', '/a.b/foo.v2.json'],
    ['/a/eeg_model.pt2', '/a/eeg_model.json'],
    ['/a/model', '/a/model.json'],
  ])('%s has its settings in %s', (model, settings) => {
    expect(settingsPath(model)).toBe(settings);
  });

  it("is the contract's without a file", () => {
    expect(readModelSettings('/nonexistent/eeg_model.pt')).toEqual({
      file: null,
      classes: CLASSES,
      output: null,
      windowLength: WINDOW_LENGTH,
      inputShape: null,
      samplingRateHz: null,
      channel: null,
      channels: null,
      constantInputs: [],
      quality: DEFAULT_QUALITY,
      name: null,
      version: null,
    });
  });

  it('reads constant inputs as values and a shape', () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'model-settings-'));
    try {
      const content = '{"constant_inputs": {"pos": [[1, 2, 3], [4, 5, 6.5]], "subject": 3}}';
      writeFileSync(path.join(directory, 'm.json'), content);
      expect(readModelSettings(path.join(directory, 'm.pt2')).constantInputs).toEqual([
        { name: 'pos', shape: [2, 3], values: Float64Array.of(1, 2, 3, 4, 5, 6.5) },
        { name: 'subject', shape: [], values: Float64Array.of(3) },
      ]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it.each([
    ['[1]', /^m\.json: constant_inputs: expected an object of numbers or nested arrays/],
    [
      '{"pos": [[1, 2], [3]]}',
      'm.json: constant_inputs.pos[1]: expected an array of 2 elements, found 1 elements',
    ],
    [
      '{"pos": [[1], 2]}',
      'm.json: constant_inputs.pos[1]: expected an array of 1 elements, found 2',
    ],
    ['{"pos": [1, null]}', 'm.json: constant_inputs.pos[1]: expected a finite number, found null'],
    ['{"pos": [1, 1e999]}', /^m\.json: constant_inputs\.pos\[1\]: expected a finite number/],
    ['{"pos": "NaN"}', 'm.json: constant_inputs.pos: expected a finite number, found "NaN"'],
    ['{"pos": []}', 'm.json: constant_inputs.pos: expected no empty array'],
    ['{"pos": [[[[[[[[[1]]]]]]]]]}', 'm.json: constant_inputs.pos: expected up to 8 dimensions'],
    [
      JSON.stringify({ pos: Array(100_001).fill(0) }),
      'm.json: constant_inputs.pos: expected up to 100000 values in all inputs',
    ],
    [
      JSON.stringify(Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`x${i}`, 0]))),
      'm.json: constant_inputs: expected up to 16 inputs, found 17',
    ],
  ])('refuses constant inputs %#', (inputs, message) => {
    expect(() => parseModelSettings(`{"constant_inputs": ${inputs}}`, 'm.json')).toThrow(message);
  });

  it('has the length of a window from its shape', () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'model-settings-'));
    try {
      writeFileSync(path.join(directory, 'm.json'), '{"input_shape": [3, 4, 5]}');
      const settings = readModelSettings(path.join(directory, 'm.pt2'));
      expect(settings).toMatchObject({ windowLength: 60, inputShape: [3, 4, 5] });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('of the shipped model says what the contract says', () => {
    const settings = readModelSettings(path.join(ROOT, 'models', 'eeg', 'eeg_model.pt'));
    expect(settings).toMatchObject({
      file: 'eeg_model.json',
      classes: CLASSES,
      output: 'logits',
      windowLength: WINDOW_LENGTH,
      samplingRateHz: 95,
      channel: 'T3',
      version: expect.any(String),
      name: expect.any(String),
    });
  });

  it('is what docs/reference/signal-json.md shows', () => {
    const page = readFileSync(path.join(ROOT, 'docs/reference/signal-json.md'), 'utf8');
    const [, example] = /```json\n(\{[^`]*"window_length"[^`]*)```/.exec(page) ?? [];
    expect(Object.keys(parseModelSettings(example ?? '', 'signal-json.md'))).toHaveLength(4);
  });
});

describe('judgeTrial', () => {
  const WITHOUT: ModelSettings = readModelSettings('/nonexistent/m.pt');
  const WITH: ModelSettings = { ...WITHOUT, file: 'm.json' };
  const FILES = { modelFile: 'm.pt', settingsFile: 'm.json' };
  const LOGITS = [Float32Array.of(1, -2, 3), Float32Array.of(0.5, 0.25, 0.25)];
  const PROBABILITIES = [Float32Array.of(0.1, 0.2, 0.7), Float32Array.of(0.5, 0.25, 0.25)];
  const trial = (outputs: readonly Float32Array[], rest: Partial<ModelTrial> = {}): ModelTrial => ({
    outputs,
    error: '',
    repeatable: true,
    ...rest,
  });

  it('has nothing against logits', () => {
    expect(validateTrialRun(trial(LOGITS), WITHOUT, FILES)).toEqual([]);
    expect(validateTrialRun(trial(LOGITS), WITH, FILES)).toEqual([]);
  });

  it('warns of probabilities unless told what they are', () => {
    const warning = expect.stringMatching(
      /^m\.pt: its outputs always sum to 1.* set "output" in m\.json to "probabilities"/,
    );
    expect(validateTrialRun(trial(PROBABILITIES), WITHOUT, FILES)).toEqual([warning]);
    expect(validateTrialRun(trial(PROBABILITIES), WITH, FILES)).toEqual([warning]);
    for (const output of ['logits', 'probabilities'] as const) {
      expect(validateTrialRun(trial(PROBABILITIES), { ...WITH, output }, FILES)).toEqual([]);
    }
  });

  it.each([
    ['one window', [Float32Array.of(0.1, 0.2, 0.7)]],
    ['a sum of 1 with values outside of [0, 1]', LOGITS.map(() => Float32Array.of(2, -1, 0))],
    ['values in [0, 1]', LOGITS.map(() => Float32Array.of(0.4, 0.5, 0.6))],
    ['NaN', LOGITS.map(() => Float32Array.of(Number.NaN, 0.5, 0.5))],
  ])('does not take %s for probabilities', (_name, outputs) => {
    expect(validateTrialRun(trial(outputs), WITHOUT, FILES)).toEqual([]);
  });

  it.each<[string, ModelTrial, Partial<ModelSettings>, string]>([
    [
      'another number of outputs',
      trial([Float32Array.of(1, 2)]),
      {},
      'classes: names 3 classes, but m.pt gives 2 numbers for a window of 256 samples',
    ],
    [
      'no window that ran',
      trial([], { error: 'wrong shape' }),
      { windowLength: 100 },
      'window_length: m.pt cannot run a window of 100 samples: wrong shape',
    ],
    [
      'logits that are to be probabilities',
      trial(LOGITS),
      { output: 'probabilities' },
      'output: is "probabilities", but m.pt gives values outside of 0 to 1, such as -2',
    ],
  ])('%s: an error with the file', (_name, given, settings, message) => {
    const read = { ...WITH, ...settings };
    expect(() => validateTrialRun(given, read, FILES)).toThrow(
      expect.objectContaining({ message: `m.json: ${message}` }),
    );
  });

  it('only warns of a misfit without the file', () => {
    expect(validateTrialRun(trial([Float32Array.of(1, 2)]), WITHOUT, FILES)).toEqual([
      'requests will fail; if the model is right, describe it in m.json: ' +
        'classes: names 3 classes, but m.pt gives 2 numbers for a window of 256 samples',
    ]);
  });

  it('warns of a model that does not repeat itself', () => {
    expect(validateTrialRun(trial(LOGITS, { repeatable: false }), WITH, FILES)).toEqual([
      expect.stringMatching(
        /^m\.pt: returns different results for the same window.*model\.eval\(\)/,
      ),
    ]);
  });
});
