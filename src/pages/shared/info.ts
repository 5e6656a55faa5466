import { signal } from '@preact/signals';
import { get } from './api';
import { type Explanation, explain } from './errors';

/** The answer of `GET /info`. */
export interface ServiceInfo {
  readonly service: 'sentiment' | 'eeg';
  readonly version: string;
  readonly model: {
    readonly name: string;
    readonly version: string | null;
    readonly loaded: boolean;
    readonly reason: string | null;
    readonly labels?: readonly string[] | null;
    readonly classes?: readonly string[];
    /** Tokens. */
    readonly max_length?: number | null;
    /** Samples. */
    readonly window_length?: number;
    readonly sampling_rate_hz?: number | null;
    readonly channel?: string | null;
    readonly dtype?: string;
  };
  readonly limits: {
    readonly body_bytes: number;
    readonly list_length: number;
    readonly request_timeout_ms: number;
  };
}

/** null: not here yet. */
export const info = signal<ServiceInfo | null>(null);
/** Why it could not be had. */
export const infoProblem = signal<Explanation | null>(null);

export async function loadInfo(): Promise<void> {
  infoProblem.value = null;
  try {
    info.value = (await get<ServiceInfo>('info')).body;
  } catch (error) {
    infoProblem.value = explain(error);
  }
}
