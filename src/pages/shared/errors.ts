import { NoAnswerError, ResponseError, StreamError } from '../../client';

/** No response was received. A TypeError like the network errors of `fetch`, so that the client retries it. */
export class UnreachableError extends TypeError {}

/** Error message without the HTTP status. */
export function errorMessage(error: Error): string {
  return error instanceof ResponseError ? error.detail : error.message;
}

/** Error as shown to the user. */
export interface Explanation {
  readonly title: string;
  readonly advice: string;
  /** Original message of the server; null if it adds nothing. */
  readonly detail: string | null;
}

export function explainError(error: unknown): Explanation {
  if (error instanceof NoAnswerError) return explainError(error.cause);
  if (error instanceof UnreachableError) {
    return {
      title: 'The server cannot be reached.',
      advice: 'The server may have stopped, or the network is down. Your input is kept: try again.',
      detail: null,
    };
  }
  if (error instanceof ResponseError) return explainResponse(error);
  if (error instanceof StreamError) {
    return {
      title: 'The stream ended early.',
      advice: 'The results received so far are kept. Start the stream again.',
      detail: error.detail,
    };
  }
  return {
    title: 'This page has an error.',
    advice: 'Reload the page and try again.',
    detail: error instanceof Error ? error.message : String(error),
  };
}

type TitleAndAdvice = readonly [title: string, advice: string];

const INVALID_INPUT: TitleAndAdvice = [
  'The server rejected this input.',
  'Change the input and try again.',
];
const INFERENCE_FAILED: TitleAndAdvice = [
  'The model failed on this input.',
  'Try another input. The server log has the same message.',
];
/** Explanations by HTTP status. 424 and 429 are statuses of text-embeddings-inference. */
const BY_STATUS: { readonly [status: number]: TitleAndAdvice } = {
  400: INVALID_INPUT,
  422: INVALID_INPUT,
  401: ['The server requires an API key.', 'Enter an API key above and try again.'],
  403: ['The API key lacks this permission.', 'Ask the operator of the server for a permission.'],
  413: [
    'The request is too large.',
    'Shorten the input, or start the server with a higher BODY_LIMIT or MAX_LIST_LENGTH.',
  ],
  424: INFERENCE_FAILED,
  500: INFERENCE_FAILED,
  504: [
    'The request timed out.',
    'The queue was too long. Try again, or start the server with a higher REQUEST_TIMEOUT_MS.',
  ],
};

function explainResponse({ status, detail, retryAfter }: ResponseError): Explanation {
  if (status === 429 || status === 503) {
    const advice = `The request was rejected. Try again in ${retryAfter ?? 1} s.`;
    return { title: 'The server is overloaded or shutting down.', advice, detail };
  }
  if (status === 500 && detail.startsWith('The guard is not loaded')) {
    const advice = 'Fix the error below and send SIGHUP to the server process.';
    return { title: 'The guardrail policy is not loaded.', advice, detail };
  }
  if (status === 500 && detail === 'Model is not loaded.') {
    const advice = 'The server log names the file at fault. Fix it and restart the server.';
    return { title: 'The model is not loaded.', advice, detail: null };
  }
  const [title, advice] = BY_STATUS[status] ?? [`Error: HTTP status ${status}.`, 'Try again.'];
  return { title, advice, detail };
}
