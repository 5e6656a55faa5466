import { addon } from './addon';
import type { NativePatterns, NativeScan, PatternSource, ScanOptions } from './binding';

/** Invalid pattern of `Patterns.compile`. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
  /** Index of the invalid pattern. */
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/**
 * Compiled patterns, searched together on a native thread. Syntax and linear-time guarantee are those of the Rust
 * crate `regex`, which follows RE2.
 */
export class Patterns {
  readonly #native: NativePatterns;

  private constructor(native: NativePatterns) {
    this.#native = native;
  }

  /** @throws PatternError: first invalid pattern */
  static async compile(sources: readonly PatternSource[]): Promise<Patterns> {
    try {
      return new Patterns(await addon().compilePatterns(sources));
    } catch (error) {
      const [, index, message] = /^(\d+): (.*)$/s.exec((error as Error).message) ?? [];
      throw index === undefined ? error : new PatternError(Number(index), message as string);
    }
  }

  /** Frees the patterns after the running scans. Later scans throw. Further calls have no effect. */
  close(): Promise<void> {
    return addon().closePatterns(this.#native);
  }

  scan(parts: readonly string[], options: ScanOptions): Promise<NativeScan> {
    return addon().scan(this.#native, parts, options);
  }
}
