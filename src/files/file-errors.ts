/** What a person named or set is wrong; nothing was begun, or what was begun is as it was. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The run cannot go on. What is committed stays, and `--resume` goes on from there. */
export class RunError extends Error {
  override readonly name = 'RunError';
}
