import type { EngineError } from '../native/engine';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import { CAPABILITIES, type Capabilities, type Capability } from '../tasks/capabilities';
import {
  type Catalogue,
  currentVersion,
  findModel,
  isPrimaryCapability,
  type NamedModel,
  quoteNames,
  type ServedModel,
  singleModelCatalogue,
  unavailableReason,
  withCapability,
} from '../tasks/served-model';

/** Names of the abilities in error messages. */
const DESCRIPTIONS: Readonly<Record<Capability, string>> = {
  embedding: 'text embedding',
  'token-embedding': 'token embedding',
  'sparse-embedding': 'sparse embedding',
  'multi-embedding': 'embeddings of several kinds (bge-m3)',
  'text-classification': 'text classification',
  'token-classification': 'token classification',
  'signal-classification': 'signal classification',
  reranking: 'reranking',
  'zero-shot': 'zero-shot classification',
  decision: 'decisions',
  'entity-recognition': 'entity recognition',
  tokenization: 'tokenization',
};

/**
 * Chooses the model of a request among the models with an ability: by the name in the request, or the default model.
 * Also checks that the API key may see the model.
 */
export class ModelResolver<Name extends Capability> {
  readonly #catalogue: () => Catalogue;
  readonly #ability: Name;
  readonly #isAddressed: boolean;

  constructor(catalogue: () => Catalogue, ability: Name, isAddressed = false) {
    this.#catalogue = catalogue;
    this.#ability = ability;
    this.#isAddressed = isAddressed;
  }

  /** Resolver below the address of a model, which ignores the name in a request. Null: the model lacks the ability. */
  static ofOne<Name extends Capability>(
    served: ServedModel,
    ability: Name,
  ): ModelResolver<Name> | null {
    if (!withCapability(served, ability)) return null;
    const catalogue = singleModelCatalogue(served);
    return new ModelResolver(() => catalogue, ability, true);
  }

  /**
   * The model of a request.
   *
   * @param given name, alias or title of a model; null or undefined: the default model
   * @throws ServiceError NOT_FOUND: the message lists the models; NOT_READY or MODEL_NOT_LOADED: the model is not
   *   loaded; FORBIDDEN: the API key does not include the model
   */
  resolve(
    given: string | null | undefined,
    { access }: Pick<ServiceRequest, 'access'>,
  ): ServedModel<Capabilities[Name]> & { readonly model: Capabilities[Name] } {
    const name = this.#isAddressed ? null : (given ?? null);
    const named = name === null ? this.#default() : this.#byName(name);
    const requested = named?.name ?? name;
    if (requested !== null) access.requireVisible(requested);
    const served = named && currentVersion(named)?.served;
    const able = served && withCapability(served, this.#ability);
    if (able?.model) return { ...able, model: able.model };
    if (this.#isAddressed) throw new ServiceError('MODEL_NOT_LOADED', 'Model is not loaded.');
    const reason = named && !served ? unavailableReason(named) : null;
    if (reason !== null) throw new ServiceError('NOT_READY', `Model is not loaded: ${reason}`);
    const names = this.#able.filter(({ name }) => access.canSee(name)).map(({ name }) => name);
    const problem = this.#problemOf(name, served ?? null);
    throw new ServiceError('NOT_FOUND', `model: ${problem}. Loaded models: ${quoteNames(names)}`);
  }

  /** @param served the loaded model of that name; null: there is none */
  #problemOf(name: string | null, served: ServedModel | null): string {
    const wanted = DESCRIPTIONS[this.#ability];
    if (served === null) {
      return `no loaded model${name === null ? '' : ` "${name}"`} supports ${wanted}`;
    }
    // Every text model can tokenize.
    const abilities = CAPABILITIES.filter(
      (each) => each !== 'tokenization' && withCapability(served, each),
    );
    const supported = abilities.map((each) => DESCRIPTIONS[each]).join(', ') || 'nothing';
    return `"${name}" supports ${supported}, not ${wanted}`;
  }

  /** Admission check before the body is read: only if a single model has the ability. */
  readonly admissionError = (timeoutMs: number): EngineError | null => {
    const [only, ...rest] = this.#able;
    if (!only || rest.length > 0) return null;
    return currentVersion(only)?.served?.model?.admissionError(timeoutMs) ?? null;
  };

  /** Models with a loaded version that has the ability. */
  get #able(): readonly NamedModel[] {
    return this.#catalogue().filter(({ versions }) =>
      versions.some(({ served }) => served && withCapability(served, this.#ability)),
    );
  }

  /** The default model. Models whose task is the ability take precedence over models with an additional ability. */
  #default(): NamedModel | undefined {
    const able = this.#able.filter((model) => currentVersion(model));
    const primary = able.filter((model) => {
      const served = currentVersion(model)?.served;
      return served && isPrimaryCapability(served, this.#ability);
    });
    const candidates = primary.length > 0 ? primary : able;
    return candidates.find(({ isDefault }) => isDefault) ?? candidates[0] ?? this.#able[0];
  }

  #byName(name: string): NamedModel | undefined {
    const catalogue = this.#catalogue();
    return (
      findModel(catalogue, name) ??
      catalogue.find((model) => currentVersion(model)?.served?.title === name)
    );
  }
}
