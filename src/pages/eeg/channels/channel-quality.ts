import { effect, signal } from '@preact/signals';
import {
  DEFAULT_QUALITY,
  type QualityFlag,
} from '../../../tasks/signal-classification/quality-thresholds';
import {
  problemsOf,
  SignalQualityAnalyzer,
} from '../../../tasks/signal-classification/signal-quality';
import { createTimeline } from '../timeline';
import { type ChannelTrace, traces } from './traces';
import type { View } from './view';
import { view } from './view-state';

/** Maximum number of analyzed samples per channel. */
const MAX_SAMPLES = 2 ** 18;
/** Minimum number of samples for a quality. */
const MIN_SAMPLES = 16;
/** Delay after the last move of the view, in ms. */
const REST_MS = 150;
/** Duration of a slice of the analysis, in ms, which leaves time for frames. */
const SLICE_MS = 6;

/** Quality of the recorded samples of one channel in the visible time. */
export interface ChannelQuality {
  readonly problems: readonly QualityFlag[];
  /** Peak-to-peak amplitude in the unit of the channel; NaN if a sample is missing. */
  readonly peakToPeak: number;
  /** Share of the power at a mains frequency; NaN above the Nyquist frequency. */
  readonly mainsShare: number;
}

/** By channel; null for a channel without enough samples in the view. */
export const qualities = signal<readonly (ChannelQuality | null)[]>([]);

/** Analyzes the visible time after each move of the view. */
export function analyzeOnMove(): void {
  effect(() => {
    const [all, visible] = [traces.value, view.value];
    const controller = new AbortController();
    const timer = setTimeout(() => {
      analyzeAll(all, visible, controller.signal).catch(reportError);
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });
}

async function analyzeAll(
  all: readonly ChannelTrace[],
  visible: View,
  aborted: AbortSignal,
): Promise<void> {
  const found: (ChannelQuality | null)[] = [];
  const analyzers = new Map<string, SignalQualityAnalyzer>();
  let sliceEnd = performance.now() + SLICE_MS;
  for (const trace of all) {
    if (performance.now() > sliceEnd) {
      await new Promise((resolve) => setTimeout(resolve));
      if (aborted.aborted) return;
      sliceEnd = performance.now() + SLICE_MS;
    }
    found.push(analyzeChannel(trace, visible, analyzers));
  }
  qualities.value = found;
}

/** @param analyzers by length and rate: channels share their tables */
function analyzeChannel(
  { channel: { samples }, segments, rate }: ChannelTrace,
  { from, seconds }: View,
  analyzers: Map<string, SignalQualityAnalyzer>,
): ChannelQuality | null {
  const axis = createTimeline(segments, samples.length, rate);
  const first = Math.max(0, Math.ceil(axis.toSample(from)));
  const end = Math.min(samples.length, Math.floor(axis.toSample(from + seconds)));
  const length = Math.min(MAX_SAMPLES, end - first);
  if (length < MIN_SAMPLES) return null;
  const key = `${length} ${rate}`;
  const analyzer = analyzers.get(key) ?? new SignalQualityAnalyzer(length, rate, DEFAULT_QUALITY);
  analyzers.set(key, analyzer);
  analyzer.analyze(samples.subarray(first, first + length));
  const { problems, peakToPeak, mainsShare } = analyzer;
  return { problems: problemsOf(problems), peakToPeak, mainsShare };
}
