// eeg_model.json beside a good eeg_model.pt.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { deep, type HostileCase } from './case';

const FILE = 'eeg_model.json';
const NAMED = /^eeg_model\.json: /;

type Settings = readonly [
  name: string,
  content: string | object | ((file: string) => void),
  error: RegExp,
];

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `c${i}`);

const SETTINGS: readonly Settings[] = [
  ['that is empty', '', NAMED],
  ['that is no JSON', '{"classes":', NAMED],
  ['that is a list', '[]', NAMED],
  ['that is null', 'null', NAMED],
  ['of NUL', '\0'.repeat(1000), NAMED],
  ['1,000,000 deep', deep(1_000_000), NAMED],
  ['of a name 100,000 deep', `{"name":${deep(100_000)}}`, NAMED],
  ['of an unknown key', { clases: ['a', 'b'] }, /^eeg_model\.json: clases: unknown key/],
  [
    'of __proto__',
    '{"__proto__":{"classes":["a","b","c"]}}',
    /^eeg_model\.json: __proto__: unknown key/,
  ],
  [
    'of 100,000 unknown keys',
    Object.fromEntries(names(50_000).map((name) => [name, 1])),
    /^eeg_model\.json: c0: unknown key/,
  ],
  ['of one class', { classes: ['a'] }, /^eeg_model\.json: classes/],
  ['of a class twice', { classes: ['a', 'b', 'a'] }, /^eeg_model\.json: classes\[2\]/],
  ['of classes that are numbers', { classes: [1, 2, 3] }, /^eeg_model\.json: classes\[0\]/],
  ['of classes that are a text', { classes: 'abc' }, /^eeg_model\.json: classes/],
  ['of more classes than the model', { classes: names(12) }, /^eeg_model\.json: classes: names 12/],
  ['of 100,000 classes', { classes: names(100_000) }, /^eeg_model\.json: classes: names 100000/],
  ['of 2,000,000 classes', { classes: names(2_000_000) }, /^eeg_model\.json: .*bytes/],
  [
    'of 4 GB',
    (file) => {
      writeFileSync(file, '');
      truncateSync(file, 2 ** 32);
    },
    /^eeg_model\.json: .*bytes/,
  ],
  ['of an output that is unknown', { output: 'guess' }, /^eeg_model\.json: output/],
  [
    'of an output of a megabyte',
    { output: 'x'.repeat(1_000_000) },
    /^eeg_model\.json: output.{1,2000}$/,
  ],
  ['of a window of 0', { window_length: 0 }, /^eeg_model\.json: window_length/],
  ['of a negative window', { window_length: -256 }, /^eeg_model\.json: window_length/],
  ['of a window of a fraction', { window_length: 25.6 }, /^eeg_model\.json: window_length/],
  ['of a window that is a text', { window_length: '256' }, /^eeg_model\.json: window_length/],
  ['of a window of a billion', { window_length: 1e9 }, /^eeg_model\.json: window_length/],
  ['of a window beyond a double', '{"window_length":1e999}', /^eeg_model\.json: window_length/],
  ['of a window of one sample', { window_length: 1 }, /^eeg_model\.json: window_length/],
  ['of a rate of 0', { sampling_rate_hz: 0 }, /^eeg_model\.json: sampling_rate_hz/],
  ['of a rate beyond a double', '{"sampling_rate_hz":1e999}', /^eeg_model\.json: sampling_rate_hz/],
  ['of a name without letters', { name: '  ' }, /^eeg_model\.json: name/],
  ['that is a folder', (file) => mkdirSync(file), NAMED],
  ['that is a pipe', (file) => execFileSync('mkfifo', [file]), /^eeg_model\.json: .*regular file/],
  ['that is a link to nowhere', (file) => symlinkSync('nowhere', file), NAMED],
  [
    'that is a link to /etc/passwd',
    (file) => symlinkSync('/etc/passwd', file),
    /^eeg_model\.json: is a link to a file outside the model folder/,
  ],
  [
    'that is a link to /dev/zero',
    (file) => symlinkSync('/dev/zero', file),
    /^eeg_model\.json: is a link to a file outside the model folder/,
  ],
];

/** Leaves the model alone, under the name that the settings belong to. */
function only(folder: string): void {
  const model = path.join(folder, 'eeg_model.pt');
  copyFileSync(path.join(folder, 'plain-cnn-scripted.pt'), model);
  for (const name of readdirSync(folder)) {
    if (name !== 'eeg_model.pt') rmSync(path.join(folder, name));
  }
}

export const EEG_SETTINGS: readonly HostileCase[] = SETTINGS.map(([name, content, error]) => ({
  name: `an eeg_model.json ${name}`,
  service: 'eeg',
  base: 'eeg',
  make: (folder) => {
    only(folder);
    const file = path.join(folder, FILE);
    if (typeof content === 'function') content(file);
    else writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  },
  error,
}));
