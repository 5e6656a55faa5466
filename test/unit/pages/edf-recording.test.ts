import { readEdf } from '../../../src/recordings/edf/edf-recording';
import { readRecording } from '../../../src/recordings/read-recording';
import { RecordingError } from '../../../src/recordings/recording';
import { makeEdf } from '../../helpers/edf';
import { seededRandom } from '../../helpers/random';

const T3 = {
  label: 'EEG T3',
  unit: 'uV',
  perRecord: 4,
  digital: [0, 100, -100, 32767, 1, 2, 3, 4],
};
const FAST = {
  label: 'ECG',
  unit: 'mV',
  perRecord: 8,
  digital: Array.from({ length: 16 }, (_, i) => i),
};

function read(file: Buffer) {
  return readEdf(file, 'x.edf');
}

describe('readEdf', () => {
  it('gives physical values, units and rates of each channel', () => {
    const { channels, notes } = read(makeEdf({ channels: [T3, FAST], recordSeconds: 0.5 }));
    expect(notes).toEqual([]);
    expect(
      channels.map(({ label, unit, samplingRateHz }) => [label, unit, samplingRateHz]),
    ).toEqual([
      ['EEG T3', 'uV', 8],
      ['ECG', 'mV', 16],
    ]);
    // Digital −32768 to 32767 stands for −3276.8 to 3276.7.
    const expected = T3.digital.map((value) => value / 10);
    expect(channels[0]?.samples.length).toBe(8);
    for (const [i, value] of expected.entries()) {
      expect(channels[0]?.samples[i]).toBeCloseTo(value, 3);
    }
    expect([...(channels[1]?.samples ?? [])].map((value) => Math.round(value * 10) + 0)).toEqual(
      FAST.digital,
    );
  });

  it('leaves out the annotations of EDF+', () => {
    const marks = { label: 'EDF Annotations', unit: '', perRecord: 2, digital: [0, 0, 0, 0] };
    const { channels } = read(
      makeEdf({ channels: [T3, marks], recordSeconds: 1, reserved: 'EDF+C' }),
    );
    expect(channels.map(({ label }) => label)).toEqual(['EEG T3']);
  });

  it('reads what is there of a file that is cut off, or was never ended', () => {
    const whole = makeEdf({ channels: [T3], recordSeconds: 1 });
    const cut = read(whole.subarray(0, whole.length - 3));
    expect([cut.channels[0]?.samples.length, cut.notes]).toEqual([
      4,
      [expect.stringContaining('truncated')],
    ]);
    const open = read(makeEdf({ channels: [T3], recordSeconds: 1, records: -1 }));
    expect([open.channels[0]?.samples.length, open.notes]).toEqual([8, []]);
  });

  it('leaves out a channel whose range is empty, and says so', () => {
    const flat = { ...T3, label: 'flat', physical: [5, 5] as const };
    const { channels, notes } = read(makeEdf({ channels: [T3, flat], recordSeconds: 1 }));
    expect([channels.length, notes]).toEqual([1, [expect.stringContaining('flat')]]);
  });

  it.each([
    ['a short header', makeEdf({ channels: [T3], recordSeconds: 1 }).subarray(0, 300), /truncated/],
    [
      'no data',
      makeEdf({ channels: [T3], recordSeconds: 1 }).subarray(0, 514),
      /no complete record/,
    ],
    ['no time', makeEdf({ channels: [T3], recordSeconds: -1 }), /record duration/],
    [
      'gaps of unknown length',
      makeEdf({ channels: [T3], recordSeconds: 1, reserved: 'EDF+D' }),
      /EDF\+D/,
    ],
    ['no channel', makeEdf({ channels: [], recordSeconds: 1 }), /number of channels/],
  ])('refuses %s and says why', (_name, file, message) => {
    expect(() => read(file)).toThrow(RecordingError);
    expect(() => read(file)).toThrow(message);
  });

  it('reads or refuses a file with any bytes changed', () => {
    const whole = makeEdf({ channels: [T3, FAST], recordSeconds: 1 });
    const random = seededRandom(7);
    const next = (below: number) => Math.floor(random() * below);
    const digits = Buffer.from('0123456789-+.eE xN\0\xff', 'latin1');
    for (let round = 0; round < 3000; round++) {
      const changed = Buffer.from(
        whole.subarray(0, next(4) === 0 ? next(whole.length + 1) : whole.length),
      );
      for (let edits = 1 + next(6); edits > 0 && changed.length > 8; edits--) {
        changed[8 + next(changed.length - 8)] = digits[next(digits.length)] as number;
      }
      try {
        const { channels } = readRecording(changed, 'x.edf');
        expect(channels.every(({ samples }) => samples.every(Number.isFinite))).toBe(true);
      } catch (error) {
        if (!(error instanceof RecordingError)) throw error;
      }
    }
  });
});

describe('readRecording', () => {
  it('tells EDF, CSV and other files apart by what is in them', () => {
    const edf = makeEdf({ channels: [T3], recordSeconds: 1 });
    expect(readRecording(edf, 'x.csv').channels[0]?.label).toBe('EEG T3');
    expect(readRecording(Buffer.from('1\n2'), 'x.edf').channels[0]?.label).toBe('Channel 1');
    const utf16 = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from('T3\tT4\n1\t2\n', 'utf16le'),
    ]);
    expect(readRecording(utf16, 'x.txt').channels.length).toBe(2);
    expect(() => readRecording(Buffer.from('PK\u0003\u0004\0\0'), 'x.xlsx')).toThrow(
      /expected EDF, BDF/,
    );
  });
});
