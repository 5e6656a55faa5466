import { companionNames, readRecording } from '../../../src/recordings/read-recording';

interface Files {
  /** Lines of the header file behind [Common Infos]. */
  readonly common?: readonly string[];
  readonly more?: readonly string[];
  readonly channels?: readonly string[];
  readonly data: Buffer;
  readonly markers?: readonly string[];
}

const BINARY = ['DataFormat=BINARY', 'DataOrientation=MULTIPLEXED', 'SamplingInterval=10000'];

/** Reads a header file `a.vhdr` with its data file and marker file. */
function read({ common = BINARY, more, channels = ['T3,,1,µV'], data, markers = [] }: Files) {
  const header = [
    'Brain Vision Data Exchange Header File Version 1.0',
    '[Common Infos]',
    'DataFile=a.eeg',
    'MarkerFile=a.vmrk',
    ...common,
    `NumberOfChannels=${channels.length}`,
    ...(more ?? ['[Binary Infos]', 'BinaryFormat=INT_16']),
    '[Channel Infos]',
    ...channels.map((channel, index) => `Ch${index + 1}=${channel}`),
  ];
  const marks = [
    'Brain Vision Data Exchange Marker File, Version 1.0',
    '[Marker Infos]',
    ...markers,
  ];
  const companions = new Map([
    ['a.eeg', data],
    ['a.vmrk', Buffer.from(marks.join('\n'))],
  ]);
  return readRecording(Buffer.from(header.join('\r\n')), 'a.vhdr', companions);
}

const samplesOf = ({ channels }: ReturnType<typeof read>) =>
  channels.map(({ samples }) => [...samples]);
const int16 = (...values: number[]) => Buffer.from(Int16Array.from(values).buffer);
const text = (orientation: string, ...infos: string[]) => ({
  common: ['DataFormat=ASCII', `DataOrientation=${orientation}`, 'SamplingInterval=10000'],
  more: ['[ASCII Infos]', ...infos],
  channels: ['T3,,2,µV', 'O1,,1,µV'],
});

describe('readBrainVision', () => {
  it('scales values, and reads units', () => {
    const channels = ['T3,Cz,0.5,µV', 'a\\1b,,,', 'C,,2', 'D,,,mV'];
    const recording = read({ channels, data: int16(1, 2, 3, 4, 5, 6, 7, 8) });
    expect(samplesOf(recording)).toEqual([
      [0.5, 2.5],
      [2, 6],
      [6, 14],
      [4, 8],
    ]);
    expect(recording.channels.map(({ label, unit }) => [label, unit])).toEqual([
      ['T3', 'µV'],
      ['a,b', 'µV'],
      ['C', 'µV'],
      ['D', 'mV'],
    ]);
  });

  it.each([
    ['spaces', 'MULTIPLEXED', '1 2\r\n3 4\r\n', []],
    ['a header line', 'MULTIPLEXED', 'T3 O1\n1.0 2e0\n3 4', ['SkipLines=1']],
    ['commas between', 'MULTIPLEXED', '1,2\n3,4\n', ['DecimalSymbol=.']],
    ['decimal commas', 'MULTIPLEXED', ' 1,0  2,0\n 3,0  4,0\n', ['DecimalSymbol=,']],
    ['names and a line per channel', 'VECTORIZED', 'T3 1 3\nO1 2 4\n', ['SkipColumns=1']],
  ])('reads text with %s', (_what, orientation, data, infos) => {
    const recording = read({ ...text(orientation, ...infos), data: Buffer.from(data) });
    expect(samplesOf(recording)).toEqual([
      [2, 6],
      [2, 4],
    ]);
  });

  it.each([
    ['MULTIPLEXED', '1 2\n3 x\n', 'a.eeg, line 2, column 2: expected a number'],
    ['MULTIPLEXED', '1 2\n3\n', 'a.eeg, line 2: expected 2 numbers, found 1'],
    ['VECTORIZED', '1 2\n3\n', 'a.eeg, line 2: expected 2 numbers, found 1'],
    ['VECTORIZED', '1 2\n3 4\n5 6\n', 'a.eeg: expected 2 lines, one for each channel, found 3'],
    ['MULTIPLEXED', '\n', 'a.eeg: has no samples'],
  ])('rejects %s text %j', (orientation, data, message) => {
    expect(() => read({ ...text(orientation), data: Buffer.from(data) })).toThrow(message);
  });

  it('splits segmented recordings', () => {
    const common = [...BINARY, 'SegmentationType=MARKERBASED', 'SegmentDataPoints=2'];
    const { channels } = read({ common, data: int16(1, 2, 3, 4, 5) });
    expect(channels[0]?.segments.map(({ firstSample }) => firstSample)).toEqual([0, 2, 4]);
  });

  it('reads markers, and notes damaged ones', () => {
    const markers = [
      'Mk1=New Segment,,1,1,0,20240229130507250000',
      'Mk2=Stimulus,S  1,3,2,0',
      'Mk3=Comment,one\\1 two,4,0,1',
      'Mk4=Comment,none,x,1,0',
      'Mk5=New Segment,,5,1,0,20240229130510250000',
      'Mk6=New Segment,,900,1,0',
    ];
    const { annotations, startTime, notes, channels } = read({
      data: int16(1, 2, 3, 4, 5, 6),
      markers,
    });
    expect(startTime).toBe('2024-02-29T13:05:07.250');
    expect(annotations).toEqual([
      { onsetSeconds: 0.02, durationSeconds: 0.02, text: 'Stimulus/S  1', channel: null },
      { onsetSeconds: 0.03, durationSeconds: 0, text: 'Comment/one, two', channel: 'T3' },
      { onsetSeconds: 0.04, durationSeconds: 0.01, text: 'New Segment/', channel: null },
      { onsetSeconds: 8.99, durationSeconds: 0.01, text: 'New Segment/', channel: null },
    ]);
    expect(notes).toEqual(['a.vmrk: 1 damaged marker is skipped.']);
    expect(channels[0]?.segments.map(({ firstSample }) => firstSample)).toEqual([0, 4]);
  });

  it('notes bytes that are not a sample of all channels, and another number of samples', () => {
    const data = Buffer.concat([int16(1, 2, 3, 4), Buffer.alloc(1)]);
    const common = [...BINARY, 'DataPoints=7'];
    expect(read({ common, channels: ['A', 'B'], data }).notes).toEqual([
      'a.eeg: 1 byte at the end is skipped.',
      'a.eeg: has 2 samples, which are read; DataPoints specifies 7.',
    ]);
  });

  it('replaces $b by the name of the header file', () => {
    const header = Buffer.from(
      [
        'BrainVision Data Exchange Header File Version 2.0',
        '[Common Infos]',
        'DataFile=$b.dat',
        ...BINARY,
        'NumberOfChannels=1',
        '[Binary Infos]',
        'BinaryFormat=INT_16',
        '[Channel Infos]',
        'Ch1=T3,,1,µV',
      ].join('\n'),
      'latin1',
    );
    expect(companionNames(header, 'night.1.vhdr')).toEqual(['night.1.dat']);
    const { channels } = readRecording(header, 'b.vhdr', new Map([['b.dat', int16(1)]]));
    // The header is Windows-1252.
    expect(channels[0]?.unit).toBe('µV');
  });
});
