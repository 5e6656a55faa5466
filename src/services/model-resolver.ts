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

/** Joins names as `a, b or c`. */
const ALTERNATIVES = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Tag of a model name without a version, as Ollama's clients send it. */
export const LATEST = ':latest';

/**
 * Chooses the model of a request among the models with an ability: by the name in the request, or the default model.
 * Also checks that the API key may see the model.
 */
export class ModelResolver<Name extends Capability> {
  readonly #catalogue: () => Catalogue;
  readonly #abilities: readonly Name[];
  readonly #isAddressed: boolean;

  /** @param abilities a model needs one of them */
  constructor(catalogue: () => Catalogue, abilities: readonly Name[], isAddressed = false) {
    this.#catalogue = catalogue;
    this.#abilities = abilities;
    this.#isAddressed = isAddressed;
  }

  /** Resolver below the address of a model, which ignores the name in a request. Null: the model lacks the ability. */
  static ofOne<Name extends Capability>(
    served: ServedModel,
    ability: Name,
  ): ModelResolver<Name> | null {
    if (!withCapability(served, ability)) return null;
    const catalogue = singleModelCatalogue(served);
    return new ModelResolver(() => catalogue, [ability], true);
  }

  /**
   * The model of a request, with the interface of its ability.
   *
   * @param given name, alias or title of a model, also with the tag `:latest`; null or undefined: the default model
   * @throws as `select`
   */
  resolve(
    given: string | null | undefined,
    call: Pick<ServiceRequest, 'access'>,
  ): ServedModel<Capabilities[Name]> & { readonly model: Capabilities[Name] } {
    const able = this.#viewOf(this.select(given, call));
    if (able?.model) return { ...able, model: able.model };
    throw modelNotLoaded();
  }

  /**
   * The loaded model of a request.
   *
   * @param given as in `resolve`
   * @throws ServiceError NOT_FOUND: the message lists the models; NOT_READY or MODEL_NOT_LOADED: the model is not
   *   loaded; FORBIDDEN: the API key does not include the model
   */
  select(
    given: string | null | undefined,
    { access }: Pick<ServiceRequest, 'access'>,
  ): ServedModel {
    const name = this.#isAddressed ? null : withoutTag(given ?? null);
    const named = name === null ? this.#default() : this.#byName(name);
    const requested = named?.name ?? name;
    if (requested !== null) access.requireVisible(requested);
    const served = (named && currentVersion(named)?.served) ?? null;
    if (served && this.#viewOf(served)) return served;
    if (this.#isAddressed) throw modelNotLoaded();
    const reason = named && !served ? unavailableReason(named) : null;
    if (reason !== null) throw new ServiceError('NOT_READY', `Model is not loaded: ${reason}`);
    const names = this.#able.filter(({ name }) => access.canSee(name)).map(({ name }) => name);
    const problem = this.#problemOf(name, served);
    throw new ServiceError('NOT_FOUND', `model: ${problem}. Loaded models: ${quoteNames(names)}`);
  }

  /** @param served the loaded model of that name; null: there is none */
  #problemOf(name: string | null, served: ServedModel | null): string {
    const wanted = ALTERNATIVES.format(this.#abilities.map((each) => DESCRIPTIONS[each]));
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

  /** The model with the interface of the first ability that it has; null: it has none of them. */
  #viewOf(served: ServedModel): ServedModel<Capabilities[Name]> | null {
    for (const ability of this.#abilities) {
      const view = withCapability(served, ability);
      if (view) return view;
    }
    return null;
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
      versions.some(({ served }) => served && this.#viewOf(served)),
    );
  }

  /** The default model. Models whose task is the ability take precedence over models with an additional ability. */
  #default(): NamedModel | undefined {
    const able = this.#able.filter((model) => currentVersion(model));
    const primary = able.filter((model) => {
      const served = currentVersion(model)?.served;
      return served && this.#abilities.some((ability) => isPrimaryCapability(served, ability));
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

/**
 * Checks the name in a request below the address of a model.
 *
 * @param given null: no name
 * @throws ServiceError NOT_FOUND: it is neither the name, nor an alias, nor the title of the model
 */
export function requireNameOf(
  { name, title }: ServedModel,
  aliases: readonly string[],
  given: string | null,
): void {
  const requested = withoutTag(given);
  if (requested === null || [name, title, ...aliases].includes(requested)) return;
  const problem = `model: expected "${name}", the model of this address, received "${requested}"`;
  throw new ServiceError('NOT_FOUND', `${problem}. Send its name, or no name`);
}

function modelNotLoaded(): ServiceError {
  return new ServiceError('MODEL_NOT_LOADED', 'Model is not loaded.');
}

function withoutTag(name: string | null): string | null {
  return name?.endsWith(LATEST) ? name.slice(0, -LATEST.length) : name;
}
