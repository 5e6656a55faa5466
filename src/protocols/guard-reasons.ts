import { ServiceError } from '../serving/errors';
import type { GuardAnswer, NotLookedAt } from '../tasks/guard/answer';

/** Why a guard blocks, in a sentence that holds nothing of the text. */
export function blockReason({
  findings,
  errors,
  notLookedAt,
}: Pick<GuardAnswer, 'findings' | 'errors' | 'notLookedAt'>): string {
  const found = findings.filter(({ action }) => action === 'block');
  const reasons = [
    ...found.map(({ check, label }) => `${check} found ${label}`),
    ...errors
      .filter(({ action }) => action === 'block')
      .map(({ check }) => `${check} could not run`),
    ...notLookedAt.filter(({ action }) => action === 'block').map(tellLimit),
  ];
  return `Blocked by the guard: ${[...new Set(reasons)].join(', ')}.`;
}

/**
 * For protocols that tell what was found, and have no word for what blocks without a finding.
 *
 * @throws ServiceError MODEL_NOT_LOADED: a check could not run, and its `on_error` is block;
 *   INPUT_TOO_LONG: not all was looked at, and `on_limit` is block
 */
export function requireLookedAt({
  errors,
  notLookedAt,
}: Pick<GuardAnswer, 'errors' | 'notLookedAt'>): void {
  const error = errors.find(({ action }) => action === 'block');
  if (error) throw new ServiceError('MODEL_NOT_LOADED', `Check ${error.check}: ${error.reason}`);
  const left = notLookedAt.find(({ action }) => action === 'block');
  if (left) throw new ServiceError('INPUT_TOO_LONG', `The guard: ${tellLimit(left)}.`);
}

function tellLimit({ limit }: NotLookedAt): string {
  return `not all was looked at, because of the limit of ${limit}`;
}
