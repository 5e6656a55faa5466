import type { GuardFileResponse, GuardResponse } from '../protocols/own/guard';
import type { ModelsInfo } from '../protocols/own/info';
import { Client } from './client';
import type { CallOptions } from './retry';

export interface GuardOptions extends CallOptions {
  /** Whether the texts go to a language model or come from one. Default: input. */
  readonly direction?: 'input' | 'output';
  /** Whether the answer says what placeholders stand for. Default: false. */
  readonly map?: boolean;
  /** Whether the answer has what lies below the thresholds as well. Default: false. */
  readonly scores?: boolean;
}

/** Of a directory of models with a guard: `http://localhost:8000`. */
export class GuardClient extends Client<ModelsInfo> {
  /** @param texts one, or the parts of one: places in the answer name them by their index */
  guard(texts: string | readonly string[], options: GuardOptions = {}): Promise<GuardResponse> {
    const { direction, map, scores } = options;
    const body = {
      ...(typeof texts === 'string' ? { text: texts } : { texts }),
      ...(direction !== undefined && { direction }),
      ...(map !== undefined && { map }),
      ...(scores !== undefined && { scores }),
    };
    return this.call('/guard', body, options);
  }

  /** The file of the guard, with its defaults. @throws ResponseError 500: it is not loaded, and why */
  guardFile(options?: CallOptions): Promise<GuardFileResponse> {
    return this.call('/guard/file', undefined, options);
  }
}
