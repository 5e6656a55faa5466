import { ServiceError } from './errors';

/** What a key is limited to. Can be sent to another thread. */
export interface Grant {
  /** Names of the models that it may ask; null: all. */
  readonly models: readonly string[] | null;
  /** It loads and unloads models. */
  readonly isManaging: boolean;
  /** It asks the guard, whichever models that asks. */
  readonly isGuarding?: boolean;
}

export const UNLIMITED: Grant = { models: null, isManaging: true };

export function isUnlimited({ models, isManaging }: Grant): boolean {
  return models === null && isManaging;
}

const NOT_THIS_MODEL = 'The API key is not for this model.';

/** What a request is about, as far as its path or its method says. */
export type ProtectedResource = { readonly model: string } | 'all models' | 'management';

/** All names of the model that has this one: a key may be for any of them. */
export type NamesOf = (name: string) => readonly string[];

/**
 * What whoever asks may do: the one place that says so, for all transports and protocols. What is said of a
 * model that the key is not for does not depend on whether there is such a model.
 */
export class Access {
  readonly #models: ReadonlySet<string> | null;
  readonly #isManaging: boolean;
  /** It may ask the guard, though the key is not for all models of that. */
  readonly isGuarding: boolean;
  readonly #namesOf: NamesOf;

  constructor({ models, isManaging, isGuarding = false }: Grant, namesOf: NamesOf) {
    this.#models = models && new Set(models);
    this.#isManaging = isManaging;
    this.isGuarding = isGuarding;
    this.#namesOf = namesOf;
  }

  /** Null: it may. */
  refusal(about: ProtectedResource): ServiceError | null {
    if (about === 'management')
      return this.#isManaging ? null : forbidden('The API key is not for management.');
    if (about === 'all models') {
      const maySeeAll = this.#models === null || this.#isManaging;
      return maySeeAll ? null : forbidden('The API key is for some models, and this tells of all.');
    }
    return this.#mayAsk(about.model) ? null : forbidden(NOT_THIS_MODEL);
  }

  /** @throws ServiceError FORBIDDEN */
  require(about: ProtectedResource): void {
    const refusal = this.refusal(about);
    if (refusal) throw refusal;
  }

  /** To be told of. @throws ServiceError FORBIDDEN */
  requireVisible(model: string): void {
    if (!this.maySee(model)) throw forbidden(NOT_THIS_MODEL);
  }

  /** For lists: whoever manages models sees all. */
  maySee(name: string): boolean {
    return this.#isManaging || this.#mayAsk(name);
  }

  #mayAsk(name: string): boolean {
    const models = this.#models;
    return models === null || [name, ...this.#namesOf(name)].some((one) => models.has(one));
  }
}

/** That of all where no keys are set, and of keys without limits. */
export const EVERYTHING = new Access(UNLIMITED, () => []);

function forbidden(message: string): ServiceError {
  return new ServiceError('FORBIDDEN', message);
}
