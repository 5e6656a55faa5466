import {
  type ClassifiedWindow,
  findWindow,
} from '../../../src/pages/eeg/channels/classified-window';
import { filterSteps } from '../../../src/pages/eeg/channels/filter-steps';
import {
  framesOf,
  type Selection,
  selectChannels,
} from '../../../src/pages/eeg/channels/select-channels';
import { gapsBefore, placeOf, streamInputs } from '../../../src/pages/eeg/channels/stream-samples';
import { type Channel, CONTINUOUS, type Recording } from '../../../src/recordings/recording';

function channel(label: string, changes: Partial<Channel> = {}): Channel {
  return {
    label,
    isNamed: true,
    unit: 'uV',
    samplingRateHz: 100,
    samples: Float64Array.from({ length: 50 }, (_, i) => i),
    segments: CONTINUOUS,
    ...changes,
  };
}

function recordingOf(...channels: Channel[]): Recording {
  return { name: 'x', channels, unreadable: [], annotations: [], startTime: null, notes: [] };
}

const model = { channels: ['T3', 'Cz'], unit: 'uV', interpolates: false, assumedRate: 128 };

function select(...channels: Channel[]): Selection {
  const selection = selectChannels(recordingOf(...channels), model);
  if ('title' in selection) throw new Error(selection.title);
  return selection;
}

describe('selectChannels', () => {
  it('finds channels by prefix and newer name, in the order of the model', () => {
    const { names, channels, factors, rate, length } = select(
      channel('EOG', { samplingRateHz: 10 }),
      channel('EEG Cz-Ref', { unit: 'mV' }),
      channel('T7'),
    );
    expect(names).toEqual(['T3', 'Cz']);
    expect(channels.map(({ label }) => label)).toEqual(['T7', 'EEG Cz-Ref']);
    expect([factors, rate, length]).toEqual([[1, 1000], 100, 50]);
  });

  it('converts frames to the unit of the model', () => {
    const selection = select(channel('T3'), channel('Cz', { unit: 'mV' }));
    expect([...framesOf(selection, 2, 4)]).toEqual([2, 2000, 3, 3000]);
  });

  it('assumes a rate, and a unit, where the file has none', () => {
    const parts = { samplingRateHz: null, unit: null };
    expect(select(channel('T3', parts), channel('Cz', parts))).toMatchObject({
      rate: 128,
      factors: [1, 1],
    });
  });

  it.each([
    ['a missing channel', [channel('T3')], /no channel Cz\.$/],
    ['no channel', [channel('A')], /no channels T3, Cz\.$/],
    ['another rate', [channel('T3'), channel('Cz', { samplingRateHz: 50 })], /“Cz” has another/],
    [
      'other gaps',
      [
        channel('T3'),
        channel('Cz', {
          segments: [...CONTINUOUS, { firstSample: 9, startSeconds: 1, measuredRateHz: null }],
        }),
      ],
      /“Cz” has another sampling rate or other gaps than “T3”/,
    ],
    ['another quantity', [channel('T3', { unit: 'pT' }), channel('Cz')], /“T3” is in pT/],
  ])('names %s', (_name, channels, title) => {
    expect(selectChannels(recordingOf(...channels), model)).toMatchObject({
      title: expect.stringMatching(title),
    });
  });

  it('leaves missing channels to a server that interpolates', () => {
    const selection = selectChannels(recordingOf(channel('Cz')), { ...model, interpolates: true });
    expect(selection).toMatchObject({ names: ['Cz'], missing: ['T3'] });
  });
});

describe('samples of a stream', () => {
  const segments = [
    { firstSample: 0, startSeconds: 2, measuredRateHz: null },
    { firstSample: 20, startSeconds: 3, measuredRateHz: null },
    { firstSample: 30, startSeconds: 3.5, measuredRateHz: null },
  ];
  const selection = select(channel('T3', { segments }), channel('Cz', { segments }));

  it('are the frames of the recording with its gaps', () => {
    const inputs = [...streamInputs(selection)].map((input) =>
      'gap' in input ? input : (input as Float32Array).length / 2,
    );
    expect(gapsBefore(selection)).toEqual([0, 80, 40]);
    expect(inputs).toEqual([20, { gap: 80 }, 10, { gap: 40 }, 20]);
  });

  it('are found again in the recording', () => {
    const place = placeOf(selection);
    expect([0, 19, 100, 109, 150, 169].map(place)).toEqual([0, 19, 20, 29, 30, 49]);
  });
});

describe('findWindow', () => {
  const windows = [0, 0.5, 1, 3].map(
    (from) => ({ from, to: from + 1 }) as unknown as ClassifiedWindow,
  );

  it('is the last window that contains the time', () => {
    expect([-1, 0, 0.4, 0.5, 1.9, 2, 2.9, 3, 3.9, 4].map((at) => findWindow(windows, at))).toEqual([
      null,
      0,
      0,
      1,
      2,
      null,
      null,
      3,
      3,
      null,
    ]);
    expect(findWindow([], 1)).toBeNull();
  });
});

describe('filterSteps', () => {
  it('are a filter, a notch, both or none', () => {
    const none = { highPass: null, lowPass: null, notch: null, phase: 'zero' } as const;
    expect(filterSteps(none)).toEqual([]);
    const types = (steps: ReturnType<typeof filterSteps>) => steps.map(({ type }) => type);
    expect(types(filterSteps({ ...none, lowPass: 30 }))).toEqual(['filter']);
    expect(types(filterSteps({ ...none, highPass: 1, notch: 50 }))).toEqual(['filter', 'notch']);
  });
});
