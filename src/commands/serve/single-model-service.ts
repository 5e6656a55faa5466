import { ModelFileError } from '../../models/files';
import type { EngineMonitor } from '../../native/engine';
import type { Log } from '../../serving/log';
import type { Sample } from '../../serving/metrics/family';
import type { MeasuredModel } from '../../serving/metrics/metrics';
import type { ServiceName } from '../../settings/config';
import { type ServedModel, toServedModel } from '../../tasks/served-model';
import { TaskModel } from '../../tasks/task-model';
import { PRESETS } from '../presets';
import {
  createProtocols,
  logLoaded,
  measure,
  type Service,
  type ServiceOptions,
  type ServiceSite,
} from './service';
import { describeHang } from './watchdog';

/** The service of one model. */
export class SingleModelService implements Service {
  readonly #name: ServiceName;
  readonly #options: ServiceOptions;
  #served: ServedModel;
  #speech: ReturnType<typeof createProtocols>;
  #models: readonly MeasuredModel[] = [];
  /** Nothing is known of the model yet. */
  isLoading = true;

  constructor(name: ServiceName, options: ServiceOptions) {
    this.#name = name;
    this.#options = options;
    this.#served = this.#toServed(new ModelFileError('it is loading'));
    this.#speech = createProtocols(this.#served, options);
  }

  /** From now on this is served; `Servers.show` follows. @param loaded the model, or what was wrong with it */
  show(loaded: TaskModel | Error): void {
    this.isLoading = false;
    this.#served = this.#toServed(loaded);
    this.#speech = createProtocols(this.#served, this.#options);
    this.#models = this.#served.model ? [measure(this.#served, this.#options, {})] : [];
  }

  get site(): ServiceSite {
    const { protocols, info } = this.#speech;
    return {
      mounts: protocols.map((protocol) => ({ protocol, at: '' })),
      aboutOf: () => ({ model: this.#served.name }),
      described: { task: this.#served.task, info, protocols },
      pages: [this.#name, 'docs'].map((name) => ({ name, at: '' })),
    };
  }

  readonly namesOf = (name: string): readonly string[] => [name];

  readonly grpc = () => this.#speech.protocols.flatMap(({ grpc }) => (grpc ? [grpc()] : []));

  readonly loaded = (): readonly Sample[] => [{ labels: {}, value: this.#served.model ? 1 : 0 }];

  readonly loadFailed = null;

  readonly models = (): readonly MeasuredModel[] => this.#models;

  readonly problem = (): string | null =>
    this.#served.model ? describeHang(this.monitor) : `Model is not loaded: ${this.#served.reason}`;

  /** Of the model's engine; null: it is not loaded. */
  get monitor(): EngineMonitor | null {
    return this.#served.model?.monitor ?? null;
  }

  drop(): void {
    this.#served.model?.drop();
  }

  async close(): Promise<void> {
    await this.#served.model?.close();
  }

  #toServed(loaded: TaskModel | Error): ServedModel {
    const { modelName } = this.#options.config;
    const { task, modelPath } = PRESETS[this.#name];
    const path = modelPath(this.#options.config);
    const served = toServedModel(modelName ?? this.#name, task, path, loaded);
    return modelName === null ? served : { ...served, title: modelName };
  }
}

/**
 * The model of the service. One that cannot be loaded is no reason to end: it is logged, and served as
 * not loaded.
 */
export async function loadSingleModel(
  name: ServiceName,
  { config }: ServiceOptions,
  log: Log,
): Promise<TaskModel | Error> {
  const { task, modelPath: placeOf } = PRESETS[name];
  const place = placeOf(config);
  try {
    const model = await TaskModel.load(task, place, config.scheduling);
    logLoaded(task, place, model, { config, log });
    return model;
  } catch (error) {
    log.logger.error({ model: place }, `Model is not loaded: ${(error as Error).message}`);
    return error as Error;
  }
}
