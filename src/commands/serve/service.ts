import path from 'node:path';
import type { EngineMonitor, ModelDescription } from '../../native/engine';
import type { Endpoint } from '../../protocols/endpoint';
import { huggingFace } from '../../protocols/hugging-face/protocol';
import { openInference } from '../../protocols/open-inference/rest/protocol';
import { ServedModel } from '../../protocols/open-inference/served-model';
import { SignalModel } from '../../protocols/open-inference/signal-model';
import { TextModel } from '../../protocols/open-inference/text-model';
import { analyze, analyzeBatch } from '../../protocols/own/analyze';
import { predict, predictBatch } from '../../protocols/own/predict';
import type { ServiceInfo } from '../../protocols/own/schemas/answers';
import type { Protocol } from '../../protocols/protocol';
import { textEmbeddingsInference } from '../../protocols/text-embeddings-inference/protocol';
import type { Log } from '../../serving/log';
import type { Gather } from '../../serving/peers';
import type { Config } from '../../settings/config';
import {
  EegClassifier,
  type SharedEegClassifier,
} from '../../tasks/signal-classification/eeg-classifier';
import {
  type SharedTextClassifier,
  TextClassifier,
} from '../../tasks/text-classification/text-classifier';
import { withoutPaths } from '../../without-paths';

/** A double as JSON writes it, such as -1.7976931348623157e+308, and a comma. */
const LONGEST_NUMBER_BYTES = 25;

/** What one process serves: its endpoints, and the model behind them where it could be loaded. */
export interface Service {
  readonly endpoints: readonly Endpoint[];
  /** What it speaks beside. */
  readonly protocols: readonly Protocol[];
  readonly info: ServiceInfo;
  /** Of the model's engine; null: it is not loaded. */
  readonly monitor: EngineMonitor | null;
  /** Refuses what comes and what waits; what runs goes on. */
  drop(): void;
  /** For `attachService`; null: there is no model to share. */
  share(): SharedModel | null;
  close(): Promise<void>;
}

/** By which another thread of this process serves the same model. */
export type SharedModel =
  | { readonly sentiment: SharedTextClassifier }
  | { readonly eeg: SharedEegClassifier };

export interface ServiceOptions {
  readonly config: Config;
  /** Of the package. */
  readonly version: string;
  readonly gather: Gather;
}

/**
 * Loads the model of the service. One that cannot be loaded is no reason to end: it is logged, and
 * served as not loaded.
 */
export async function loadService(options: ServiceOptions, log: Log): Promise<Service> {
  const { scheduling, ...config } = options.config;
  if (config.service === 'sentiment') {
    const place = config.sentimentModelDir;
    const loaded = await load(TextClassifier.load(place, scheduling), place, log);
    if (loaded.model) {
      const { description, warnings } = loaded.model;
      log.logger.info({ products: description.products }, 'model loaded');
      for (const warning of warnings) log.logger.warn({ model: place }, warning);
    }
    return serveSentiment(loaded, options);
  }
  const place = config.eegModelPath;
  const loaded = await load(EegClassifier.load(place, scheduling), place, log);
  if (loaded.model) describeEegModel(loaded.model, options.config, log);
  return serveEeg(loaded, options);
}

/** Serves the model that another thread has loaded and shared. */
export function attachService(shared: SharedModel, options: ServiceOptions): Service {
  return 'sentiment' in shared
    ? serveSentiment({ model: TextClassifier.attach(shared.sentiment), reason: null }, options)
    : serveEeg({ model: EegClassifier.attach(shared.eeg), reason: null }, options);
}

function serveSentiment(
  { model, reason }: Loaded<TextClassifier>,
  { config, version, gather }: ServiceOptions,
): Service {
  const limits = endpointLimits(config);
  const tensors = model && new TextModel(model, limits);
  const served = new ServedModel('sentiment', tensors, { packageVersion: version, reason, gather });
  const name = model?.name ?? path.basename(config.sentimentModelDir);
  const known = model && {
    labels: [...model.labels],
    max_length: model.description.maxLength,
    dtype: config.scheduling.dtype,
    products: describeProducts(model.description),
  };
  return {
    endpoints: [analyze(model), analyzeBatch(model, limits)],
    protocols: [
      huggingFace(model, name, limits),
      textEmbeddingsInference(model, { name, scheduling: config.scheduling }, limits),
      openInference(served, limits),
    ],
    info: {
      service: 'sentiment',
      version,
      model: {
        name,
        version: model?.version ?? null,
        loaded: model !== null,
        reason,
        ...known,
      },
      limits: describeLimits(config),
    },
    monitor: model?.monitor ?? null,
    drop: () => model?.drop(),
    share: () => model && { sentiment: model.share() },
    close: async () => model?.close(),
  };
}

function serveEeg(
  { model, reason }: Loaded<EegClassifier>,
  { config, version, gather }: ServiceOptions,
): Service {
  const limits = endpointLimits(config);
  const tensors = model && new SignalModel(model, limits);
  const served = new ServedModel('eeg', tensors, { packageVersion: version, reason, gather });
  const known = model && {
    classes: [...model.settings.classes],
    window_length: model.settings.windowLength,
    sampling_rate_hz: model.settings.samplingRateHz,
    channel: model.settings.channel,
    dtype: 'float32',
    products: describeProducts(model.monitor.description),
  };
  return {
    endpoints: [predict(model), predictBatch(model, limits)],
    protocols: [openInference(served, limits)],
    info: {
      service: 'eeg',
      version,
      model: {
        name: model?.settings.name ?? path.basename(config.eegModelPath),
        version: model?.settings.version ?? null,
        loaded: model !== null,
        reason,
        ...known,
      },
      limits: describeLimits(config),
    },
    monitor: model?.monitor ?? null,
    drop: () => model?.drop(),
    share: () => model && { eeg: model.share() },
    close: async () => model?.close(),
  };
}

interface Loaded<Model> {
  readonly model: Model | null;
  /** For clients, so without paths; null: it is loaded. */
  readonly reason: string | null;
}

async function load<Model>(
  loading: Promise<Model>,
  place: string,
  log: Log,
): Promise<Loaded<Model>> {
  try {
    return { model: await loading, reason: null };
  } catch (error) {
    const { message } = error as Error;
    log.logger.error({ model: place }, `Model is not loaded: ${message}`);
    return { model: null, reason: withoutPaths(message.replaceAll(place, path.basename(place))) };
  }
}

function describeProducts({ products }: ModelDescription) {
  const { linear, attention, instructions } = products;
  return { linear, ...(attention && { attention }), instructions };
}

function describeLimits(config: Config): ServiceInfo['limits'] {
  return {
    body_bytes: config.bodyLimit,
    list_length: config.maxListLength,
    request_timeout_ms: config.requestTimeoutMs,
  };
}

function endpointLimits({ maxListLength }: Config) {
  return { listLength: maxListLength };
}

/** Logs what was loaded, and what about it is hardly meant. */
function describeEegModel(model: EegClassifier, config: Config, log: Log): void {
  const { settings, warnings } = model;
  log.logger.info({ settings, products: model.monitor.description.products }, 'model loaded');
  for (const warning of warnings) log.logger.warn({ model: config.eegModelPath }, warning);
  const bytes = settings.windowLength * LONGEST_NUMBER_BYTES;
  if (bytes > config.bodyLimit) {
    log.logger.warn(
      `BODY_LIMIT: ${config.bodyLimit} bytes may not hold a window of ${settings.windowLength} ` +
        `samples: set it to ${bytes}`,
    );
  }
}
