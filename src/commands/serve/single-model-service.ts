import { ModelFileError } from '../../models/files';
import type { EngineMonitor } from '../../native/engine';
import { LOAD_ERROR, type Log } from '../../serving/log';
import type { Sample } from '../../serving/metrics/family';
import type { MeasuredModel } from '../../serving/metrics/metrics';
import { describeHang } from '../../serving/watchdog';
import type { ServiceName } from '../../settings/config';
import { type ServedModel, toServedModel } from '../../tasks/served-model';
import { TaskModel } from '../../tasks/task-model';
import { PRESETS } from '../presets';
import { createModelProtocols, type ModelProtocols } from './mounts';
import { logLoaded, measure, type Service, type ServiceOptions, type ServiceSite } from './service';

/** Serves one model at the root. */
export class SingleModelService implements Service {
  readonly #name: ServiceName;
  readonly #options: ServiceOptions;
  #served: ServedModel;
  #protocols: ModelProtocols;
  #models: readonly MeasuredModel[] = [];
  /** True until the model is loaded or its load has failed. */
  isLoading = true;

  constructor(name: ServiceName, options: ServiceOptions) {
    this.#name = name;
    this.#options = options;
    this.#served = this.#toServed(new ModelFileError('it is loading'));
    this.#protocols = createModelProtocols(this.#served, options);
  }

  /** Sets the loaded model, or its load error. Call `Servers.update` afterwards. */
  setModel(loaded: TaskModel | Error): void {
    this.isLoading = false;
    this.#served = this.#toServed(loaded);
    this.#protocols = createModelProtocols(this.#served, this.#options);
    this.#models = this.#served.model ? [measure(this.#served, this.#options, {})] : [];
  }

  get site(): ServiceSite {
    const { protocols, info } = this.#protocols;
    return {
      mounts: protocols.map((protocol) => ({ protocol, at: '' })),
      resourceOf: () => ({ model: this.#served.name }),
      documentation: { task: this.#served.task, info, protocols },
      pages: [this.#name, 'docs'].map((name) => ({ name, at: '' })),
    };
  }

  readonly namesOf = (name: string): readonly string[] => [name];

  readonly grpc = () => this.#protocols.protocols.flatMap(({ grpc }) => (grpc ? [grpc()] : []));

  readonly loaded = (): readonly Sample[] => [{ labels: {}, value: this.#served.model ? 1 : 0 }];

  readonly loadFailed = null;

  readonly models = (): readonly MeasuredModel[] => this.#models;

  readonly problem = (): string | null =>
    this.#served.model ? describeHang(this.monitor) : `Model is not loaded: ${this.#served.reason}`;

  /** Engine of the model; null: the model is not loaded. */
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

/** Loads the model of the service. A load error is logged and returned: the server starts without the model. */
export async function loadSingleModel(
  name: ServiceName,
  { config }: ServiceOptions,
  { logger }: Log,
): Promise<TaskModel | Error> {
  const { task, modelPath } = PRESETS[name];
  const path = modelPath(config);
  try {
    const model = await TaskModel.load(task, path, config.scheduling);
    logLoaded(task, path, model, { config, logger });
    return model;
  } catch (error) {
    logger.error(
      { model: path, ...LOAD_ERROR },
      `Model is not loaded: ${(error as Error).message}`,
    );
    return error as Error;
  }
}
