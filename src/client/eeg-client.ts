import type { EegInfo } from '../protocols/own/info';
import type { PredictBatchResponse, PredictResponse } from '../protocols/own/predict';
import type {
  PredictChannelsBatchResponse,
  PredictChannelsResponse,
} from '../protocols/own/predict-channels';
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

/** Window of several channels: by the name of the channel, or rows. */
export type ChannelSignals =
  | Readonly<Record<string, ArrayLike<number>>>
  | readonly ArrayLike<number>[];

export interface ChannelOptions {
  /** Channels of rows. Default: the channels of the model. */
  readonly channels?: readonly string[];
  /** Sampling rate in Hz; the server resamples. Default: that of the model. */
  readonly samplingRateHz?: number;
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

  /** @param signals one window of a model of several channels */
  predictChannels(
    signals: ChannelSignals,
    options: PredictOptions & ChannelOptions = {},
  ): Promise<PredictChannelsResponse> {
    const body = { signals: toChannels(signals), ...channelFields(options) };
    return this.call('/predict', body, options);
  }

  /** @returns results in the order of the windows */
  async predictChannelsBatch(
    windows: readonly ChannelSignals[],
    options: PredictOptions & ChannelOptions = {},
  ): Promise<PredictChannelsBatchResponse['results']> {
    const body = { windows: windows.map(toChannels), ...channelFields(options) };
    return (await this.call<PredictChannelsBatchResponse>('/predict/batch', body, options)).results;
  }

  /** Classifies any number of windows of several channels, like `SentimentClient.analyzeAll`. */
  predictChannelsAll<Element extends ChannelSignals>(
    source: AllSource<Element>,
    options: PredictAllOptions & ChannelOptions = {},
  ): AsyncIterableIterator<Outcome<Element, PredictChannelsBatchResponse['results'][number]>> {
    const rest = `,${JSON.stringify(channelFields(options)).slice(1, -1)}`;
    return this.sendAll(
      '/predict/batch',
      { field: 'windows', rest, toJson: toChannels },
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

function channelFields({
  channels,
  samplingRateHz,
  patientId = null,
}: ChannelOptions & Pick<PredictOptions, 'patientId'>): object {
  return { channels, sampling_rate_hz: samplingRateHz, patient_id: patientId };
}

/** Converts the channels of a window to arrays. Invalid values are sent unchanged, so that the server reports the error. */
function toChannels(signals: unknown): unknown {
  const convert = (samples: unknown): unknown =>
    isObject(samples) && 'length' in samples ? Array.from(samples as ArrayLike<number>) : samples;
  if (Array.isArray(signals)) return signals.map(convert);
  if (!isObject(signals)) return signals;
  return Object.fromEntries(
    Object.entries(signals).map(([name, samples]) => [name, convert(samples)]),
  );
}

/** Converts an element of `predictAll`. Invalid elements are sent unchanged, so that the server reports the error. */
function toSignal(element: unknown): unknown {
  const signal = isObject(element) && 'signal' in element ? element.signal : element;
  return isObject(signal) && 'length' in signal ? Array.from(signal as ArrayLike<number>) : signal;
}
