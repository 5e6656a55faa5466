import type { Logger } from 'pino';
import type { Config } from '../settings/config';
import type { NamesOf } from './access';
import type { Credentials } from './credentials/credentials';
import type { EventLoopScheduler } from './event-loop-scheduler';
import type { Metrics } from './metrics/metrics';
import type { Readiness } from './readiness';
import type { RejectionLog } from './rejection-log';
import type { Tracer } from './tracing/tracer';

/** State that all ports of the process share. */
export interface ServerContext {
  readonly config: Config;
  readonly credentials: Credentials;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly rejectionLog: RejectionLog;
  readonly scheduler: EventLoopScheduler;
  /** Null: tracing is off. */
  readonly tracer: Tracer | null;
  /** All names of a model, by one of them. */
  readonly namesOf: NamesOf;
}
