import type { Access } from '../../serving/access';
import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { Repository } from '../../tasks/model-repository';
import {
  type Catalogue,
  currentVersion,
  findModel,
  type ModelVersion,
  type NamedModel,
  quoteNames,
  type ServedModel,
} from '../../tasks/served-model';
import type { ProtocolOptions } from '../protocol';
import { OpenInferenceModel } from './open-inference-model';

const SERVER = 'libtorch-serve';

/** Supported extensions of Triton. */
const EXTENSIONS = ['binary_tensor_data', 'classification', 'model_configuration', 'statistics'];

/** Models of the Open Inference Protocol, derived from the current catalogue. */
export class OpenInferenceModels {
  /** Repository that loads and unloads models; null: the models are fixed. */
  readonly repository: Repository | null;
  readonly #catalogue: () => Catalogue;
  readonly #options: ProtocolOptions;
  readonly #served = new WeakMap<ServedModel, OpenInferenceModel>();

  constructor(
    catalogue: () => Catalogue,
    options: ProtocolOptions,
    repository: Repository | null = null,
  ) {
    this.#catalogue = catalogue;
    this.#options = options;
    this.repository = repository;
  }

  /** Returns the models by path below `/v2/models/`, such as `name` and `name/versions/1`. */
  byPath(): readonly (readonly [path: string, served: OpenInferenceModel])[] {
    return this.#catalogue().flatMap((model) =>
      [model.name, ...model.aliases].flatMap((name) => {
        const serving = this.#serving(model);
        return [
          ...(serving ? [[name, serving] as const] : []),
          ...model.versions.map(
            (version) => [`${name}/versions/${version.version}`, this.#of(model, version)] as const,
          ),
        ];
      }),
    );
  }

  /**
   * Finds a model that the API key may use.
   *
   * @param version empty: the current version
   * @throws ServiceError NOT_FOUND: the message lists the models; FORBIDDEN: the API key does not
   *   include the model
   */
  find(
    name: string,
    version: string,
    { access }: Pick<ServiceRequest, 'access'>,
  ): OpenInferenceModel {
    access.requireVisible(name);
    const model = findModel(this.#catalogue(), name);
    if (!model) throw notFound(`model: no model "${name}". Models: ${this.namesFor(access)}`);
    const requested = model.versions.find((candidate) => candidate.version === version);
    const found = version === '' ? this.#serving(model) : requested && this.#of(model, requested);
    if (found) return found;
    const versions = quoteNames(model.versions.map((candidate) => candidate.version));
    throw notFound(`version: no version "${version}" of model "${name}". Versions: ${versions}`);
  }

  versionsOf({ name }: OpenInferenceModel): readonly string[] {
    const model = this.#catalogue().find((candidate) => candidate.name === name);
    return (model?.versions ?? []).map(({ version }) => version);
  }

  /** Lists the models in an error message. */
  namesFor(access: Access): string {
    const visible = this.#catalogue().filter(({ name }) => access.canSee(name));
    return quoteNames(visible.map(({ name }) => name));
  }

  get all(): readonly OpenInferenceModel[] {
    return this.#catalogue().flatMap((model) =>
      model.versions.map((version) => this.#of(model, version)),
    );
  }

  /** Models that the API key may see. */
  visible({ access }: Pick<ServiceRequest, 'access'>): readonly OpenInferenceModel[] {
    return this.all.filter(({ name }) => access.canSee(name));
  }

  // The methods below return fields with their names in the gRPC messages, which equal the JSON
  // names.

  describeServer() {
    const { version } = this.#options;
    const extensions = this.repository ? [...EXTENSIONS, 'model_repository'] : EXTENSIONS;
    return { name: SERVER, version, extensions };
  }

  async describeStatistics(models: readonly OpenInferenceModel[]) {
    const all = await Promise.all(models.map((model) => model.describeStatistics()));
    return { model_stats: all.filter((statistics) => statistics !== null) };
  }

  #serving(model: NamedModel): OpenInferenceModel | null {
    const version = currentVersion(model) ?? model.versions.at(-1);
    return version ? this.#of(model, version) : null;
  }

  #of({ name }: NamedModel, { version, reason, served }: ModelVersion): OpenInferenceModel {
    const cached = served && this.#served.get(served);
    if (cached) return cached;
    const created = new OpenInferenceModel(
      { name, version, reason: reason ?? 'it is loading' },
      served,
      this.#options,
    );
    if (served) this.#served.set(served, created);
    return created;
  }
}

function notFound(message: string): ServiceError {
  return new ServiceError('NOT_FOUND', message);
}
