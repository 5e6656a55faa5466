import type { EegInfo } from '../protocols/own/info';
import type { PredictBatchResponse, PredictResponse } from '../protocols/own/predict';
import { Client, isObject } from './client';
import type { Outcome } from './list-request';
import type { AllOptions, AllSource } from './pipeline-options';
import type { CallOptions } from './retry';
import type { AnySource } from './source-reader';
import type { StreamInput, StreamOptions, StreamResult } from './streams/options';
import { SampleStream } from './streams/sample-stream';

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
  predict(signal: ArrayLike<number>, options: PredictOptions = {}): Promise<PredictResponse> {
    const { patientId = null } = options;
    return this.call('/predict', { signal: Array.from(signal), patient_id: patientId }, options);
  }

  /** @returns in the order of the signals */
  async predictBatch(
    signals: readonly ArrayLike<number>[],
    options: PredictOptions = {},
  ): Promise<PredictBatchResponse['results']> {
    const { patientId = null } = options;
    const body = { signals: signals.map((one) => Array.from(one)), patient_id: patientId };
    return (await this.call<PredictBatchResponse>('/predict/batch', body, options)).results;
  }

  /** Any number of windows; as `SentimentClient.analyzeAll`. */
  predictAll<Element extends SignalElement>(
    source: AllSource<Element>,
    options: PredictAllOptions = {},
  ): AsyncIterableIterator<Outcome<Element, PredictBatchResponse['results'][number]>> {
    const { patientId = null } = options;
    const rest = `,"patient_id":${JSON.stringify(patientId)}`;
    const list = { field: 'signals', rest, jsonOf: signalOf };
    return this.sendAll('/predict/batch', list, source, options);
  }

  /**
   * A signal that goes on: its windows are answered as its samples come, in their order, none lost and none twice,
   * whatever becomes of connections (docs/streaming.md). The source is read no faster than the service takes
   * samples and you take answers.
   *
   * @returns rejects as `SampleStream` says
   * @throws TypeError: the source or an option is none, or there are no WebSockets here
   */
  stream(
    source: AnySource<StreamInput>,
    options: StreamOptions,
  ): AsyncIterableIterator<StreamResult> {
    const settings = { ...options, timeoutMs: options.timeoutMs ?? this.timeoutMs };
    return new SampleStream(this.socketRoute('/stream'), source, settings);
  }
}

function signalOf(element: unknown): unknown {
  const signal = isObject(element) && 'signal' in element ? element.signal : element;
  return isObject(signal) && 'length' in signal ? Array.from(signal as ArrayLike<number>) : signal;
}
