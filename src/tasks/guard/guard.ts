import { ModelFileError } from '../../models/files';
import { Cancellation, type CancelSignal } from '../../native/cancellation';
import { EngineError, type EngineErrorCode, type InferOptions } from '../../native/engine';
import { PatternError, Patterns } from '../../native/patterns';
import type {
  CheckError,
  Finding,
  GuardAnswer,
  GuardModels,
  GuardQuestion,
  NotLookedAt,
} from './answer';
import { GuardCounts } from './counts';
import type { Check, GuardFile, PatternCheck } from './file';
import { Look } from './looks';
import { type Hit, type Ran, runModelCheck } from './model-checks';
import { redact } from './redaction';
import { actionOf, reaches, withoutThresholds } from './thresholds';

/** Whose pattern it is. */
interface Owner {
  readonly check: PatternCheck;
  readonly label: string;
}

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
  readonly signal: CancelSignal | undefined;
  /** What lies below thresholds is wanted, too. */
  readonly hasScores: boolean;
}

/** What has been looked at, and what not. */
interface Looked {
  readonly looks: readonly Look[];
  readonly hits: ReadonlyMap<Check, readonly Hit[]>;
  readonly notLookedAt: readonly NotLookedAt[];
}

/** The checks of a guard's file, ready to run. */
export class Guard {
  readonly file: GuardFile;
  readonly #patterns: Patterns;
  /** By the place of each pattern. */
  readonly #owners: readonly Owner[];
  readonly #counts: GuardCounts;

  private constructor(
    file: GuardFile,
    patterns: { readonly compiled: Patterns; readonly owners: readonly Owner[] },
    counts: GuardCounts,
  ) {
    this.file = file;
    this.#patterns = patterns.compiled;
    this.#owners = patterns.owners;
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
   * @throws EngineError CANCELLED: the signal was aborted; or why there is no answer for now, where a check
   *   would block: to block a text because there is much to do would say something of the text
   */
  async check(
    question: GuardQuestion,
    models: GuardModels,
    options: GuardOptions = {},
  ): Promise<GuardAnswer> {
    const checks = this.#checksOf(question);
    const looked = await this.#look(question.texts, checks, options);
    const run = { models, signal: options.signal, hasScores: question.scores ?? false };
    const ended = await this.#run(checks, looked, run);
    const ran = ended.flatMap((one) => ('ran' in one ? one : []));
    const findings = ran.flatMap(({ check, ran }) =>
      findingsOf(check, ran.hits.filter(reaches(check))),
    );
    const scores = ran.flatMap(({ check, ran }) => findingsOf(check, ran.hits));
    const errors = ended.flatMap((one): CheckError[] => {
      if (!('problem' in one)) return [];
      return [{ check: one.check.name, reason: one.problem, action: one.check.on_error }];
    });
    const { notLookedAt } = looked;
    const action = actionOf(findings, [...errors, ...notLookedAt]);
    this.#count(ended, action, notLookedAt.length > 0);
    return {
      ...{ action, errors, notLookedAt },
      findings: inOrder(findings),
      scores: run.hasScores ? inOrder(scores) : null,
      ...redact(question.texts, findings),
      skipped: ended.flatMap((one) => ('isSkipped' in one ? one.check.name : [])),
      inferences: ran.flatMap(({ ran }) => ran.inferences),
    };
  }

  #checksOf({ direction, checks }: Omit<GuardQuestion, 'texts'>): readonly Check[] {
    const asked = this.file.checks.filter(({ name }) => checks?.includes(name) ?? true);
    return asked.filter(({ on }) => direction === 'both' || on === 'both' || on === direction);
  }

