import { ServiceError } from './errors';

/** Permissions of an API key. */
export interface Grant {
  /** Names of models that the key can call; null: all models. */
  readonly models: readonly string[] | null;
  /** The key can load and unload models. */
  readonly canManage: boolean;
  /** The key can call the guardrail, whichever models the guardrail runs. */
  readonly canUseGuard?: boolean;
}

export const UNLIMITED_GRANT: Grant = { models: null, canManage: true };

export function isUnlimited({ models, canManage }: Grant): boolean {
  return models === null && canManage;
}

const WRONG_MODEL = 'The scope of the API key does not include this model.';

/** The resource that an API key must permit: a named model, all models, or the management API. */
export type ProtectedResource = { readonly model: string } | 'all models' | 'management';

/** All names of a model, by one of them: a key may list any of them. */
export type NamesOf = (name: string) => readonly string[];

/**
 * Checks the permissions of an API key, for all transports and protocols. The error for a model does not depend on
 * whether the model exists.
 */
export class Access {
  readonly #models: ReadonlySet<string> | null;
  readonly #canManage: boolean;
  readonly canUseGuard: boolean;
  readonly #namesOf: NamesOf;

  constructor({ models, canManage, canUseGuard = false }: Grant, namesOf: NamesOf) {
    this.#models = models && new Set(models);
    this.#canManage = canManage;
    this.canUseGuard = canUseGuard;
    this.#namesOf = namesOf;
  }

  /** @returns FORBIDDEN, or null if the key permits the resource */
  errorFor(resource: ProtectedResource): ServiceError | null {
    if (resource === 'management') {
      return this.#canManage
        ? null
        : forbidden('The scope of the API key does not include management.');
    }
    if (resource === 'all models') {
      return this.#models === null || this.#canManage
        ? null
        : forbidden('The API key is limited to some models, but this path reports all models.');
    }
    return this.#canCall(resource.model) ? null : forbidden(WRONG_MODEL);
  }

  /** @throws ServiceError FORBIDDEN */
  require(resource: ProtectedResource): void {
    const error = this.errorFor(resource);
    if (error) throw error;
  }

  /**
   * Checks the access to a model that is about to run.
   *
   * @param isGuardModel the guardrail runs the model: a key for the guardrail is sufficient
   * @throws ServiceError FORBIDDEN
   */
  requireInference({
    name,
    isGuardModel,
  }: {
    readonly name: string;
    readonly isGuardModel?: true;
  }): void {
    if (isGuardModel && this.canUseGuard) return;
    this.require({ model: name });
  }

  /** @throws ServiceError FORBIDDEN if `canSee` is false */
  requireVisible(model: string): void {
    if (!this.canSee(model)) throw forbidden(WRONG_MODEL);
  }

  /** Whether lists contain the model. A key for management sees all models. */
  canSee(name: string): boolean {
    return this.#canManage || this.#canCall(name);
  }

  #canCall(name: string): boolean {
    const models = this.#models;
    return models === null || [name, ...this.#namesOf(name)].some((one) => models.has(one));
  }
}

/** Access without API keys, and of keys without limits. */
export const FULL_ACCESS = new Access(UNLIMITED_GRANT, () => []);

/** Whether GET, HEAD and OPTIONS of a path need no API key. */
export type IsPublic = (path: string) => boolean;

/**
 * Public paths: probes, the files of the pages (they ask the user for the key), and `/metrics` unless
 * METRICS_REQUIRE_KEY is set.
 *
 * @param pages paths of the files of the pages
 * @param probes paths that supervisors and load balancers request without a key
 */
export function isPublicPath(
  pages: readonly string[],
  probes: readonly string[],
  { metricsRequireKey }: { readonly metricsRequireKey: boolean },
): IsPublic {
  const paths = new Set([...probes, ...pages, ...(metricsRequireKey ? [] : ['/metrics'])]);
  return (path) => paths.has(path);
}

function forbidden(message: string): ServiceError {
  return new ServiceError('FORBIDDEN', message);
}
