/** Invalid argument or input file. No output has been changed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The run failed. Committed output is kept, and `--resume` continues from it. */
export class RunError extends Error {
  override readonly name = 'RunError';
}
