import type { EngineError } from '../native/engine';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { Capabilities, Capability } from '../tasks/capabilities';
import {
  type Catalogue,
  currentVersion,
  findModel,
  isPrimaryCapability,
  listNames,
  type NamedModel,
  type ServedModel,
  singleModelCatalogue,
  unavailableReason,
  withCapability,
} from '../tasks/served-model';

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
    const asked = named?.name ?? name;
    if (asked !== null) access.requireVisible(asked);
    const served = named && currentVersion(named)?.served;
    const able = served && withCapability(served, this.#ability);
    if (able?.model) return { ...able, model: able.model };
    if (this.#isAddressed) throw new ServiceError('MODEL_NOT_LOADED', 'Model is not loaded.');
    const reason = named && !served ? unavailableReason(named) : null;
    if (reason !== null) throw new ServiceError('NOT_READY', `Model is not loaded: ${reason}`);
    const visible = this.#able.filter((one) => access.canSee(one.name));
    const names = visible.map((one) => `"${one.name}"`);
    const there = names.length === 0 ? 'there is none' : `there are ${listNames(names)}`;
    const what = name === null ? 'No model is loaded' : `There is no model "${name}"`;
    throw new ServiceError('NOT_FOUND', `${what} that ${this.#ability} here: ${there}.`);
  }

  /** Admission check before the body is read: only if a single model has the ability. */
  readonly admissionError = (timeoutMs: number): EngineError | null => {
    const [one, ...others] = this.#able;
    if (!one || others.length > 0) return null;
    return currentVersion(one)?.served?.model?.admissionError(timeoutMs) ?? null;
  };

  /** Models with a loaded version that has the ability. */
  get #able(): readonly NamedModel[] {
    return this.#catalogue().filter(({ versions }) =>
      versions.some(({ served }) => served && withCapability(served, this.#ability)),
    );
  }

  /** The default model. Models whose task is the ability take precedence over models with an additional ability. */
  #default(): NamedModel | undefined {
    const able = this.#able.filter((one) => currentVersion(one));
    const isMade = (one: NamedModel): boolean => {
      const served = currentVersion(one)?.served;
      return Boolean(served && isPrimaryCapability(served, this.#ability));
    };
    const made = able.filter(isMade);
    const first = made.length > 0 ? made : able;
    return first.find(({ isDefault }) => isDefault) ?? first[0] ?? this.#able[0];
  }

  #byName(name: string): NamedModel | undefined {
    const catalogue = this.#catalogue();
    return (
      findModel(catalogue, name) ??
      catalogue.find((one) => currentVersion(one)?.served?.title === name)
    );
  }
}
