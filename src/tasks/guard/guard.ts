import { ModelFileError } from '../../models/files';
import { EngineError, type EngineErrorCode, type InferOptions } from '../../native/engine';
import { errorOf } from '../../native/engine-error';
import { PatternError, Patterns } from '../../native/patterns';
import { ActiveWork, Cancellation, type CancelSignal } from '../../native/pending-requests';
import { messageForClients } from '../../native/unexpected-error';
import type { CheckResult } from './check-result';
import { sortFindings, toFindings, toScoredFindings, toUnchecked } from './findings';
import { GuardCounters } from './guard-counters';
import type { Check, GuardFile, PatternCheck } from './guard-file';
import type { CheckError, GuardModels, GuardRequest, GuardResult } from './guard-result';
import { InferenceMemo } from './inference-memo';
import { runModelCheck } from './model-checks';
import { redact } from './redaction';
import { acceptsVariant, type PatternSet, type ScanResult, scan } from './scan';
import { actionOf, reachesThreshold, withoutThresholds } from './thresholds';

export interface GuardOptions {
  /** Aborted: nobody wants the answer any more. */
  readonly signal?: CancelSignal;
  /** From now, in ms; 0: none. */
  readonly timeoutMs?: number;
}

/** How a check ended. */
type CheckEnd =
  | { readonly check: Check; readonly ran: CheckResult }
  | { readonly check: Check; readonly problem: string }
  | { readonly check: Check; readonly isSkipped: true };

interface RunContext {
  readonly models: GuardModels;
  readonly asked: InferenceMemo;
  readonly signal: CancelSignal | undefined;
  /** What lies below thresholds is wanted, too. */
  readonly hasScores: boolean;
}

/** The checks of a guard's file, ready to run. */
export class Guard {
  readonly file: GuardFile;
  readonly #patterns: PatternSet;
  readonly #counts: GuardCounters;
  /** Requests that are under way. */
  readonly #holds = new ActiveWork();
  #closed: Promise<void> | undefined;

  private constructor(file: GuardFile, patterns: PatternSet, counts: GuardCounters) {
    this.file = file;
    this.#patterns = patterns;
    this.#counts = counts;
  }

  /**
   * Compiles its patterns, on a native thread.
   *
   * @throws ModelFileError naming the check, the pattern and what is wrong with it
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
      const { place } = found[error.index] as (typeof found)[number];
      throw new ModelFileError(`${place}: ${error.message}`);
    }
  }

  /** Names of the models that it asks. */
  modelsFor(question: Omit<GuardRequest, 'texts'>): readonly string[] {
    const names = this.#checksOf(question).flatMap((one) => ('model' in one ? one.model : []));
    return [...new Set(names)];
  }

  /**
   * Runs all checks at once.
   *
   * @throws EngineError DRAINING: the guard is closed; CANCELLED: the signal was aborted; or why there is
   *   no answer for now, where a check would block: to block a text because there is much to do would say
   *   something of the text
   */
  async check(
    question: GuardRequest,
    models: GuardModels,
    options: GuardOptions = {},
  ): Promise<GuardResult> {
    if (this.#closed) throw errorOf('DRAINING');
    return this.#holds.track(() => this.#check(question, models, options));
  }

  /** Answers what was accepted, and frees the patterns. May be called again. */
  close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => this.#holds.onIdle(resolve)).then(() =>
      this.#patterns.compiled.close(),
    );
    return this.#closed;
  }

  async #check(
    question: GuardRequest,
    models: GuardModels,
    options: GuardOptions,
  ): Promise<GuardResult> {
    const checks = this.#checksOf(question);
    const { limits } = this.file;
    const { signal, timeoutMs = 0 } = options;
    const looked = await scan(question.texts, checks, this.#patterns, { limits, timeoutMs });
    const hasScores = question.scores ?? false;
    const ended = await this.#run(checks, looked, {
      models,
      signal,
      hasScores,
      asked: new InferenceMemo(),
    });
    const ran = ended.flatMap((one) => ('ran' in one ? one : []));
    const findings = ran.flatMap(({ check, ran }) =>
      toFindings(check, ran.hits.filter(reachesThreshold(check))),
    );
    const errors = ended.flatMap((one): CheckError[] => {
      if (!('problem' in one)) return [];
      return [{ check: one.check.name, reason: one.problem, action: one.check.on_error }];
    });
    const notLookedAt = [
      ...looked.unchecked,
      ...ran.flatMap((one) => toUnchecked(one.check, one.ran.unread, limits.on_limit)),
    ];
    const action = actionOf(findings, [...errors, ...notLookedAt]);
    this.#count(ended, action, notLookedAt.length > 0);
    return {
      action,
      errors,
      unchecked: notLookedAt,
      findings: sortFindings(findings),
      scores: hasScores
        ? sortFindings(ran.flatMap((one) => toScoredFindings(one.check, one.ran.hits)))
        : null,
      ...redact(question.texts, findings, question.taken),
      skipped: ended.flatMap((one) => ('isSkipped' in one ? one.check.name : [])),
      // Checks that ask a model the same have the same of it.
      inferences: [...new Set(ran.flatMap((one) => one.ran.inferences))],
    };
  }

  #checksOf({ direction, checks }: Omit<GuardRequest, 'texts'>): readonly Check[] {
    const asked = this.file.checks.filter(({ name }) => checks?.includes(name) ?? true);
    return asked.filter(({ on }) => direction === 'both' || on === 'both' || on === direction);
  }

  /** In the order of the checks. */
  async #run(
    checks: readonly Check[],
    looked: ScanResult,
    { signal, ...shared }: RunContext,
  ): Promise<readonly CheckEnd[]> {
    const cancellation = new Cancellation();
    const cancel = (): void => cancellation.abort();
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel);
    let isDecided = false;
    const runOne = async (check: Check): Promise<CheckEnd> => {
      try {
        const ran = await this.#runOne(check, looked, { ...shared, signal: cancellation });
        if (check.decisive && !shared.hasScores && toFindings(check, ran.hits).length > 0) {
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
      // Patterns have run: what they decide, no model has to.
      const sure = await Promise.all(checks.filter(({ type }) => type === 'patterns').map(runOne));
      const others = await Promise.all(
        checks.filter(({ type }) => type !== 'patterns').map(runOne),
      );
      const ended = [...sure, ...others];
      return ended.sort((a, b) => checks.indexOf(a.check) - checks.indexOf(b.check));
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async #runOne(
    check: Check,
    { variants: looks, hits }: ScanResult,
    { models, asked, signal, hasScores }: RunContext,
  ): Promise<CheckResult> {
    if (check.type === 'patterns') return { ...NO_RESULT, hits: hits.get(check) ?? [] };
    const given = looks.filter(
      (look) => look.text.trim() !== '' && !look.isPartlyUnescaped && acceptsVariant(check, look),
    );
    if (given.length === 0) return NO_RESULT;
    const mostWindows = this.file.limits.windows;
    const within = (options: InferOptions): InferOptions => ({
      ...options,
      maxWindows: mostWindows,
      ...(signal && { signal }),
    });
    const asking = { models, asked, within };
    return runModelCheck(hasScores ? withoutThresholds(check) : check, given, asking);
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

/** Asked again later, there may be an answer. */
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
    place: `checks.${index}.kinds.${at}`,
  }));
  const own = Object.entries(check.patterns).flatMap(([label, all]) =>
    all.map((text, at) => ({
      check,
      label,
      source: { isKind: false, text },
      place: `checks.${index}.patterns.${label}.${at}: ${text}`,
    })),
  );
  return [...kinds, ...own];
}
