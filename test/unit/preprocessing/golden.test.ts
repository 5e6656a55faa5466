import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Block } from '../../../src/preprocessing/block';
import { createSteps, Pipeline } from '../../../src/preprocessing/pipeline';
import { preprocessSchema } from '../../../src/preprocessing/schema';
import { type Position, splineWeights } from '../../../src/preprocessing/spherical-splines';

interface Golden {
  readonly sampling_rate_hz: number;
  readonly channels: readonly string[];
  readonly signal: readonly (readonly number[])[];
  readonly cases: readonly {
    readonly steps: readonly object[];
    readonly result: readonly (readonly number[])[];
  }[];
  readonly interpolation: {
    readonly positions: Readonly<Record<string, Position>>;
    readonly signals: Readonly<Record<string, readonly number[]>>;
    readonly missing: Readonly<Record<string, readonly number[]>>;
  };
}

const FILE = path.resolve(__dirname, '../../fixtures/preprocessing/golden.json');
const golden = JSON.parse(readFileSync(FILE, 'utf8')) as Golden;
const input = { channels: golden.channels, samplingRateHz: golden.sampling_rate_hz };

function pipelineOf(steps: unknown): Pipeline {
  return new Pipeline(input, createSteps(preprocessSchema.parse(steps), input));
}

function blockOf(start = 0, end?: number): Block {
  return golden.signal.map((samples) => Float64Array.from(samples.slice(start, end)));
}

/** Largest difference, relative to the largest magnitude of a channel. */
function largestDifference(actual: Block, wanted: readonly (readonly number[])[]): number {
  expect(actual.map(({ length }) => length)).toEqual(wanted.map(({ length }) => length));
  return Math.max(
    ...actual.map((samples, channel) => {
      const row = wanted[channel] ?? [];
      const scale = Math.max(...row.map(Math.abs)) || 1;
      return Math.max(...samples.map((value, i) => Math.abs(value - (row[i] as number)))) / scale;
    }),
  );
}

const named = golden.cases.map((each) => [JSON.stringify(each.steps), each] as const);

describe('preprocess', () => {
  it.each(named)('%s gives the values of SciPy, pandas and MNE', (_name, { steps, result }) => {
    expect(largestDifference(pipelineOf(steps).process(blockOf()), result)).toBeLessThan(1e-9);
  });

  it.each(named)('%s gives the same bits in blocks, and again', (_name, { steps }) => {
    const whole = pipelineOf(steps).process(blockOf());
    const pipeline = pipelineOf(steps);
    for (let round = 0; round < 2; round++) {
      const found = golden.channels.map(() => [] as number[]);
      const add = (block: Block) => {
        for (const [channel, samples] of block.entries()) found[channel]?.push(...samples);
      };
      let at = 0;
      for (const size of [1, 0, 7, 90, 3, 1, 200, 2, 1000]) {
        add(pipeline.push(blockOf(at, at + size)));
        at += size;
      }
      add(pipeline.end());
      expect(found).toEqual(whole.map((samples) => [...samples]));
    }
  });
});

describe('splineWeights', () => {
  it('interpolates like MNE', () => {
    const { positions, signals, missing } = golden.interpolation;
    const positionOf = (name: string) => positions[name] as Position;
    const [sources, targets] = [Object.keys(signals), Object.keys(missing)];
    const weights = splineWeights(sources.map(positionOf), targets.map(positionOf));
    const rows = weights.map((row) =>
      Float64Array.from(missing[targets[0] as string] as readonly number[], (_, i) =>
        sources.reduce((sum, name, k) => sum + (row[k] ?? 0) * (signals[name]?.[i] as number), 0),
      ),
    );
    const wanted = targets.map((name) => missing[name] as readonly number[]);
    expect(largestDifference(rows, wanted)).toBeLessThan(1e-9);
  });
});
