import { ServiceError } from '../../serving/errors';
import type { Gather } from '../../serving/peers';
import { describeConfiguration, describeModel, describeServer } from './metadata';
import { type Model, VERSION } from './model';
import { ModelStatistics } from './statistics';

/** The model of a service, and what both transports tell of it. */
export class ServedModel {
  readonly name: string;
  readonly #packageVersion: string;
  readonly #model: Model | null;
  /** Why it is not loaded. */
  readonly #reason: string | null;
  readonly #statistics: ModelStatistics | null;

  constructor(
    name: string,
    model: Model | null,
    about: {
      readonly packageVersion: string;
      readonly reason: string | null;
      readonly gather: Gather;
    },
  ) {
    this.name = name;
    this.#model = model;
    this.#packageVersion = about.packageVersion;
    this.#reason = about.reason;
    this.#statistics = model && new ModelStatistics(name, model.monitor, about.gather);
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
    return describeServer(this.#packageVersion);
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
