import type { EngineError } from '../native/engine';
import { FULL_ACCESS } from '../serving/access';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { Guard } from '../tasks/guard/guard';
import type {
  GuardModels,
  GuardRequest,
  GuardResult,
  Unchecked,
} from '../tasks/guard/guard-result';
import type { GuardState } from '../tasks/guard/guard-state';
import { checksOf, type Moderation, moderate } from '../tasks/guard/moderate';
import { type Catalogue, currentVersion, findModel } from '../tasks/served-model';
import { ModelResolver } from './model-resolver';

/** The guardrail of a model repository, for all protocols. */
export class GuardService {
  readonly #state: GuardState;
  readonly #catalogue: () => Catalogue;

  constructor(state: GuardState, catalogue: () => Catalogue) {
    this.#state = state;
    this.#catalogue = catalogue;
  }

  /** Whether a guardrail policy file exists. */
  get isConfigured(): boolean {
    return this.#state.isConfigured;
  }

  /** The loaded guardrail. @throws ServiceError MODEL_NOT_LOADED: the message contains the load error */
  require(): Guard {
    const { guard, reason } = this.#state;
    if (guard) return guard;
    throw new ServiceError('MODEL_NOT_LOADED', `The guard is not loaded: ${reason}`);
  }

  /**
   * Checks texts with the deadline and the permissions of a request.
   *
   * @throws ServiceError MODEL_NOT_LOADED; FORBIDDEN: the API key does not include a model of the checks
   */
  async check(call: ServiceRequest, question: GuardRequest): Promise<GuardResult> {
    const guard = this.require();
    const { models, options } = this.#within(call, guard.modelsFor(question));
    return guard.check(question, models, options);
  }

  /**
   * Classifies texts by the categories of the guardrail policy.
   *
   * @param all the parts of each text
   * @throws ServiceError as `check`; NOT_FOUND: the policy has no `moderations`
   */
  async moderate(
    call: ServiceRequest,
    all: readonly (readonly string[])[],
  ): Promise<readonly Moderation[]> {
    const guard = this.require();
    const { moderations } = guard.file;
    if (!moderations) {
      const message = 'The guardrail policy has no "moderations". Add them to the policy file.';
      throw new ServiceError('NOT_FOUND', message);
    }
    const asked = { direction: 'both', checks: checksOf(moderations) } as const;
    const { models, options } = this.#within(call, guard.modelsFor(asked));
    return Promise.all(all.map((texts) => moderate(guard, texts, models, options)));
  }

  #within(call: ServiceRequest, names: readonly string[]) {
    const access = call.access.canUseGuard ? FULL_ACCESS : call.access;
    for (const model of names) access.require({ model });
    const models: GuardModels = {
      find: (name, ability) => {
        const served = new ModelResolver(this.#catalogue, [ability]).resolve(name, { access });
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

  /** Admission check: the first model that would reject a request and whose check blocks on errors. */
  readonly admissionError = (timeoutMs: number): EngineError | null => {
    for (const check of this.#state.guard?.file.checks ?? []) {
      if (!('model' in check) || check.on_error === 'allow') continue;
      const named = findModel(this.#catalogue(), check.model);
      const refusal = named && currentVersion(named)?.served?.model?.admissionError(timeoutMs);
      if (refusal) return refusal;
    }
    return null;
  };
}

/** The reason of a block as a sentence without any part of the texts. */
export function blockReason({
  findings,
  errors,
  unchecked,
}: Pick<GuardResult, 'findings' | 'errors' | 'unchecked'>): string {
  const reasons = [
    ...findings
      .filter(({ action }) => action === 'block')
      .map(({ check, label }) => `${check} found ${label}`),
    ...errors
      .filter(({ action }) => action === 'block')
      .map(({ check }) => `${check} could not run`),
    ...unchecked.filter(({ action }) => action === 'block').map(describeUnchecked),
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
  unchecked,
}: Pick<GuardResult, 'errors' | 'unchecked'>): void {
  const error = errors.find(({ action }) => action === 'block');
  if (error) throw new ServiceError('MODEL_NOT_LOADED', `Check ${error.check}: ${error.reason}`);
  const blocked = unchecked.find(({ action }) => action === 'block');
  if (blocked) {
    throw new ServiceError('INPUT_TOO_LONG', `The guard: ${describeUnchecked(blocked)}.`);
  }
}

function describeUnchecked({ limit }: Unchecked): string {
  return `a part of the texts was not checked because of the limit of ${limit}`;
}
