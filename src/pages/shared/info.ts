import { computed, signal } from '@preact/signals';
import type { z } from 'zod';
import { EegClient, type EegInfo, type SentimentInfo } from '../../client';
import type { EMBEDDING_INFO } from '../../tasks/embedding/embedding-task';
import { connect } from './client';
import { type Explanation, explain } from './errors';

type EmbeddingInfo = z.infer<z.ZodObject<typeof EMBEDDING_INFO>>;

/** The answer of `GET /info`. What only models of one task say of themselves, others leave out. */
export type ServiceInfo = Omit<EegInfo, 'service' | 'model'> & {
  readonly service: string;
  readonly model: Partial<EegInfo['model'] & SentimentInfo['model'] & EmbeddingInfo> &
    Pick<EegInfo['model'], 'name' | 'version' | 'loaded' | 'reason'>;
};

/** null: not here yet. */
export const info = signal<ServiceInfo | null>(null);
/** The model can be asked. */
export const isReady = computed(() => info.value?.model.loaded === true);
/** Why it could not be had. */
export const infoProblem = signal<Explanation | null>(null);

export async function loadInfo(): Promise<void> {
  infoProblem.value = null;
  try {
    info.value = await connect(EegClient).info();
  } catch (error) {
    infoProblem.value = explain(error);
  }
}
