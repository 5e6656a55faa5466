import { ModelStore } from '../../models/store';
import type { EngineMonitor } from '../../native/engine';
import { huggingFace } from '../../protocols/hugging-face/protocol';
import { openInference } from '../../protocols/open-inference/rest/protocol';
import { own } from '../../protocols/own/protocol';
import type { ServiceInfo } from '../../protocols/own/schemas/answers';
import type { Protocol } from '../../protocols/protocol';
import { textEmbeddingsInference } from '../../protocols/text-embeddings-inference/protocol';
import type { Log } from '../../serving/log';
import type { Gather } from '../../serving/peers';
import type { Config } from '../../settings/config';
import type { Served } from '../../tasks/served';
import type { Task } from '../../tasks/task';
import { type SharedModel, TaskModel } from '../../tasks/task-model';
import { PRESETS } from '../presets';

/** A double as JSON writes it, such as -1.7976931348623157e+308, and a comma. */
const LONGEST_NUMBER_BYTES = 25;

/** What a service speaks beside its own protocol; those that cannot ask the model are left out. */
const PROTOCOLS = [huggingFace, textEmbeddingsInference, openInference];

/** What one process serves: its protocols, and the model behind them where it could be loaded. */
export interface Service {
  readonly task: Task;
  /** The first is its own. */
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
  const { config } = options;
  const { task, placeOf } = PRESETS[config.service];
  const place = placeOf(config);
  let model: TaskModel | Error;
  try {
    model = await TaskModel.load(task, place, config.scheduling);
    logLoaded(model, config, log);
  } catch (error) {
    model = error as Error;
    log.logger.error({ model: place }, `Model is not loaded: ${model.message}`);
  }
  return serve(model, options);
}

/** Serves the model that another thread has loaded and shared. */
export function attachService(shared: SharedModel, options: ServiceOptions): Service {
  return serve(TaskModel.attach(PRESETS[options.config.service].task, shared), options);
}

/** @param loaded the model, or what was wrong with it */
function serve(loaded: TaskModel | Error, { config, version, gather }: ServiceOptions): Service {
  const { task, placeOf } = PRESETS[config.service];
  const store = new ModelStore<Task, TaskModel>();
  const served = store.put(config.service, task, placeOf(config), loaded);
  const { model } = served;
  const { scheduling, maxListLength: listLength, bodyLimit, requestTimeoutMs } = config;
  const limits = { listLength, bodyLimit, requestTimeoutMs };
  const surroundings = { version, scheduling, gather, ...limits };
  const others = PROTOCOLS.flatMap((protocol) => protocol(served, surroundings) ?? []);
  const info = describe(served, version, config);
  return {
    task,
    protocols: [own(served, surroundings, { service: info, others }), ...others],
    info,
    monitor: model?.monitor ?? null,
    drop: () => store.drop(),
    share: () => model?.share() ?? null,
    close: () => store.close(),
  };
}

/** The answer of GET /info, without what protocols say there. */
function describe({ task, model, ...served }: Served, version: string, config: Config) {
  const { name, title, reason } = served;
  return {
    service: name,
    version,
    model: {
      ...{ name: title, version: served.version, loaded: model !== null, reason },
      ...(model && describeLoaded(task, model, config)),
    },
    limits: {
      body_bytes: config.bodyLimit,
      list_length: config.maxListLength,
      request_timeout_ms: config.requestTimeoutMs,
    },
  };
}

function describeLoaded(task: Task, { about, monitor }: TaskModel, { scheduling }: Config) {
  const { linear, attention, instructions } = monitor.description.products;
  return {
    ...task.info.of(about, monitor.description),
    dtype: dtypeOf(task, scheduling),
    products: { linear, ...(attention && { attention }), instructions },
  };
}

/** In which numbers its models multiply. */
export function dtypeOf({ takes }: Task, { dtype }: Config['scheduling']): string {
  return takes === 'signals' ? 'float32' : (dtype ?? 'float32');
}

/** Logs what was loaded, and what about it is hardly meant. */
function logLoaded({ about, monitor, warnings }: TaskModel, config: Config, log: Log): void {
  const { task, placeOf } = PRESETS[config.service];
  const { products, maxLength } = monitor.description;
  log.logger.info({ ...task.logged(about), products }, 'model loaded');
  for (const warning of warnings) log.logger.warn({ model: placeOf(config) }, warning);
  const bytes = maxLength * LONGEST_NUMBER_BYTES;
  if (task.takes === 'signals' && bytes > config.bodyLimit) {
    log.logger.warn(
      `BODY_LIMIT: ${config.bodyLimit} bytes may not hold a window of ${maxLength} samples: ` +
        `set it to ${bytes}`,
    );
  }
}
