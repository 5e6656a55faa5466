import { ModelFileError } from '../../models/files';
import { EngineError, type EngineErrorCode, type InferOptions } from '../../native/engine';
import { errorOf } from '../../native/engine-error';
import { PatternError, Patterns } from '../../native/patterns';
import { ActiveWork, Cancellation, type CancelSignal } from '../../native/pending-requests';
import { messageForClients } from '../../native/unexpected-error';
import {
  actionOf,
  reachesThreshold,
  sortFindings,
  toFindings,
  toScoredFindings,
  toUnchecked,
} from './findings';
import { GuardCounters } from './guard-counters';
import type { Check, GuardFile, PatternCheck } from './guard-file';
import type { CheckError, GuardModels, GuardRequest, GuardResult } from './guard-result';
import { InferenceMemo, runModelCheck } from './model-checks';
import { redact } from './redaction';
import { acceptsVariant, type CheckResult, type PatternSet, type ScanResult, scan } from './scan';

export interface GuardOptions {
  /** Cancels the request. */
  readonly signal?: CancelSignal;
  /** Timeout in ms from now; 0: none. */
  readonly timeoutMs?: number;
}

/** Result of a check: completed, failed or skipped. */
type CheckEnd =
  | { readonly check: Check; readonly ran: CheckResult }
  | { readonly check: Check; readonly problem: string }
  | { readonly check: Check; readonly isSkipped: true };

interface RunContext {
  readonly models: GuardModels;
  readonly memo: InferenceMemo;
  readonly signal: CancelSignal | undefined;
  /** Whether scores below the thresholds are requested. */
  readonly hasScores: boolean;
}

/** Guardrail: the checks of a policy with compiled patterns. */
export class Guard {
  readonly file: GuardFile;
  readonly #patterns: PatternSet;
  readonly #counts: GuardCounters;
  /** Requests in progress. */
  readonly #holds = new ActiveWork();
  #closed: Promise<void> | undefined;

  private constructor(file: GuardFile, patterns: PatternSet, counts: GuardCounters) {
    this.file = file;
    this.#patterns = patterns;
    this.#counts = counts;
  }

  /**
   * Compiles the patterns of a policy on a native thread.
   *
   * @throws ModelFileError that names the check, the pattern and the problem
   */
  static async open(file: GuardFile, counts = new GuardCounters()): Promise<Guard> {
    const found = file.checks.flatMap((check, index) =>
      check.type === 'patterns' ? patternSources(check, index) : [],
    );
    try {
      const compiled = await Patterns.compile(found.map(({ source }) => source));
      return new Guard(file, { compiled, owners: found }, counts);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const { path } = found[error.index] as (typeof found)[number];
      throw new ModelFileError(`${path}: ${error.message}`);
    }
  }

  /** Returns the names of the models that a request uses. */
  modelsFor(request: Omit<GuardRequest, 'texts'>): readonly string[] {
    const names = this.#checksOf(request).flatMap((one) => ('model' in one ? one.model : []));
    return [...new Set(names)];
  }

