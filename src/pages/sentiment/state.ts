import { computed, signal } from '@preact/signals';
import type { AnalyzeBatchAnswer } from '../../protocols/own/schemas/answers';
import { post, type Timings } from '../shared/api';
import { type Outcome, runInBatches } from '../shared/batches';
import { type Explanation, explain } from '../shared/errors';
import { info } from '../shared/info';
import { bytesOf, type Line, splitLines } from './lines';

/** One element of the answer of `POST /analyze/batch`. */
export type Analysis = AnalyzeBatchAnswer['results'][number];

export interface Table {
  readonly lines: readonly Line[];
  readonly outcomes: readonly Outcome<Analysis>[];
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
export const isReady = computed(() => info.value?.model.loaded === true);

export const single = signal<{ readonly analysis: Analysis; readonly timings: Timings } | null>(
  null,
);
/** The lines that were sent, and what came of those that are done. */
export const table = signal<Table | null>(null);
export const problem = signal<Explanation | null>(null);
export const isRunning = signal(false);

let controller = new AbortController();

export function cancel(): void {
  controller.abort();
}

export async function analyze(): Promise<void> {
  if (isRunning.value || !isReady.value || input.value.value.trim() === '') return;
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
  const { body, timings } = await post<AnalyzeBatchAnswer>(
    'analyze/batch',
    { texts: [text.value] },
    signal,
  );
  const [analysis] = body.results;
  if (analysis) single.value = { analysis, timings };
}

async function analyzeLines(signal: AbortSignal): Promise<void> {
  const sent = lines.value;
  const limits = info.value?.limits;
  const startedAt = performance.now();
  table.value = { lines: sent, outcomes: [], ms: 0 };
  await runInBatches<string, Analysis>({
    items: sent.map((line) => line.text),
    limits: {
      count: Math.min(BATCH_TEXTS, limits?.list_length ?? BATCH_TEXTS),
      bytes: limits?.body_bytes ?? Number.POSITIVE_INFINITY,
    },
    bytesOf,
    send: async (texts) => {
      const { body } = await post<AnalyzeBatchAnswer>('analyze/batch', { texts }, signal);
      return body.results;
    },
    onOutcomes: (_start, outcomes) => {
      const ms = performance.now() - startedAt;
      const before = table.value?.outcomes ?? [];
      table.value = { lines: sent, outcomes: [...before, ...outcomes], ms };
    },
    signal,
  });
}
