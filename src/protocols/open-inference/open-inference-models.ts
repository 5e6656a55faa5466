import type { Access } from '../../serving/access';
import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { Repository } from '../../tasks/model-repository';
import type { ServedModel } from '../../tasks/served-model';
import {
  type Catalogue,
  currentVersion,
  findModel,
  listNames,
  type ModelVersion,
  type NamedModel,
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
  readonly #surroundings: ProtocolOptions;
  readonly #served = new WeakMap<ServedModel, OpenInferenceModel>();

  constructor(
    catalogue: () => Catalogue,
    surroundings: ProtocolOptions,
    repository: Repository | null = null,
  ) {
    this.#catalogue = catalogue;
    this.#surroundings = surroundings;
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
            (one) => [`${name}/versions/${one.version}`, this.#of(model, one)] as const,
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
    if (!model) throw notFound(`There is no such model here: expected ${this.namesFor(access)}.`);
    const one = model.versions.find((each) => each.version === version);
    const found = version === '' ? this.#serving(model) : one && this.#of(model, one);
    if (found) return found;
    const versions = model.versions.map((each) => `"${each.version}"`).join(', ');
    throw notFound(`There is no such version: expected ${versions} or none.`);
  }

  versionsOf({ name }: OpenInferenceModel): readonly string[] {
    const model = this.#catalogue().find((one) => one.name === name);
    return (model?.versions ?? []).map(({ version }) => version);
  }

  /** Lists the models in an error message. */
  namesFor(access: Access): string {
    const visible = this.#catalogue().filter(({ name }) => access.canSee(name));
    const names = visible.map(({ name }) => `"${name}"`);
    return names.length === 0 ? 'none, nothing is loaded' : listNames(names);
  }

  get all(): readonly OpenInferenceModel[] {
    return this.#catalogue().flatMap((model) => model.versions.map((one) => this.#of(model, one)));
  }

  /** Models that the API key may see. */
  visible({ access }: Pick<ServiceRequest, 'access'>): readonly OpenInferenceModel[] {
    return this.all.filter(({ name }) => access.canSee(name));
  }

  // The methods below return fields with their names in the gRPC messages, which equal the JSON
  // names.

  describeServer() {
    const { version } = this.#surroundings;
    const extensions = this.repository ? [...EXTENSIONS, 'model_repository'] : EXTENSIONS;
    return { name: SERVER, version, extensions };
  }

  async describeStatistics(models: readonly OpenInferenceModel[]) {
    const all = await Promise.all(models.map((model) => model.describeStatistics()));
    return { model_stats: all.filter((one) => one !== null) };
  }

  #serving(model: NamedModel): OpenInferenceModel | null {
    const version = currentVersion(model) ?? model.versions.at(-1);
    return version ? this.#of(model, version) : null;
  }

  #of({ name }: NamedModel, { version, reason, served }: ModelVersion): OpenInferenceModel {
    const known = served && this.#served.get(served);
    if (known) return known;
    const created = new OpenInferenceModel(
      { name, version, reason: reason ?? 'it is loading' },
      served,
      this.#surroundings,
    );
    if (served) this.#served.set(served, created);
    return created;
  }
}

function notFound(message: string): ServiceError {
  return new ServiceError('NOT_FOUND', message);
}
