import type { Environment } from './environment';
import { DESCRIPTORS_KEPT, type SettingValues } from './settings';

/** Settings that do not go together. */
export function describeContradictions(values: SettingValues): readonly string[] {
  const problems: string[] = [];
  if (values.MAX_LIST_LENGTH > values.MAX_QUEUE_REQUESTS) {
    problems.push(
      `MAX_LIST_LENGTH: expected at most MAX_QUEUE_REQUESTS, ${values.MAX_QUEUE_REQUESTS}, ` +
        `received ${values.MAX_LIST_LENGTH}: the queue could never take such a list`,
    );
  }
  if (values.GRPC_PORT === values.PORT && values.PORT !== 0) {
    problems.push(`GRPC_PORT: expected another one than PORT, ${values.PORT}`);
  }
  if (values.PRODUCTS === 'bfloat16' && values.DTYPE === 'int8') {
    problems.push(
      'PRODUCTS: expected auto or float32 with DTYPE int8, received bfloat16: its attention is ' +
        'float32, so that its answers are the same on every processor',
    );
  }
  const bodies = values.BODY_LIMIT * values.EVENT_LOOPS;
  if (values.BODY_MEMORY < bodies) {
    const each = values.EVENT_LOOPS > 1 ? `BODY_LIMIT for each of EVENT_LOOPS` : 'BODY_LIMIT';
    problems.push(
      `BODY_MEMORY: expected at least ${each}, ${bodies}, ` +
        `received ${values.BODY_MEMORY}: there would never be room for such a body`,
    );
  }
  if (values.SHUTDOWN_DELAY_MS >= values.SHUTDOWN_TIMEOUT_MS) {
    problems.push(
      `SHUTDOWN_DELAY_MS: expected less than SHUTDOWN_TIMEOUT_MS, ${values.SHUTDOWN_TIMEOUT_MS}, ` +
        `received ${values.SHUTDOWN_DELAY_MS}: no time would be left to answer what was accepted`,
    );
  }
  if (values.API_KEY && values.API_KEYS_FILE) {
    problems.push('API_KEYS_FILE: expected alone: put the key of API_KEY into the file');
  }
  for (const [set, missing] of [
    ['TLS_CERT_FILE', 'TLS_KEY_FILE'],
    ['TLS_KEY_FILE', 'TLS_CERT_FILE'],
  ] as const) {
    if (values[set] && !values[missing]) problems.push(`${missing}: is needed by ${set}`);
  }
  return problems;
}

/** What is allowed but hardly meant. */
export function describeWhatIsHardlyMeant(
  values: SettingValues,
  environment: Environment,
): string[] {
  const warnings: string[] = [];
  const threads = values.WORKERS * values.THREADS_PER_WORKER;
  if (threads > environment.coresGranted) {
    warnings.push(
      `WORKERS × THREADS_PER_WORKER is ${threads}, more than the ${environment.coresGranted} cores ` +
        'this process may use: expect it to be slower',
    );
  }
  if (values.EVENT_LOOPS > environment.coresGranted) {
    warnings.push(
      `EVENT_LOOPS is ${values.EVENT_LOOPS}, more than the ${environment.coresGranted} cores this process ` +
        'may use: expect it to be slower',
    );
  }
  const ports = values.GRPC_PORT === null ? 1 : 2;
  const most = Math.floor((environment.descriptorsGranted - DESCRIPTORS_KEPT) / ports);
  if (values.MAX_CONNECTIONS > Math.max(16, most)) {
    warnings.push(
      `MAX_CONNECTIONS is ${values.MAX_CONNECTIONS}${ports > 1 ? ' on each port' : ''}, but this process may have ` +
        `${environment.descriptorsGranted} descriptors open (ulimit -n), and needs some itself`,
    );
  }
  if (values.SHUTDOWN_DELAY_MS > values.SHUTDOWN_TIMEOUT_MS / 2) {
    const left = values.SHUTDOWN_TIMEOUT_MS - values.SHUTDOWN_DELAY_MS;
    warnings.push(
      `SHUTDOWN_DELAY_MS is ${values.SHUTDOWN_DELAY_MS} of the ${values.SHUTDOWN_TIMEOUT_MS} ms of ` +
        `SHUTDOWN_TIMEOUT_MS: ${left} ms are left to answer what was accepted`,
    );
  }
  return warnings;
}