  /**
   * Runs all checks of a request concurrently.
   *
   * @throws EngineError DRAINING: the guardrail is closed; CANCELLED: the signal was aborted; or a
   *   retryable error of a check whose `on_error` is "block". Overload must not variant like a finding,
   *   so such a check does not block the text.
   */
  async check(
    request: GuardRequest,
    models: GuardModels,
    options: GuardOptions = {},
  ): Promise<GuardResult> {
    if (this.#closed) throw errorOf('DRAINING');
    return this.#holds.track(() => this.#check(request, models, options));
  }

  /** Finishes accepted requests and releases the patterns. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => this.#holds.onIdle(resolve)).then(() =>
      this.#patterns.compiled.close(),
    );
    return this.#closed;
  }

  async #check(
    request: GuardRequest,
    models: GuardModels,
    options: GuardOptions,
  ): Promise<GuardResult> {
    const checks = this.#checksOf(request);
    const { limits } = this.file;
    const { signal, timeoutMs = 0 } = options;
    const scanned = await scan(request.texts, checks, this.#patterns, { limits, timeoutMs });
    const hasScores = request.scores ?? false;
    const ended = await this.#run(checks, scanned, {
      models,
      signal,
      hasScores,
      memo: new InferenceMemo(),
    });
    const ran = ended.flatMap((one) => ('ran' in one ? one : []));
    const findings = ran.flatMap(({ check, ran }) =>
      toFindings(check, ran.hits.filter(reachesThreshold(check))),
    );
    const errors = ended.flatMap((one): CheckError[] => {
      if (!('problem' in one)) return [];
      return [{ check: one.check.name, reason: one.problem, action: one.check.on_error }];
    });
    const unchecked = [
      ...scanned.unchecked,
      ...ran.flatMap((one) => toUnchecked(one.check, one.ran.unread, limits.on_limit)),
    ];
    const action = actionOf(findings, [...errors, ...unchecked]);
    this.#count(ended, action, unchecked.length > 0);
    return {
      action,
      errors,
      unchecked,
      findings: sortFindings(findings),
      scores: hasScores
        ? sortFindings(ran.flatMap((one) => toScoredFindings(one.check, one.ran.hits)))
        : null,
      ...redact(request.texts, findings, request.taken),
      skipped: ended.flatMap((one) => ('isSkipped' in one ? one.check.name : [])),
      // Checks with the same model input share an inference.
      inferences: [...new Set(ran.flatMap((one) => one.ran.inferences))],
    };
  }

  #checksOf({ direction, checks }: Omit<GuardRequest, 'texts'>): readonly Check[] {
    const selected = this.file.checks.filter(({ name }) => checks?.includes(name) ?? true);
    return selected.filter(({ on }) => direction === 'both' || on === 'both' || on === direction);
  }

  /** Runs the checks and returns their results in policy order. */
  async #run(
    checks: readonly Check[],
    scanned: ScanResult,
    { signal, ...shared }: RunContext,
  ): Promise<readonly CheckEnd[]> {
    const cancellation = new Cancellation();
    const cancel = (): void => cancellation.abort();
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel);
    let isDecided = false;
    const runOne = async (check: Check): Promise<CheckEnd> => {
      try {
        const ran = await this.#runOne(check, scanned, { ...shared, signal: cancellation });
        if (check.stop_on_match && !shared.hasScores && toFindings(check, ran.hits).length > 0) {
          isDecided = true;
          cancel();
        }
        return { check, ran };
      } catch (error) {
        if (signal?.aborted) throw error;
        if (isDecided) return { check, isSkipped: true };
        if (check.on_error === 'block' && isRetryable(error)) {
          cancel();
          throw error;
        }
        return { check, problem: messageForClients(error) };
      }
    };
    try {
      // Pattern matches are known before the models run, so a pattern check with stop_on_match saves the
      // inference.
      const patternEnds = await Promise.all(
        checks.filter(({ type }) => type === 'patterns').map(runOne),
      );
      const modelEnds = await Promise.all(
        checks.filter(({ type }) => type !== 'patterns').map(runOne),
      );
      const ended = [...patternEnds, ...modelEnds];
      return ended.sort((a, b) => checks.indexOf(a.check) - checks.indexOf(b.check));
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async #runOne(
    check: Check,
    { variants, hits }: ScanResult,
    { models, memo, signal, hasScores }: RunContext,
  ): Promise<CheckResult> {
    if (check.type === 'patterns') return { ...NO_RESULT, hits: hits.get(check) ?? [] };
    const given = variants.filter(
      (variant) =>
        variant.text.trim() !== '' && !variant.isPartlyUnescaped && acceptsVariant(check, variant),
    );
    if (given.length === 0) return NO_RESULT;

    const within = (options: InferOptions): InferOptions => ({
      ...options,
      maxWindows: this.file.limits.windows,
      ...(signal && { signal }),
    });
    return runModelCheck(check, given, { models, memo, hasScores, within });
  }

  #count(ended: readonly CheckEnd[], action: GuardResult['action'], isLimited: boolean): void {
    this.#counts.actions[action]++;
    if (isLimited) this.#counts.limited++;
    for (const one of ended) {
      const { name } = one.check;
      if ('problem' in one) this.#counts.count(name, 'failed');
      else if ('isSkipped' in one) this.#counts.count(name, 'skipped');
      else
        this.#counts.count(
          name,
          one.ran.hits.some(reachesThreshold(one.check)) ? 'found' : 'passed',
        );
    }
  }
}

/** Errors that may not occur again if the client retries. */
const RETRYABLE: readonly EngineErrorCode[] = [
  'QUEUE_FULL',
  'WAIT_TOO_LONG',
  'DEADLINE_TOO_CLOSE',
  'DRAINING',
  'DEADLINE_EXCEEDED',
];

function isRetryable(error: unknown): boolean {
  return error instanceof EngineError && RETRYABLE.includes(error.code);
}

const NO_RESULT: CheckResult = { hits: [], inferences: [], unread: [] };

function patternSources(check: PatternCheck, index: number) {
  const kinds = check.kinds.map((kind, at) => ({
    check,
    label: kind.toUpperCase(),
    source: { isKind: true, text: kind },
    path: `checks.${index}.kinds.${at}`,
  }));
  const own = Object.entries(check.patterns).flatMap(([label, all]) =>
    all.map((text, at) => ({
      check,
      label,
      source: { isKind: false, text },
      path: `checks.${index}.patterns.${label}.${at}: ${text}`,
    })),
  );
  return [...kinds, ...own];
}
