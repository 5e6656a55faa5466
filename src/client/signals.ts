import type { EegInfo, PredictAnswer, PredictBatchAnswer } from '../protocols/own/schemas/answers';
import type { AllOptions, AllSource } from './all-options';
import type { Outcome } from './ask-list';
import { Client, isObject } from './client';
import type { CallOptions } from './retry';

/** One window of the model's length; or an object with one. */
export type SignalElement = ArrayLike<number> | { readonly signal: ArrayLike<number> };

export interface PredictOptions extends CallOptions {
  /** Comes back in the answer. */
  readonly patientId?: string | null;
}

export interface PredictAllOptions extends AllOptions {
  /** Of all windows. */
  readonly patientId?: string | null;
}

/** Of the EEG service. A demonstration, not a medical device. */
export class EegClient extends Client<EegInfo> {
  /** @param signal one window of the model's length, in any linear unit */
  predict(signal: ArrayLike<number>, options: PredictOptions = {}): Promise<PredictAnswer> {
    const { patientId = null } = options;
    return this.call('/predict', { signal: Array.from(signal), patient_id: patientId }, options);
  }

  /** @returns in the order of the signals */
  async predictBatch(
    signals: readonly ArrayLike<number>[],
    options: PredictOptions = {},
  ): Promise<PredictBatchAnswer['results']> {
    const { patientId = null } = options;
    const body = { signals: signals.map((one) => Array.from(one)), patient_id: patientId };
    return (await this.call<PredictBatchAnswer>('/predict/batch', body, options)).results;
  }

  /** Any number of windows; as `SentimentClient.analyzeAll`. */
  predictAll<Element extends SignalElement>(
    source: AllSource<Element>,
    options: PredictAllOptions = {},
  ): AsyncIterableIterator<Outcome<Element, PredictBatchAnswer['results'][number]>> {
    const { patientId = null } = options;
    const rest = `,"patient_id":${JSON.stringify(patientId)}`;
    const list = { field: 'signals', rest, jsonOf: signalOf };
    return this.askAll('/predict/batch', list, source, options);
  }
}

function signalOf(element: unknown): unknown {
  const signal = isObject(element) && 'signal' in element ? element.signal : element;
  return isObject(signal) && 'length' in signal ? Array.from(signal as ArrayLike<number>) : signal;
}
