import { ModelFileError } from '../../models/files';
import { Cancellation, type CancelSignal } from '../../native/cancellation';
import { EngineError, type EngineErrorCode, type InferOptions } from '../../native/engine';
import { errorOf } from '../../native/engine-error';
import { Holds } from '../../native/holds';
import { PatternError, Patterns } from '../../native/patterns';
import { messageForClients } from '../../native/unexpected-error';
import type { CheckError, GuardAnswer, GuardModels, GuardQuestion } from './answer';
import { Asked } from './asked';
import { GuardCounts } from './counts';
import type { Check, GuardFile, PatternCheck } from './file';
import { findingsOf, inOrder, scoresOf, unreadBy } from './findings';
import { type Looked, lookAt, type OwnedPatterns, wants } from './looking';
import { runModelCheck } from './model-checks';
import type { Ran } from './ran';
import { redact } from './redaction';
import { actionOf, reaches, withoutThresholds } from './thresholds';

export interface GuardOptions {
  /** Aborted: nobody wants the answer any more. */
  readonly signal?: CancelSignal;
  /** From now, in ms; 0: none. */
  readonly timeoutMs?: number;
}

/** How a check ended. */
type Ended =
  | { readonly check: Check; readonly ran: Ran }
  | { readonly check: Check; readonly problem: string }
  | { readonly check: Check; readonly isSkipped: true };

interface Run {
  readonly models: GuardModels;
  readonly asked: Asked;
  readonly signal: CancelSignal | undefined;
  /** What lies below thresholds is wanted, too. */
  readonly hasScores: boolean;
}

/** The checks of a guard's file, ready to run. */
export class Guard {
  readonly file: GuardFile;
  readonly #patterns: OwnedPatterns;
  readonly #counts: GuardCounts;
  /** Requests that are under way. */
  readonly #holds = new Holds();
  #closed: Promise<void> | undefined;

  private constructor(file: GuardFile, patterns: OwnedPatterns, counts: GuardCounts) {
    this.file = file;
    this.#patterns = patterns;
    this.#counts = counts;
  }

  /**
   * Compiles its patterns, on a native thread.
   *
   * @throws ModelFileError naming the check, the pattern and what is wrong with it
   */
  static async open(file: GuardFile, counts = new GuardCounts()): Promise<Guard> {
    const found = file.checks.flatMap((check, index) =>
      check.type === 'patterns' ? sourcesOf(check, index) : [],
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
  modelsFor(question: Omit<GuardQuestion, 'texts'>): readonly string[] {
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
    question: GuardQuestion,
    models: GuardModels,
    options: GuardOptions = {},
  ): Promise<GuardAnswer> {
    if (this.#closed) throw errorOf('DRAINING');
    return this.#holds.during(() => this.#check(question, models, options));
  }

  /** Answers what was accepted, and frees the patterns. May be called again. */
  close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => this.#holds.whenNone(resolve)).then(() =>
      this.#patterns.compiled.close(),
    );
    return this.#closed;
  }

  async #check(
    question: GuardQuestion,
    models: GuardModels,
    options: GuardOptions,
  ): Promise<GuardAnswer> {
    const checks = this.#checksOf(question);
    const { limits } = this.file;
    const { signal, timeoutMs = 0 } = options;
    const looked = await lookAt(question.texts, checks, this.#patterns, { limits, timeoutMs });
    const hasScores = question.scores ?? false;
    const ended = await this.#run(checks, looked, {
      models,
      signal,
      hasScores,
      asked: new Asked(),
    });
    const ran = ended.flatMap((one) => ('ran' in one ? one : []));
    const findings = ran.flatMap(({ check, ran }) =>
      findingsOf(check, ran.hits.filter(reaches(check))),
    );
    const errors = ended.flatMap((one): CheckError[] => {
      if (!('problem' in one)) return [];
      return [{ check: one.check.name, reason: one.problem, action: one.check.on_error }];
    });
    const notLookedAt = [
      ...looked.notLookedAt,
      ...ran.flatMap((one) => unreadBy(one.check, one.ran.unread, limits.on_limit)),
    ];
    const action = actionOf(findings, [...errors, ...notLookedAt]);
    this.#count(ended, action, notLookedAt.length > 0);
    return {
      action,
      errors,
      notLookedAt,
      findings: inOrder(findings),
      scores: hasScores ? inOrder(ran.flatMap((one) => scoresOf(one.check, one.ran.hits))) : null,
      ...redact(question.texts, findings, question.taken),
      skipped: ended.flatMap((one) => ('isSkipped' in one ? one.check.name : [])),
      // Checks that ask a model the same have the same of it.
      inferences: [...new Set(ran.flatMap((one) => one.ran.inferences))],
    };
  }

  #checksOf({ direction, checks }: Omit<GuardQuestion, 'texts'>): readonly Check[] {
    const asked = this.file.checks.filter(({ name }) => checks?.includes(name) ?? true);
    return asked.filter(({ on }) => direction === 'both' || on === 'both' || on === direction);
  }

  /** In the order of the checks. */
  async #run(
    checks: readonly Check[],
    looked: Looked,
    { signal, ...shared }: Run,
  ): Promise<readonly Ended[]> {
    const cancellation = new Cancellation();
    const cancel = (): void => cancellation.abort();
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel);
    let isDecided = false;
    const runOne = async (check: Check): Promise<Ended> => {
      try {
        const ran = await this.#runOne(check, looked, { ...shared, signal: cancellation });
        if (check.decisive && !shared.hasScores && findingsOf(check, ran.hits).length > 0) {
          isDecided = true;
          cancel();
        }
        return { check, ran };
      } catch (error) {
        if (signal?.aborted) throw error;
        if (isDecided) return { check, isSkipped: true };
        if (check.on_error === 'block' && isForNow(error)) {
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
    { looks, hits }: Looked,
    { models, asked, signal, hasScores }: Run,
  ): Promise<Ran> {
    if (check.type === 'patterns') return { ...NOTHING, hits: hits.get(check) ?? [] };
    const given = looks.filter(
      (look) => look.text.trim() !== '' && !look.isPartly && wants(check, look),
    );
    if (given.length === 0) return NOTHING;
    const mostWindows = this.file.limits.windows;
    const within = (options: InferOptions): InferOptions => ({
      ...options,
      mostWindows,
      ...(signal && { signal }),
    });
    const asking = { models, asked, within };
    return runModelCheck(hasScores ? withoutThresholds(check) : check, given, asking);
  }

  #count(ended: readonly Ended[], action: GuardAnswer['action'], isLimited: boolean): void {
    this.#counts.answers[action]++;
    if (isLimited) this.#counts.limited++;
    for (const one of ended) {
      const { name } = one.check;
      if ('problem' in one) this.#counts.count(name, 'failed');
      else if ('isSkipped' in one) this.#counts.count(name, 'skipped');
      else this.#counts.count(name, one.ran.hits.some(reaches(one.check)) ? 'found' : 'passed');
    }
  }
}

/** Asked again later, there may be an answer. */
const FOR_NOW: readonly EngineErrorCode[] = [
  'QUEUE_FULL',
  'WAIT_TOO_LONG',
  'DEADLINE_TOO_CLOSE',
  'DRAINING',
  'DEADLINE_EXCEEDED',
];

function isForNow(error: unknown): boolean {
  return error instanceof EngineError && FOR_NOW.includes(error.code);
}

const NOTHING: Ran = { hits: [], inferences: [], unread: [] };

function sourcesOf(check: PatternCheck, index: number) {
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
