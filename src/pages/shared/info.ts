import { computed, signal } from '@preact/signals';
import type { z } from 'zod';
import { EegClient, type EegInfo, type SentimentInfo } from '../../client';
import type { EMBEDDING_INFO } from '../../tasks/embedding/embedding-task';
import { createClient } from './client';
import { type Explanation, explainError } from './errors';

type EmbeddingInfo = z.infer<z.ZodObject<typeof EMBEDDING_INFO>>;

/** Response of `GET /info`. Fields that depend on the task are optional. */
export type ServiceInfo = Omit<EegInfo, 'service' | 'model'> & {
  readonly service: string;
  readonly model: Partial<EegInfo['model'] & SentimentInfo['model'] & EmbeddingInfo> &
    Pick<EegInfo['model'], 'name' | 'version' | 'loaded' | 'reason'>;
};

/** Null until the response is received. */
export const info = signal<ServiceInfo | null>(null);
/** The model is loaded. */
export const isReady = computed(() => info.value?.model.loaded === true);
/** Error of the last request for `/info`; null if it succeeded. */
export const infoProblem = signal<Explanation | null>(null);

/** Returns whether the server has several models and this page belongs to a single model. `/metrics` covers all models. */
export function isModelOfRepository(): boolean {
  return info.value?.service === 'models' && info.value.model !== undefined;
}

export async function loadInfo(): Promise<void> {
  infoProblem.value = null;
  try {
    info.value = await createClient(EegClient).info();
  } catch (error) {
    infoProblem.value = explainError(error);
  }
}
