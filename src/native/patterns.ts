import { addon } from './addon';
import type { NativePatterns, NativeScan, PatternSource, ScanOptions } from './binding';

/** Of what `Patterns.compile` is given. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  /** Its place. */
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/**
 * Patterns that are looked for together, on a native thread, each in time that is linear in the text up to
 * what it finds: syntax and guarantees are those of the Rust crate `regex`, and so of RE2.
 */
export class Patterns {
  readonly #native: NativePatterns;

  private constructor(native: NativePatterns) {
    this.#native = native;
  }

  /** @throws PatternError of the first bad one */
  static async compile(sources: readonly PatternSource[]): Promise<Patterns> {
    try {
      return new Patterns(await addon().compilePatterns(sources));
    } catch (error) {
      const [, index, message] = /^(\d+): (.*)$/s.exec((error as Error).message) ?? [];
      throw index === undefined ? error : new PatternError(Number(index), message as string);
    }
  }

  /** Frees them, after the looks that are under way; later ones throw. May be called again. */
  close(): Promise<void> {
    return addon().closePatterns(this.#native);
  }

  scan(parts: readonly string[], options: ScanOptions): Promise<NativeScan> {
    return addon().look(this.#native, parts, options);
  }
}
