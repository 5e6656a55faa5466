import { addon } from './addon';
import type { ExpressionLimits, NativeExpressions } from './binding';
import { PatternError } from './patterns';

/** Numbers per match: expression, start, end, ends of three groups. */
const NUMBERS = 6;
const NONE = 2 ** 32 - 1;

export interface ExpressionMatch {
  /** Index of the expression. */
  readonly expression: number;
  /** Start and end in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Ends of the first three groups; null: the group is not part of the match. */
  readonly groupEnds: readonly (number | null)[];
}

/**
 * Compiled regular expressions with lookaround and backreferences, in the syntax of the Rust crate `fancy-regex`, which
 * is close to Python's. They backtrack: a search that exceeds a limit of steps ends, and its expression is reported.
 */
export class Expressions {
  readonly #native: NativeExpressions;

  private constructor(native: NativeExpressions) {
    this.#native = native;
  }

  /** @throws PatternError: first invalid expression */
  static async compile(expressions: readonly string[]): Promise<Expressions> {
    try {
      return new Expressions(await addon().compileExpressions(expressions));
    } catch (error) {
      const [, index, message] = /^(\d+): (.*)$/s.exec((error as Error).message) ?? [];
      throw index === undefined ? error : new PatternError(Number(index), message as string);
    }
  }

  /** Matches by expression and start, and the expressions whose search a limit ended. */
  async findAll(
    text: string,
    limits: ExpressionLimits,
  ): Promise<{
    readonly matches: readonly ExpressionMatch[];
    readonly incomplete: readonly number[];
  }> {
    const found = await addon().findExpressions(this.#native, text, limits);
    const matches = Array.from({ length: found.matches.length / NUMBERS }, (_, index) => {
      const [expression, start, end, ...ends] = found.matches.subarray(
        NUMBERS * index,
        NUMBERS * (index + 1),
      );
      const groupEnds = ends.map((offset) => (offset === NONE ? null : offset));
      return { expression, start, end, groupEnds } as ExpressionMatch;
    });
    return { matches, incomplete: [...found.incomplete] };
  }
}
