import { computed, signal } from '@preact/signals';
import { type AnalyzeBatchAnswer, type Outcome, SentimentClient } from '../../client';
import { connect, type Timings, timed } from '../shared/client';
import { type Explanation, explain } from '../shared/errors';
import { isReady } from '../shared/info';
import { type Line, splitLines } from '../shared/lines';
import type { Asked } from '../shared/question';
import { follow, RUN_OPTIONS } from '../shared/run';

/** One element of the answer of `POST /analyze/batch`. */
export type Analysis = AnalyzeBatchAnswer['results'][number];

export type LineOutcome = Outcome<string, Analysis>;

export interface Table {
  readonly lines: readonly Line[];
  readonly outcomes: readonly LineOutcome[];
  /** From the first request to the last answer so far. */
  readonly ms: number;
}

/** Texts in one request: few enough that the progress moves and others get their turn. */
const BATCH_TEXTS = 32;

export type Mode = 'text' | 'lines';

export const mode = signal<Mode>('text');
export const text = signal('');
export const list = signal('');

export const lines = computed(() => splitLines(list.value));
export const input = computed(() => (mode.value === 'text' ? text : list));

export const single = signal<{ readonly analysis: Analysis; readonly timings: Timings } | null>(
  null,
);
/** The lines that were sent, and what came of those that are done. */
export const table = signal<Table | null>(null);
const problem = signal<Explanation | null>(null);
export const isRunning = signal(false);

export const asked: Asked = {
  canAsk: computed(() => isReady.value && !isRunning.value && input.value.value.trim() !== ''),
  isAsking: isRunning,
  problem,
  ask: analyze,
};

let controller = new AbortController();

export function cancel(): void {
  controller.abort();
}

async function analyze(): Promise<void> {
  if (!asked.canAsk.value) return;
  controller = new AbortController();
  const { signal } = controller;
  isRunning.value = true;
  problem.value = null;
  try {
    await (mode.value === 'text' ? analyzeText(signal) : analyzeLines(signal));
  } catch (error) {
    if (!signal.aborted) problem.value = explain(error);
  } finally {
    isRunning.value = false;
  }
}

async function analyzeText(signal: AbortSignal): Promise<void> {
  single.value = null;
  const { body, timings } = await timed(SentimentClient, (client) =>
    client.analyzeBatch([text.value], { signal }),
  );
  const [analysis] = body;
  if (analysis) single.value = { analysis, timings };
}

async function analyzeLines(signal: AbortSignal): Promise<void> {
  const sent = lines.value;
  const texts = sent.map((line) => line.text);
  const options = { ...RUN_OPTIONS, batchSize: BATCH_TEXTS, signal };
  const startedAt = performance.now();
  table.value = { lines: sent, outcomes: [], ms: 0 };
  await follow(connect(SentimentClient).analyzeAll(texts, options), (outcomes) => {
    table.value = { lines: sent, outcomes, ms: performance.now() - startedAt };
  });
}
