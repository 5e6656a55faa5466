import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { type createClient, type TimedResponse, timeRequest } from './client';
import { type Explanation, explainError } from './errors';
import { isReady } from './info';

/** State of a form that sends a request. */
export interface FormState {
  /** The model is loaded, the input is not empty, and no request is in flight. */
  readonly canSubmit: ReadonlySignal<boolean>;
  readonly isPending: ReadonlySignal<boolean>;
  /** Error of the last request; null if it succeeded. */
  readonly problem: ReadonlySignal<Explanation | null>;
  readonly submit: () => Promise<void>;
}

/** Response with the input that was sent. */
export interface CompletedRequest<Input, Body> extends TimedResponse<Body> {
  readonly input: Input;
}

export interface RequestState<Input, Body> extends FormState {
  /** Last response; null before the first request and after a failed request. */
  readonly response: ReadonlySignal<CompletedRequest<Input, Body> | null>;
}

/**
 * Creates the state of a form with at most one request in flight. A response stays visible until the next one.
 *
 * @param currentInput input of the form; null if the form is empty
 * @param isAvailable whether the resource that the request needs is loaded; default: the model
 */
export function createRequest<Client, Input, Body>(
  Kind: Parameters<typeof createClient<Client>>[0],
  currentInput: () => Input | null,
  send: (client: Client, input: Input) => Promise<Body>,
  isAvailable: ReadonlySignal<boolean> = isReady,
): RequestState<Input, Body> {
  const response = signal<CompletedRequest<Input, Body> | null>(null);
  const problem = signal<Explanation | null>(null);
  const isPending = signal(false);
  const canSubmit = computed(
    () => isAvailable.value && !isPending.value && currentInput() !== null,
  );
  const submit = async (): Promise<void> => {
    const input = currentInput();
    if (input === null || !canSubmit.value) return;
    isPending.value = true;
    problem.value = null;
    try {
      response.value = { input, ...(await timeRequest(Kind, (client) => send(client, input))) };
    } catch (error) {
      response.value = null;
      problem.value = explainError(error);
    } finally {
      isPending.value = false;
    }
  };
  return { response, problem, isPending, canSubmit, submit };
}
