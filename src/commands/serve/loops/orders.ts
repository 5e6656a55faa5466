/** What the first event loop and the others say to each other. */

import type { CredentialValues, Renewal } from '../../../serving/credentials/credentials';
import type { Config } from '../../../settings/config';
import type { SharedModel } from '../../../tasks/task-model';

/** What a thread is started with. */
export interface LoopData {
  /** From 1; the first event loop is that of the process's main thread. */
  readonly loop: number;
  readonly config: Config;
  /** Of the package. */
  readonly version: string;
  /** As they were read at start. */
  readonly credentials: CredentialValues;
  /** See `SharedLimit`. */
  readonly connections: SharedArrayBuffer;
}

export type Order =
  /** On a descriptor of its own, of the socket that all loops listen on. */
  | { readonly type: 'serve'; readonly model: SharedModel; readonly descriptor: number }
  /** All of them serve: each may ask the others, so many, what they have counted. */
  | { readonly type: 'join'; readonly others: number }
  /** Keys or certificate have changed. */
  | { readonly type: 'renew'; readonly renewal: Renewal }
  /** See `Servers.leave`. */
  | { readonly type: 'leave' }
  /** See `Servers.close`. */
  | { readonly type: 'close'; readonly spansTimeoutMs: number }
  /** No loop will ask this one any more. */
  | { readonly type: 'end' };

/** What was ordered has been done. */
export type Report = 'serve' | 'renew' | 'close';
