/** How a command ends that could not do what it was asked for. */
export const EXIT_FAILURE = 1;
/** The command line or a setting is wrong. */
export const EXIT_USAGE = 2;
/** The model did not come back from a batch. */
export const EXIT_HUNG_MODEL = 3;
/** Done, but something has no answer. */
export const EXIT_REJECTED_ROWS = 4;

/** One readable line on standard error. */
export function printError(line: string): void {
  process.stderr.write(`libtorch-serve: ${line}\n`);
}

/** Says why, and sets the exit code for when the event loop ends. */
export function failWith(line: string, exitCode: number): void {
  printError(line);
  process.exitCode = exitCode;
}
