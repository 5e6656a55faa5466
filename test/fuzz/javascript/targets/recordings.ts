import { readFileSync } from 'node:fs';
import path from 'node:path';
import { companionNames, readRecording } from '../../../../src/recordings/read-recording';
import { findChannel, RecordingError } from '../../../../src/recordings/recording';
import { makeEdf } from '../../../helpers/edf';
import { bytesOf, type Target } from '../target';

const T3 = { label: 'EEG T3', unit: 'uV', perRecord: 2, digital: [0, 100, -100, 32767] };
const MARKS = { label: 'EDF Annotations', unit: '', perRecord: 1, digital: [0, 0] };

// The bundle runs in the root of the checkout.
const fixture = (name: string) =>
  readFileSync(path.resolve('test', 'fixtures', 'recordings', name));
/** Files that a header of BrainVision can name. */
const COMPANIONS = new Map(
  ['eeglab.eeg', 'eeglab.vmrk', 'text.eeg'].map((name) => [name, fixture(name)]),
);

/** A recording of finite samples, or an error that a person can read; of any bytes. */
function run(input: Uint8Array): void {
  try {
    companionNames(input, 'x');
    const recording = readRecording(input, 'x', COMPANIONS);
    if (recording.channels.length === 0) throw new Error('no channel');
    for (const { samples, samplingRateHz, segments } of recording.channels) {
      const isOrdered = segments.every(
        ({ firstSample }, index) =>
          firstSample < samples.length && firstSample > (segments[index - 1]?.firstSample ?? -1),
      );
      if (segments[0]?.firstSample !== 0 || !isOrdered) throw new Error('segments');
      if (samples.length === 0 || !samples.every(Number.isFinite)) throw new Error('samples');
      if (samplingRateHz !== null && !(samplingRateHz > 0 && samplingRateHz < Infinity)) {
        throw new Error(`a rate of ${samplingRateHz}`);
      }
    }
    if (!recording.annotations.every(({ onsetSeconds }) => Number.isFinite(onsetSeconds))) {
      throw new Error('annotations');
    }
    const found = findChannel(recording.channels, 'T3');
    if (found !== null && !recording.channels[found]) throw new Error(`channel ${found}`);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
}

/** EDF files, as the page reads them. */
export const edf: Target = {
  run,
  seeds: [
    makeEdf({ channels: [T3], recordSeconds: 1 }),
    makeEdf({ channels: [T3, MARKS], recordSeconds: 0.5, reserved: 'EDF+C', records: -1 }),
  ],
  dictionary: [
    'EDF+C   ',
    'EDF+D   ',
    '-1      ',
    '256     ',
    '0       ',
    '1e9     ',
    'NaN     ',
    '\0',
  ],
};

/** BDF files, with triggers and with annotations. */
export const bdf: Target = {
  run,
  seeds: [fixture('biosemi.bdf'), fixture('several-annotation-signals.bdf')],
  dictionary: [
    'BDF+C   ',
    'BDF+D   ',
    'Status',
    'BDF Annotations',
    '+1\x14\x14\0',
    '\x15',
    '0       ',
  ],
};

/** XDF files. */
export const xdf: Target = {
  run,
  seeds: [
    fixture('damaged-offset.xdf').subarray(0, 1800),
    fixture('streams.xdf').subarray(0, 3200),
  ],
  dictionary: [
    'string',
    'int64',
    '<nominal_srate>0',
    '\x01\x14\x04\0',
    '\x08',
    '<![CDATA[',
    '&#0;',
  ],
};

/** Headers of BrainVision. */
export const brainVision: Target = {
  run,
  seeds: [fixture('eeglab.vhdr'), fixture('text.vhdr')],
  dictionary: [
    'VECTORIZED',
    'DataPoints=',
    'SegmentationType=MARKERBASED',
    'SegmentDataPoints=1',
    '\\1',
    '$b',
  ],
};

/** Tables and JSON, as the page reads them. */
export const csv: Target = {
  run,
  seeds: [
    'time,T3,T4\n0,1.5,2\n0.01,3,4\n0.02,5,6\n',
    't (ms);T3\nms;uV\n0;1,5\n4;2,5\n',
    '1 2 3\n4 5 6\n',
    '[1,2,3]',
    '{"signal":[1,2]}',
    '1\n2\n3\n4\n5\n6\n7\n8\n9\n',
  ].map(bytesOf),
  dictionary: [
    ...[
      ',',
      ';',
      '\t',
      '\n',
      '\r\n',
      '"',
      '""',
      ' ',
      '1e308',
      '-',
      '.',
      '2024-01-01T00:00:00',
      'ms',
    ],
    ...['time', 'seconds', 'Infinity', '\xff\xfe', '[', '{"signal":', '\xef\xbb\xbf'],
  ],
};
