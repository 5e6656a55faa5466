import { argmax } from '../numeric/activations';
import { roundToFourDecimals } from '../numeric/rounding';
import { PREDICTED, type ResultRing } from './result-ring';
import { problemsOf } from './signal-quality';
import { type Place, timeOf } from './timeline';

const NOTHING = '"diagnosis":null,"confidence":null,"probabilities":null';
/** Of amplitudes: what float32 holds. */
const DIGITS = 7;

/** Writes rows as JSON, see `windowAnswer`: thousands a second, of thousands of streams. */
export class ResultSerializer {
  readonly #labels: readonly string[];
  /** `"label":`, as JSON. */
  readonly #keys: readonly string[];
  readonly #time: Place['type'];

  constructor(labels: readonly string[], time: Place['type']) {
    this.#labels = labels.map((label) => JSON.stringify(label));
    this.#keys = this.#labels.map((label) => `${label}:`);
    this.#time = time;
  }

  /** @param error why the model gave no answer */
  write(ring: ResultRing, window: number, error: string | undefined): string {
    const row = ring.rowOf(window);
    const isAnswered = row.state === PREDICTED;
    const smoothed = isAnswered ? ring.smoothedOf(window) : null;
    const problems = row.problems === 0 ? '[]' : JSON.stringify(problemsOf(row.problems));
    return (
      `{"window":${window},"first_sample":${row.firstSample},"time":${this.timeOf(row.seconds)},` +
      (isAnswered ? this.#labelled(ring.probabilitiesOf(window)) : NOTHING) +
      `,"quality":{"problems":${problems},"peak_to_peak":${amplitude(row.peakToPeak)},` +
      `"mains_share":${share(row.mainsShare)}}` +
      (row.skipped > 0 ? `,"skipped":${row.skipped}` : '') +
      (smoothed === null ? '' : `,"smoothed":{${this.#labelled(smoothed)}}`) +
      (error === undefined ? '}' : `,"error":${JSON.stringify(error)}}`)
    );
  }

  /** As JSON. */
  timeOf(seconds: number): string {
    const time = timeOf(this.#time, seconds);
    return typeof time === 'string' ? `"${time}"` : String(time);
  }

  #labelled(probabilities: Float32Array): string {
    const top = argmax(probabilities);
    let all = '';
    for (let i = 0; i < probabilities.length; i++) {
      all += `${i > 0 ? ',' : ''}${this.#keys[i]}${roundToFourDecimals(probabilities[i] as number)}`;
    }
    const confidence = roundToFourDecimals(probabilities[top] as number);
    return `"diagnosis":${this.#labels[top]},"confidence":${confidence},"probabilities":{${all}}`;
  }
}

const writers = new WeakMap<readonly string[], Map<Place['type'], ResultSerializer>>();

/** One for all streams of a model that say times alike. */
export function writerOf(labels: readonly string[], time: Place['type']): ResultSerializer {
  const ofLabels = writers.get(labels) ?? new Map<Place['type'], ResultSerializer>();
  writers.set(labels, ofLabels);
  const writer = ofLabels.get(time) ?? new ResultSerializer(labels, time);
  ofLabels.set(time, writer);
  return writer;
}

function amplitude(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(DIGITS))) : 'null';
}

function share(value: number): string {
  return Number.isNaN(value) ? 'null' : String(roundToFourDecimals(value));
}
