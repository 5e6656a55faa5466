import { computed, effect, signal, untracked } from '@preact/signals';
import { EegClient, type StreamOptions, type WindowResult } from '../../../client';
import { createClient } from '../../shared/client';
import { type Explanation, explainError } from '../../shared/errors';
import { modelRate, windowLength } from '../state';
import { type LiveSource, liveSource } from './live-source';
import { Playhead } from './playhead';

/** Minimum interval between updates of the results as text, in ms. */
const SHOW_EVERY_MS = 150;
/** Default sampling rate in Hz, if neither recording nor model specifies one. */
const ANY_RATE = 100;
/** Maximum time of reconnect attempts, in ms. */
const RETRY_FOR_MS = 60_000;
const LATE_MS = 1000;

/** Hop size as a share of the window length. */
export const STEPS = { window: 1, half: 1 / 2, quarter: 1 / 4 } as const;
export const SMOOTHINGS = {
  none: null,
  median: { median: 5 },
  exponential: { exponential: 0.3 },
} as const;

export const speed = signal(10);
export const step = signal<keyof typeof STEPS>('half');
export const smoothing = signal<keyof typeof SMOOTHINGS>('none');
/** Whether late windows are skipped, as for a live amplifier. */
export const skipsLate = signal(false);

/** One stream and its results. Mutable: `shown` is incremented when the text has to be updated. */
export interface Live {
  readonly source: LiveSource;
  /** Sampling rate in Hz. */
  readonly rate: number;
  /** Window length and hop size in samples. */
  readonly length: number;
  readonly step: number;
  readonly playhead: Playhead;
  readonly controller: AbortController;
  readonly windows: WindowResult[];
}

export const live = signal<Live | null>(null);
export const phase = signal<'idle' | 'playing' | 'paused' | 'stopped' | 'ended'>('idle');
export const problem = signal<Explanation | null>(null);
/** Whether the page is reconnecting. */
export const isAway = signal(false);
export const shown = signal(0);
export const isOn = computed(() => phase.value === 'playing' || phase.value === 'paused');

/** Starts playback at the start of the recording. */
export async function play(): Promise<void> {
  const source = liveSource.value;
  if (source === null || windowLength.value === null || isOn.value) return;
  const next = begin(source, windowLength.value);
  live.value = next;
  phase.value = 'playing';
  problem.value = null;
  isAway.value = false;
  const { controller, playhead } = next;
  try {
    const played = playhead.samples(controller.signal);
    for await (const result of createClient(EegClient).stream(played, optionsOf(next))) {
      if ('window' in result) next.windows.push(result);
      showSoon();
    }
    if (live.value === next) phase.value = 'ended';
  } catch (error) {
    if (live.value !== next) return;
    phase.value = 'stopped';
    if (!controller.signal.aborted) problem.value = explainError(error);
  } finally {
    controller.abort();
    shown.value++;
  }
}

export function pause(): void {
  setPaused(true);
}

export function goOn(): void {
  setPaused(false);
}

export function stop(): void {
  live.value?.controller.abort();
}

export function setSpeed(times: number): void {
  speed.value = times;
  if (live.value) live.value.playhead.speed = times;
}

/** Stops the stream when the samples change. */
export function stopStreamOnNewSamples(): void {
  effect(() => {
    liveSource.value;
    untracked(() => {
      stop();
      live.value = null;
      phase.value = 'idle';
      problem.value = null;
    });
  });
}

function begin(source: LiveSource, length: number): Live {
  const hz = source.rate ?? modelRate.value ?? ANY_RATE;
  const raw = (length * hz) / (modelRate.value ?? hz);
  return {
    source,
    rate: hz,
    length: raw,
    windows: [],
    step: Math.max(1, Math.round(raw * STEPS[step.value])),
    playhead: new Playhead(source, hz, speed.value),
    controller: new AbortController(),
  };
}

function optionsOf({ source, rate: samplingRateHz, step, controller }: Live): StreamOptions {
  return {
    ...source.options,
    samplingRateHz,
    step,
    smoothing: SMOOTHINGS[smoothing.value],
    signal: controller.signal,
    retryForMs: RETRY_FOR_MS,
    deadlineMs: skipsLate.value ? LATE_MS : null,
    onRetry: () => {
      isAway.value = true;
    },
    onOpen: () => {
      isAway.value = false;
    },
  };
}

function setPaused(isPaused: boolean): void {
  if (!live.value || !isOn.value) return;
  live.value.playhead.isPaused = isPaused;
  phase.value = isPaused ? 'paused' : 'playing';
}

let isDue = false;

function showSoon(): void {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    shown.value++;
  }, SHOW_EVERY_MS);
}
