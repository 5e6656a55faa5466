import path from 'node:path';
import { WebSocket } from 'ws';
import { EegClient } from '../../src/client';
import { SignalClassifier } from '../../src/index';
import {
  byName,
  CHANNELS,
  CLASSES,
  framesOf,
  golden,
  MODEL,
  RATE,
  rowsAt,
  STEP,
} from '../helpers/multichannel';
import { killAll, type Service, startService } from '../helpers/service';

const windows = golden.alone.map((_, index) => rowsAt(index * STEP));

let service: Service;
let client: EegClient;
beforeAll(async () => {
  service = await startService('serve', { args: [MODEL] });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
  client = new EegClient(`http://127.0.0.1:${service.port}`, { WebSocket });
});
afterAll(killAll);

function isNear(
  found: Readonly<Record<string, number>> | null,
  wanted: readonly number[],
  most: number,
) {
  return CLASSES.every(
    (name, i) => Math.abs((found?.[name] as number) - (wanted[i] as number)) < most,
  );
}

describe('the client and a model of several channels', () => {
  it('classifies windows by name and as rows', async () => {
    const signals = Object.fromEntries(
      CHANNELS.map((name, i) => [name, Float32Array.from(windows[0]?.[i] ?? [])]),
    );
    expect(await client.predictChannels(signals, { patientId: 'p' })).toMatchObject({
      patient_id: 'p',
      interpolated: [],
    });
    const results = await client.predictChannelsBatch(windows, { channels: CHANNELS });
    expect(
      results.map(({ probabilities }, i) => isNear(probabilities, golden.alone[i] ?? [], 6e-5)),
    ).toEqual(golden.alone.map(() => true));
    const { O1: _, ...others } = signals;
    expect((await client.predictChannels(others)).interpolated).toEqual(['O1']);
  });

  it('classifies any number of windows, and names a wrong one', async () => {
    const source = [
      windows[0],
      windows[1]?.slice(1),
      windows[2],
    ] as readonly (readonly number[])[][];
    const outcomes = [];
    for await (const outcome of client.predictChannelsAll(source)) outcomes.push(outcome);
    expect(outcomes.map((outcome) => 'error' in outcome && outcome.error !== undefined)).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('streams frames', async () => {
    const frames = framesOf(golden.signal);
    const blocks = [frames.slice(0, 100), frames.slice(100).flat()];
    for (const format of ['json', 'f32'] as const) {
      const found = [];
      for await (const result of client.stream(blocks, {
        samplingRateHz: RATE,
        channels: CHANNELS,
        format,
      })) {
        if ('window' in result) found.push(result.probabilities);
      }
      expect(found.map((each, i) => isNear(each, golden.windows[i] ?? [], 6e-5))).toEqual(
        golden.windows.map(() => true),
      );
    }
  });

  it('rejects frames of another number of channels', async () => {
    const run = async () => {
      for await (const _ of client.stream([[1, 2, 3]], {
        samplingRateHz: RATE,
        channels: CHANNELS,
      }));
    };
    await expect(run()).rejects.toThrow('source[0]: expected frames of 5 channels, found 3 values');
  });
});

describe('the embedded API and a model of several channels', () => {
  it('gives the probabilities of SciPy and PyTorch', async () => {
    const model = await SignalClassifier.load({ modelPath: path.join(MODEL, 'eeg_model.pt') });
    try {
      expect(model.channels).toEqual(CHANNELS);
      const signals = byName(windows[1] ?? []);
      const [first, second] = await model.classifyBatch([windows[0] ?? [], signals]);
      const flat = await model.classify((windows[0] ?? []).flat());
      expect(flat.probabilities).toEqual(first?.probabilities);
      expect(isNear(first?.probabilities ?? null, golden.alone[0] ?? [], 1e-5)).toBe(true);
      expect(isNear(second?.probabilities ?? null, golden.alone[1] ?? [], 1e-5)).toBe(true);
      await expect(model.classify({ Fp1: [1] })).rejects.toThrow(/missing channels “Fp2”/);
      await expect(model.classify({ ...signals, Cz: [1] })).rejects.toThrow(
        'signals.Cz: expected 64 samples at 128 Hz, found 1',
      );
    } finally {
      await model.close();
    }
  });
});
