import type { EngineError } from '../native/engine';
import { EVERYTHING } from '../serving/access';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import { type Catalogue, currentVersion, findModel } from '../tasks/catalogue';
import type { GuardAnswer, GuardModels, GuardQuestion, NotLookedAt } from '../tasks/guard/answer';
import type { Guard } from '../tasks/guard/guard';
import { checksOf, type Moderation, moderate } from '../tasks/guard/moderate';
import type { GuardState } from '../tasks/guard/state';
import { ModelResolver } from './model-resolver';

/** The guard of a service as protocols ask it, over the models of the service. */
export class GuardService {
  readonly #state: GuardState;
  readonly #catalogue: () => Catalogue;

  constructor(state: GuardState, catalogue: () => Catalogue) {
    this.#state = state;
    this.#catalogue = catalogue;
  }

  /** It is to be spoken of: there is a file of a guard. */
  get isConfigured(): boolean {
    return this.#state.isThere;
  }

  /** @throws ServiceError MODEL_NOT_LOADED: its file is wrong, and how */
  require(): Guard {
    const { guard, reason } = this.#state;
    if (guard) return guard;
    throw new ServiceError('MODEL_NOT_LOADED', `The guard is not loaded: ${reason}`);
  }

  /**
   * Runs the checks of the guard for a call: with its deadline, and the models that its key may ask.
   *
   * @throws ServiceError MODEL_NOT_LOADED; FORBIDDEN: the key is not for one of the guard's models
   */
  async check(call: ServiceRequest, question: GuardQuestion): Promise<GuardAnswer> {
    const guard = this.require();
    const { models, options } = this.#within(call, guard.modelsFor(question));
    return guard.check(question, models, options);
  }

  /**
   * The same, by categories.
   *
   * @param all of each text its parts
   * @throws ServiceError as `check`; NOT_FOUND: its file maps no categories
   */
  async moderate(
    call: ServiceRequest,
    all: readonly (readonly string[])[],
  ): Promise<readonly Moderation[]> {
    const guard = this.require();
    const { moderations } = guard.file;
    if (!moderations) {
      const message = 'There are no moderations here: the file of the guard has no "moderations".';
      throw new ServiceError('NOT_FOUND', message);
    }
    const asked = { direction: 'both', checks: checksOf(moderations) } as const;
    const { models, options } = this.#within(call, guard.modelsFor(asked));
    return Promise.all(all.map((texts) => moderate(guard, texts, models, options)));
  }

  #within(call: ServiceRequest, names: readonly string[]) {
    const access = call.access.isGuarding ? EVERYTHING : call.access;
    for (const model of names) access.require({ model });
    const models: GuardModels = {
      find: (name, ability) => {
        const served = new ModelResolver(this.#catalogue, ability).resolve(name, { access });
        const { version } = served;
        const options = call.inferOptions({ name: served.name, version, isGuardModel: true });
        return { model: served.model, options };
      },
    };
    const [name] = names;
    const options =
      name === undefined ? {} : call.inferOptions({ name, version: null, isGuardModel: true });
    return { models, options };
  }

  /** `Target.refusal`: that of the first of its models that would refuse, where that blocks. */
  readonly refusal = (timeoutMs: number): EngineError | null => {
    for (const check of this.#state.guard?.file.checks ?? []) {
      if (!('model' in check) || check.on_error === 'allow') continue;
      const named = findModel(this.#catalogue(), check.model);
      const refusal = named && currentVersion(named)?.served?.model?.refusal(timeoutMs);
      if (refusal) return refusal;
    }
    return null;
  };
}

/** The reason of a block as a sentence without any part of the texts. */
export function blockReason({
  findings,
  errors,
  notLookedAt,
}: Pick<GuardAnswer, 'findings' | 'errors' | 'notLookedAt'>): string {
  const reasons = [
    ...findings
      .filter(({ action }) => action === 'block')
      .map(({ check, label }) => `${check} found ${label}`),
    ...errors
      .filter(({ action }) => action === 'block')
      .map(({ check }) => `${check} could not run`),
    ...notLookedAt.filter(({ action }) => action === 'block').map(describeUnchecked),
  ];
  return `Blocked by the guard: ${[...new Set(reasons)].join(', ')}.`;
}

/**
 * For protocols that can only report findings, not failed checks or unchecked parts.
 *
 * @throws ServiceError MODEL_NOT_LOADED: a check failed, and its `on_error` is block;
 *   INPUT_TOO_LONG: a part of the texts was not checked, and `on_limit` is block
 */
export function requireChecked({
  errors,
  notLookedAt,
}: Pick<GuardAnswer, 'errors' | 'notLookedAt'>): void {
  const error = errors.find(({ action }) => action === 'block');
  if (error) throw new ServiceError('MODEL_NOT_LOADED', `Check ${error.check}: ${error.reason}`);
  const unchecked = notLookedAt.find(({ action }) => action === 'block');
  if (unchecked) {
    throw new ServiceError('INPUT_TOO_LONG', `The guard: ${describeUnchecked(unchecked)}.`);
  }
}

function describeUnchecked({ limit }: NotLookedAt): string {
  return `a part of the texts was not checked because of the limit of ${limit}`;
}
