/**
 * An error that is an answer, such as a refusal: nobody asks where it was made, and under overload
 * finding that out would take a tenth of the event loop's time.
 */
export class ExpectedError extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}
