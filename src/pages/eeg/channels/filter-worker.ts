import { PreprocessingError } from '../../../preprocessing/block';
import { type FilterInput, filterChannel } from './filter-channel';

/** Response of the worker: the filtered samples, or why the filter does not support the signal. */
export type FilterOutput = { readonly samples: Float32Array } | { readonly problem: string };

/** The scope of a worker; the library types of the pages describe windows only. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<FilterInput>) => void) | null;
  postMessage(message: FilterOutput, transfer: Transferable[]): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.onmessage = ({ data }) => {
  try {
    const samples = filterChannel(data);
    scope.postMessage({ samples }, [samples.buffer]);
  } catch (error) {
    if (!(error instanceof PreprocessingError)) throw error;
    scope.postMessage({ problem: error.message }, []);
  }
};
