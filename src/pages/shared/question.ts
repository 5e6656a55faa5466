import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { type connect, type Timed, timed } from './client';
import { type Explanation, explain } from './errors';
import { isReady } from './info';

/** What a form asks, as the form itself sees it. */
export interface Asked {
  /** The model is there, there is something to ask, and nothing is under way. */
  readonly canAsk: ReadonlySignal<boolean>;
  readonly isAsking: ReadonlySignal<boolean>;
  /** Why there is no answer; null: there is nothing wrong. */
  readonly problem: ReadonlySignal<Explanation | null>;
  readonly ask: () => Promise<void>;
}

/** What was asked, what the service said, and how long it took. */
export interface Answered<Input, Body> extends Timed<Body> {
  readonly input: Input;
}

export interface Question<Input, Body> extends Asked {
  /** null: there is none, or what was asked last has failed. */
  readonly answer: ReadonlySignal<Answered<Input, Body> | null>;
}

/**
 * One request at a time; its answer stays until the next one is there.
 *
 * @param inputOf what is asked now; null: there is nothing to ask
 * @param isThere what is asked; by default the model
 */
export function question<Client, Input, Body>(
  Kind: Parameters<typeof connect<Client>>[0],
  inputOf: () => Input | null,
  send: (client: Client, input: Input) => Promise<Body>,
  isThere: ReadonlySignal<boolean> = isReady,
): Question<Input, Body> {
  const answer = signal<Answered<Input, Body> | null>(null);
  const problem = signal<Explanation | null>(null);
  const isAsking = signal(false);
  const canAsk = computed(() => isThere.value && !isAsking.value && inputOf() !== null);
  const ask = async (): Promise<void> => {
    const input = inputOf();
    if (input === null || !canAsk.value) return;
    isAsking.value = true;
    problem.value = null;
    try {
      answer.value = { input, ...(await timed(Kind, (client) => send(client, input))) };
    } catch (error) {
      answer.value = null;
      problem.value = explain(error);
    } finally {
      isAsking.value = false;
    }
  };
  return { answer, problem, isAsking, canAsk, ask };
}
