import type { Logger } from 'pino';
import type { Config } from '../settings/config';
import type { NamesOf } from './access';
import type { Credentials } from './credentials/credentials';
import type { EventLoopScheduler } from './event-loop-scheduler';
import type { Metrics } from './metrics/metrics';
import type { Readiness } from './readiness';
import type { RejectionLog } from './rejection-log';
import type { Tracer } from './tracing/tracer';

/** What the transports of one event loop share. */
export interface ServerContext {
  /** `bodyMemory`: the share of this event loop. */
  readonly config: Config;
  readonly credentials: Credentials;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly refusals: RejectionLog;
  readonly scheduler: EventLoopScheduler;
  /** Null: no spans are exported. */
  readonly tracer: Tracer | null;
  readonly namesOf: NamesOf;
}
