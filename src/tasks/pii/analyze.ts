import { Expressions } from '../../native/expressions';
import { findContextWord, raisedScore, wordsOf } from './context';
import { findPhones } from './phones';
import {
  DOT_ALL,
  IGNORE_CASE,
  MULTILINE,
  PATTERN_RECOGNIZERS,
  PHONE_CONTEXT,
  type PiiPattern,
  type Recognizer,
} from './recognizers';
import { explain, type FoundPii, type PiiResult, removeDuplicates } from './results';

/** Matches of all patterns in a text, and time of a search, before it ends. */
const LIMITS = { maxMatches: 50_000, timeoutMs: 5_000 };

const PHONE_SCORE = 0.4;

/** Recognizer that a request describes. */
export interface AdHocRecognizer {
  readonly name: string;
  readonly entity: string;
  readonly patterns: readonly PiiPattern[];
  readonly context: readonly string[];
}

/** Finds entities with a model. */
export type EntityFinder = (text: string) => Promise<readonly FoundPii[]>;

export interface AnalyzeOptions {
  /** Entities to find; null: all. */
  readonly entities: readonly string[] | null;
  readonly adHoc: readonly AdHocRecognizer[];
  /** Words that count as context of every result. */
  readonly context: readonly string[];
  readonly threshold: number;
}

/** A recognizer whose patterns are compiled. */
class CompiledRecognizer {
  readonly #recognizer: Recognizer;
  readonly #expressions: Expressions;

  private constructor(recognizer: Recognizer, expressions: Expressions) {
    this.#recognizer = recognizer;
    this.#expressions = expressions;
  }

  /** @throws PatternError: first invalid pattern */
  static async compile(recognizer: Recognizer): Promise<CompiledRecognizer> {
    const prefix = flagsPrefix(recognizer.flags);
    const patterns = recognizer.patterns.map(({ regex }) => prefix + regex);
    return new CompiledRecognizer(recognizer, await Expressions.compile(patterns));
  }

  get entity(): string {
    return this.#recognizer.entity;
  }

  async find(text: string): Promise<readonly FoundPii[]> {
    const { entity, context, patterns, triesGroups } = this.#recognizer;
    const { matches } = await this.#expressions.findAll(text, LIMITS);
    const found: FoundPii[] = [];
    for (const { expression, start, end, groupEnds } of matches) {
      const ends = triesGroups ? groupEnds.toReversed().map((groupEnd) => groupEnd ?? end) : [end];
      for (const last of ends) {
        const pattern = patterns[expression] as PiiPattern;
        const result = start < last ? this.#check(text.slice(start, last), pattern) : null;
        if (result === null) continue;
        found.push({ entity, start, end: last, context, ...result });
        break;
      }
    }
    return triesGroups ? found : removeDuplicates(found);
  }

  /** Score of a match and its explanation; null: the match is invalid. */
  #check(matched: string, { name, regex, score }: PiiPattern) {
    const { name: recognizer, validate, flags } = this.#recognizer;
    const isValid = validate?.(matched) ?? null;
    if (isValid === false) return null;
    const checked = isValid === true ? 1 : score;
    const explanation = explain(recognizer, score, {
      pattern_name: name,
      pattern: regex,
      score: checked,
      textual_explanation: `Detected by \`${recognizer}\` using pattern \`${name}\``,
      validation_result: isValid,
      regex_flags: flags,
    });
    return { score: checked, explanation };
  }
}

/** Inline flags of a regular expression. */
export function flagsPrefix(flags: number): string {
  const names = [
    [IGNORE_CASE, 'i'],
    [MULTILINE, 'm'],
    [DOT_ALL, 's'],
    [64, 'x'],
  ] as const;
  const set = names.filter(([flag]) => (flags & flag) !== 0).map(([, name]) => name);
  return set.length === 0 ? '' : `(?${set.join('')})`;
}

/** Finds personal data with the recognizers of Presidio. */
export class PiiAnalyzer {
  readonly #recognizers: readonly CompiledRecognizer[];

  private constructor(recognizers: readonly CompiledRecognizer[]) {
    this.#recognizers = recognizers;
  }

  static async create(): Promise<PiiAnalyzer> {
    return new PiiAnalyzer(await Promise.all(PATTERN_RECOGNIZERS.map(CompiledRecognizer.compile)));
  }

  /**
   * Finds personal data in a text: patterns, phone numbers and the entities of models. Then raises the scores of results
   * with context words, removes results below the threshold, and duplicates.
   *
   * @throws PatternError: a pattern of an ad-hoc recognizer is invalid; its index counts the patterns of all of them
   */
  async analyze(
    text: string,
    finders: readonly EntityFinder[],
    { entities, adHoc, context, threshold }: AnalyzeOptions,
  ): Promise<readonly PiiResult[]> {
    const isWanted = (entity: string) => entities === null || entities.includes(entity);
    const own = await Promise.all(
      adHoc
        .filter(({ entity }) => isWanted(entity))
        .map((one) =>
          CompiledRecognizer.compile({ ...one, flags: IGNORE_CASE | MULTILINE | DOT_ALL }),
        ),
    );
    const results: FoundPii[] = [];
    for (const recognizer of [...this.#recognizers, ...own]) {
      if (isWanted(recognizer.entity)) results.push(...(await recognizer.find(text)));
    }
    if (isWanted('PHONE_NUMBER')) results.push(...(await phoneResults(text)));
    for (const find of finders) {
      results.push(...(await find(text)).filter(({ entity }) => isWanted(entity)));
    }
    const raised = withContext(text, results, context);
    return removeDuplicates(raised.filter(({ score }) => score >= threshold));
  }
}

async function phoneResults(text: string): Promise<readonly FoundPii[]> {
  const phones = await findPhones(text);
  return removeDuplicates(
    phones.map(({ start, end, region }) => ({
      entity: 'PHONE_NUMBER',
      start,
      end,
      score: PHONE_SCORE,
      context: PHONE_CONTEXT,
      explanation: explain('PhoneRecognizer', PHONE_SCORE, {
        textual_explanation: `Recognized as ${region} region phone number, using PhoneRecognizer`,
      }),
    })),
  );
}

function withContext(
  text: string,
  results: readonly FoundPii[],
  given: readonly string[],
): readonly PiiResult[] {
  const words = results.length > 0 ? wordsOf(text) : [];
  const lower = given.map((word) => word.toLowerCase());
  return results.map(({ context, ...result }) => {
    const word = context && findContextWord(words, result.start, context, lower);
    if (word === null) return result;
    const score = raisedScore(result.score);
    const explanation = {
      ...result.explanation,
      score,
      score_context_improvement: score - result.explanation.original_score,
      supportive_context_word: word,
    };
    return { ...result, score, explanation };
  });
}
