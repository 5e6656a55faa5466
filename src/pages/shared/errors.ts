import { NoAnswerError, ResponseError, StreamError } from '../../client';

/** No answer came. By its name the client knows what `fetch` throws then, and tries again where it is told to. */
export class UnreachableError extends TypeError {}

/** What the service said of one element, or why nothing was asked. */
export function reasonOf(error: Error): string {
  return error instanceof ResponseError ? error.detail : error.message;
}

/** An error as a person should read it. */
export interface Explanation {
  readonly title: string;
  readonly advice: string;
  /** What the service said, word for word; null: nothing that adds to the rest. */
  readonly detail: string | null;
}

export function explain(error: unknown): Explanation {
  if (error instanceof NoAnswerError) return explain(error.cause);
  if (error instanceof UnreachableError) {
    return {
      title: 'The service cannot be reached.',
      advice:
        'It may have been stopped, or the network is gone. What you entered is still here: try again.',
      detail: null,
    };
  }
  if (error instanceof ResponseError) return explainAnswer(error);
  if (error instanceof StreamError) {
    return {
      title: 'The stream has ended before its time.',
      advice: 'What came until then is still here. Play it again.',
      detail: error.detail,
    };
  }
  return {
    title: 'Something went wrong on this page.',
    advice: 'Reload it and try again.',
    detail: error instanceof Error ? error.message : String(error),
  };
}

function explainAnswer({ status, detail, retryAfter }: ResponseError): Explanation {
  switch (status) {
    case 400:
    case 422:
      return {
        title: 'The service does not accept this input.',
        advice: 'Change it and try again.',
        detail,
      };
    case 401:
      return {
        title: 'The service wants an API key.',
        advice: 'Enter one above and try again.',
        detail,
      };
    case 403:
      return {
        title: 'The API key is not for this.',
        advice: 'Whoever runs the service says what a key is for.',
        detail,
      };
    case 413:
      return {
        title: 'This is more than the service takes at once.',
        advice: 'Shorten it, or raise BODY_LIMIT or MAX_LIST_LENGTH where the service is started.',
        detail,
      };
    case 424: // of text-embeddings-inference
    case 500:
      if (detail.startsWith('The guard is not loaded'))
        return {
          title: 'The guard is not loaded.',
          advice: 'Mend what is named below and send the process a SIGHUP.',
          detail,
        };
      return detail === 'Model is not loaded.'
        ? {
            title: 'The model is not loaded.',
            advice:
              'The service runs without it. Its log says which file was at fault; start it again once that is mended.',
            detail: null,
          }
        : {
            title: 'The model could not answer.',
            advice: 'Try another input; the log has the same message.',
            detail,
          };
    case 429: // of text-embeddings-inference
    case 503:
      return {
        title: 'The service is busy or shutting down.',
        advice: `Nothing was computed. Try again in ${retryAfter ?? 1} s.`,
        detail,
      };
    case 504:
      return {
        title: 'The model did not get to it in time.',
        advice:
          'Too much was waiting. Try again, or raise REQUEST_TIMEOUT_MS where the service is started.',
        detail,
      };
    default:
      return { title: `The answer was an error, status ${status}.`, advice: 'Try again.', detail };
  }
}
