import { computed, signal } from '@preact/signals';
import { EegClient, type EegInfo, type SentimentInfo } from '../../client';
import { connect } from './client';
import { type Explanation, explain } from './errors';

/** The answer of `GET /info`. What only one of the services says of its model, the other leaves out. */
export type ServiceInfo = Omit<EegInfo, 'service' | 'model'> & {
  readonly service: string;
  readonly model: Partial<EegInfo['model'] & SentimentInfo['model']> &
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