  /** What patterns find, and what models are to be given. */
  async #look(
    texts: readonly string[],
    checks: readonly Check[],
    { timeoutMs = 0 }: GuardOptions,
  ): Promise<Looked> {
    const { characters, places: mostPlaces, on_limit: action } = this.file.limits;
    const cut = cutTo(texts, characters);
    const native = await this.#patterns.look(cut.texts, { mostPlaces, timeoutMs });
    const looks = native.looks.map((one) => new Look(one, cut.texts));
    const hits = new Map<Check, Hit[]>();
    for (let at = 0; at < native.places.length; at += 4) {
      const [pattern, look, start, end] = native.places.subarray(at, at + 4) as unknown as number[];
      const { check, label } = this.#owners[pattern as number] as Owner;
      if (!checks.includes(check)) continue;
      const hit = { look: looks[look as number] as Look, label, score: 1 };
      hits.set(check, [
        ...(hits.get(check) ?? []),
        { ...hit, start: start as number, end: end as number },
      ]);
    }
    const notLookedAt = cut.rest.map(
      (place): NotLookedAt => ({ check: null, ...place, limit: 'characters', action }),
    );
    const patterns = checks.filter(({ type }) => type === 'patterns');
    const isLeft = native.left !== '' && patterns.length > 0;
    const left = isLeft ? [{ ...ANYWHERE, limit: native.left, action } as NotLookedAt] : [];
    const asked = looks.filter(({ text }) => text.trim() !== '');
    return { looks: asked, hits, notLookedAt: [...notLookedAt, ...left] };
  }

  /** In the order of the checks. */
  async #run(
    checks: readonly Check[],
    { looks, hits }: Looked,
    { models, signal, hasScores }: Run,
  ): Promise<readonly Ended[]> {
    const cancellation = new Cancellation();
    const cancel = (): void => cancellation.abort();
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel);
    let isDecided = false;
    const runOne = async (check: Check): Promise<Ended> => {
      try {
        const within = { models, signal: cancellation, hasScores };
        const ran = await this.#runOne(check, looks, hits.get(check) ?? [], within);
        if (check.decisive && ran.hits.length > 0 && !hasScores) {
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
        return { check, problem: (error as Error).message };
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
    looks: readonly Look[],
    hits: readonly Hit[],
    { models, signal, hasScores }: Run,
  ): Promise<Ran> {
    if (check.type === 'patterns') return { hits, inferences: [] };
    if (looks.length === 0) return { hits: [], inferences: [] };
    const within = (options: InferOptions): InferOptions => ({
      ...options,
      ...(signal && { signal }),
    });
    return runModelCheck(hasScores ? withoutThresholds(check) : check, looks, models, within);
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

const ANYWHERE = { check: null, part: null, start: null };

function sourcesOf(check: PatternCheck, index: number) {
  const kinds = check.kinds.map((kind, at) => ({
    ...{ check, label: kind.toUpperCase(), source: { isKind: true, text: kind } },
    place: `checks.${index}.kinds.${at}`,
  }));
  const own = Object.entries(check.patterns).flatMap(([label, all]) =>
    all.map((text, at) => ({
      ...{ check, label, source: { isKind: false, text } },
      place: `checks.${index}.patterns.${label}.${at}: ${text}`,
    })),
  );
  return [...kinds, ...own];
}

/** The beginning of the texts, and from where on each of the others is left. */
function cutTo(texts: readonly string[], characters: number) {
  let left = characters;
  const rest: { part: number; start: number }[] = [];
  const cut = texts.map((text, part) => {
    const kept = text.length <= left ? text : text.slice(0, left);
    left -= kept.length;
    if (kept.length < text.length) rest.push({ part, start: kept.length });
    return kept;
  });
  return { texts: cut, rest };
}

/** One for each part that a hit lies in; of equal ones the first. */
function findingsOf({ name, action }: Check, hits: readonly Hit[]): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { look, label, score, start, end } of hits) {
    const told = { check: name, label, score, view: look.view, action };
    const isWhole = look.isWhole(start, end);
    const places = isWhole
      ? [{ part: look.part, start: null, end: null }]
      : look.placesOf(start, end);
    for (const place of places) {
      const key = JSON.stringify([label, place.part, place.start, place.end]);
      const known = found.get(key);
      if (!known || known.score < score) found.set(key, { ...told, ...place });
    }
  }
  return [...found.values()];
}

function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const place = ({ part, start }: Finding) => [part ?? -1, start ?? -1] as const;
  return findings.toSorted((a, b) => {
    const [[partA, startA], [partB, startB]] = [place(a), place(b)];
    return partA - partB || startA - startB;
  });
}
