import type { EegInfo } from '../protocols/own/info';
import type { PredictBatchResponse, PredictResponse } from '../protocols/own/predict';
import { Client, isObject } from './client';
import type { Outcome } from './list-request';
import type { AllOptions, AllSource } from './pipeline-options';
import type { CallOptions } from './retry';
import type { AnySource } from './source-reader';
import type { StreamInput, StreamOptions, StreamResult } from './streams/options';
import { SampleStream } from './streams/sample-stream';

/** One window of the model's length, or an object with one. */
export type SignalElement = ArrayLike<number> | { readonly signal: ArrayLike<number> };

export interface PredictOptions extends CallOptions {
  /** Returned unchanged in the response. */
  readonly patientId?: string | null;
}

export interface PredictAllOptions extends AllOptions {
  /** Patient id of all windows. */
  readonly patientId?: string | null;
}

/** Client of the EEG model. A demonstration, not a medical device. */
export class EegClient extends Client<EegInfo> {
  /** @param signal one window of the model's length, in any linear unit */
  predict(signal: ArrayLike<number>, options: PredictOptions = {}): Promise<PredictResponse> {
    const body = { signal: Array.from(signal), patient_id: options.patientId ?? null };
    return this.call('/predict', body, options);
  }

  /** @returns results in the order of the signals */
  async predictBatch(
    signals: readonly ArrayLike<number>[],
    options: PredictOptions = {},
  ): Promise<PredictBatchResponse['results']> {
    const windows = signals.map((signal) => Array.from(signal));
    const body = { signals: windows, patient_id: options.patientId ?? null };
    return (await this.call<PredictBatchResponse>('/predict/batch', body, options)).results;
  }

  /** Classifies any number of windows, like `SentimentClient.analyzeAll`. */
  predictAll<Element extends SignalElement>(
    source: AllSource<Element>,
    options: PredictAllOptions = {},
  ): AsyncIterableIterator<Outcome<Element, PredictBatchResponse['results'][number]>> {
    const rest = `,"patient_id":${JSON.stringify(options.patientId ?? null)}`;
    return this.sendAll(
      '/predict/batch',
      { field: 'signals', rest, toJson: toSignal },
      source,
      options,
    );
  }

  /**
   * Streams samples and yields one result per window, in order and exactly once, also after reconnects
   * (docs/reference/streaming-protocol.md). Backpressure limits how far the source is read ahead.
   *
   * @returns iterator; see `SampleStream` for its errors
   * @throws TypeError if the source or an option is invalid or WebSocket is not available
   */
  stream(
    source: AnySource<StreamInput>,
    options: StreamOptions,
  ): AsyncIterableIterator<StreamResult> {
    const settings = { ...options, timeoutMs: options.timeoutMs ?? this.timeoutMs };
    return new SampleStream(this.socketRoute('/stream'), source, settings);
  }
}

/** Converts an element of `predictAll`. Invalid elements are sent unchanged, so that the server reports the error. */
function toSignal(element: unknown): unknown {
  const signal = isObject(element) && 'signal' in element ? element.signal : element;
  return isObject(signal) && 'length' in signal ? Array.from(signal as ArrayLike<number>) : signal;
}
