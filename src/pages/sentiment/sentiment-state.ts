import { computed, signal } from '@preact/signals';
import { type AnalyzeBatchResponse, type Outcome, SentimentClient } from '../../client';
import { collectOutcomes, RUN_OPTIONS } from '../shared/batch-run';
import { createClient, type Timings, timeRequest } from '../shared/client';
import { type Explanation, explainError } from '../shared/errors';
import { info, isReady } from '../shared/info';
import { type Line, splitLines } from '../shared/lines';
import type { FormState } from '../shared/request-state';

/** One result of `POST /analyze/batch`. */
type Analysis = AnalyzeBatchResponse['results'][number];

export type LineOutcome = Outcome<string, Analysis>;

export interface Table {
  readonly lines: readonly Line[];
  readonly outcomes: readonly LineOutcome[];
  /** Time from the first request to the last response so far. */
  readonly ms: number;
}

/** Texts per request: small enough for a smooth progress bar and a fair share for other clients. */
const BATCH_SIZE = 32;

export type Mode = 'text' | 'lines';

export const mode = signal<Mode>('text');
export const text = signal('');
/** Texts, one per line. */
export const list = signal('');
export const lines = computed(() => splitLines(list.value));

export const single = signal<{ readonly analysis: Analysis; readonly timings: Timings } | null>(
  null,
);
/** Lines that were sent, with the outcomes received so far. */
export const table = signal<Table | null>(null);
const problem = signal<Explanation | null>(null);
export const isRunning = signal(false);

export const form: FormState = {
  canSubmit: computed(() => {
    const input = mode.value === 'text' ? text : list;
    return isReady.value && !isRunning.value && input.value.trim() !== '';
  }),
  isPending: isRunning,
  problem,
  submit: analyze,
};

let controller = new AbortController();

export function cancel(): void {
  controller.abort();
}

async function analyze(): Promise<void> {
  if (!form.canSubmit.value) return;
  controller = new AbortController();
  const { signal } = controller;
  isRunning.value = true;
  problem.value = null;
  try {
    await (mode.value === 'text' ? analyzeText(signal) : analyzeLines(signal));
  } catch (error) {
    if (!signal.aborted) problem.value = explainError(error);
  } finally {
    isRunning.value = false;
  }
}

async function analyzeText(signal: AbortSignal): Promise<void> {
  single.value = null;
  const { body, timings } = await timeRequest(SentimentClient, (client) =>
    client.analyzeBatch([text.value], { signal }),
  );
  const [analysis] = body;
  if (analysis) single.value = { analysis, timings };
}

async function analyzeLines(signal: AbortSignal): Promise<void> {
  const sent = lines.value;
  const texts = sent.map((line) => line.text);
  const options = { ...RUN_OPTIONS, batchSize: BATCH_SIZE, signal };
  const startedAt = performance.now();
  table.value = { lines: sent, outcomes: [], ms: 0 };
  await collectOutcomes(createClient(SentimentClient).analyzeAll(texts, options), (outcomes) => {
    table.value = { lines: sent, outcomes, ms: performance.now() - startedAt };
  });
}

/** Colors by label index. The first of two labels is usually negative: orange, then teal. */
const TONES = [1, 0, 2, 3, 4, 5];

/** Index of a label's color; colors repeat after six labels. */
export function toneOf(label: string): number {
  const labels = info.value?.model.labels ?? [];
  return TONES[Math.max(0, labels.indexOf(label)) % TONES.length] as number;
}
