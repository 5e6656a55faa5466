import { ServiceError } from '../../serving/errors';
import type { ClassifiesSignals, ClassifiesTexts } from '../../tasks/abilities';
import type { Served } from '../../tasks/served';
import type { Surroundings } from '../protocol';
import { describeConfiguration, describeModel, describeServer } from './metadata';
import { Model, VERSION } from './model';
import { ModelStatistics } from './statistics';

/** The model of a service, and what both transports tell of it. */
export class ServedModel {
  readonly name: string;
  readonly #version: string;
  readonly #model: Model | null;
  /** Why it is not loaded. */
  readonly #reason: string | null;
  readonly #statistics: ModelStatistics | null;

  constructor(
    { name, task, model, reason }: Served<ClassifiesTexts | ClassifiesSignals>,
    { version, listLength, gather }: Surroundings,
  ) {
    this.name = name;
    this.#model = model && new Model(model, task.tensors, listLength);
    this.#version = version;
    this.#reason = reason;
    this.#statistics = model && new ModelStatistics(name, model.monitor, gather);
  }

  /** @throws ServiceError NOT_READY: as Triton says of a model that it knows and could not load */
  get model(): Model {
    if (this.#model) return this.#model;
    throw new ServiceError('NOT_READY', `Model is not loaded: ${this.#reason}`);
  }

  /** Null where it is not loaded: then whoever asks is told so once the request has been read. */
  get modelIfLoaded(): Model | null {
    return this.#model;
  }

  /** Paths of the model, with its one version and without. */
  get paths(): readonly string[] {
    const path = `/v2/models/${this.name}`;
    return [path, `${path}/versions/${VERSION}`];
  }

  describeServer() {
    return describeServer(this.#version);
  }

  describeMetadata() {
    return describeModel(this.name, this.model);
  }

  describeConfiguration() {
    return describeConfiguration(this.name, this.model);
  }

  async describeStatistics() {
    return { model_stats: this.#statistics ? [await this.#statistics.describe()] : [] };
  }
}
