/**
 * Exit codes of all commands.
 *
 *   code          meaning
 *   0             success; a server: graceful shutdown
 *   1             failure; inspect: the model cannot be loaded; a server: uncaught error, port in use
 *   2             invalid command line, setting or input path
 *   3             hung model, after INFERENCE_TIMEOUT_MS and INFERENCE_GRACE_MS
 *   4             batch commands: complete, with rejected rows
 *   128 + signal  a server: second signal; other commands: first signal
 */
export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
export const EXIT_HUNG_MODEL = 3;
export const EXIT_REJECTED_ROWS = 4;

/** Prints a line to standard error. */
export function printError(line: string): void {
  process.stderr.write(`libtorch-serve: ${line}\n`);
}

/** Prints a line to standard error and sets the exit code for the end of the event loop. */
export function failWith(line: string, exitCode: number): void {
  printError(line);
  process.exitCode = exitCode;
}
