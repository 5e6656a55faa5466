import type { Environment } from './environment';
import { RESERVED_DESCRIPTORS, type SettingValues } from './settings';

/** Settings that do not go together. */
export function validateSettings(values: SettingValues): readonly string[] {
  return compact(
    values.MAX_LIST_LENGTH > values.MAX_QUEUE_REQUESTS &&
      `MAX_LIST_LENGTH: expected at most MAX_QUEUE_REQUESTS, ${values.MAX_QUEUE_REQUESTS}, ` +
        `received ${values.MAX_LIST_LENGTH}: the queue could never take such a list`,
    values.GRPC_PORT === values.PORT &&
      values.PORT !== 0 &&
      `GRPC_PORT: expected another one than PORT, ${values.PORT}`,
    values.MANAGEMENT_PORT !== null &&
      values.MANAGEMENT_PORT !== 0 &&
      (values.MANAGEMENT_PORT === values.PORT || values.MANAGEMENT_PORT === values.GRPC_PORT) &&
      `MANAGEMENT_PORT: expected another one than PORT and GRPC_PORT, ${values.MANAGEMENT_PORT}`,
    values.BODY_MEMORY < values.BODY_LIMIT &&
      `BODY_MEMORY: expected at least BODY_LIMIT, ${values.BODY_LIMIT}, ` +
        `received ${values.BODY_MEMORY}: there would never be room for such a body`,
    values.SHUTDOWN_DELAY_MS >= values.SHUTDOWN_TIMEOUT_MS &&
      `SHUTDOWN_DELAY_MS: expected less than SHUTDOWN_TIMEOUT_MS, ${values.SHUTDOWN_TIMEOUT_MS}, ` +
        `received ${values.SHUTDOWN_DELAY_MS}: no time would be left to answer what was accepted`,
    values.API_KEY &&
      values.API_KEYS_FILE &&
      'API_KEYS_FILE: expected alone: put the key of API_KEY into the file',
    values.TLS_CERT_FILE && !values.TLS_KEY_FILE && 'TLS_KEY_FILE: is needed by TLS_CERT_FILE',
    values.TLS_KEY_FILE && !values.TLS_CERT_FILE && 'TLS_CERT_FILE: is needed by TLS_KEY_FILE',
  );
}

/** What is allowed but hardly meant. */
export function lintSettings(
  values: SettingValues,
  { availableCores, maxDescriptors }: Environment,
): string[] {
  const threads = values.WORKERS * values.THREADS_PER_WORKER;
  const ports = [values.PORT, values.GRPC_PORT, values.MANAGEMENT_PORT].filter(
    (port) => port !== null,
  ).length;
  const connections = Math.floor((maxDescriptors - RESERVED_DESCRIPTORS) / ports);
  const answering = values.SHUTDOWN_TIMEOUT_MS - values.SHUTDOWN_DELAY_MS;
  return compact(
    threads > availableCores &&
      `WORKERS × THREADS_PER_WORKER is ${threads}, more than the ${availableCores} cores ` +
        'this process may use: expect it to be slower',
    values.MAX_CONNECTIONS > Math.max(16, connections) &&
      `MAX_CONNECTIONS is ${values.MAX_CONNECTIONS}${ports > 1 ? ' on each port' : ''}, but this ` +
        `process may have ${maxDescriptors} descriptors open (ulimit -n), and needs some itself`,
    values.SHUTDOWN_DELAY_MS > values.SHUTDOWN_TIMEOUT_MS / 2 &&
      `SHUTDOWN_DELAY_MS is ${values.SHUTDOWN_DELAY_MS} of the ${values.SHUTDOWN_TIMEOUT_MS} ms of ` +
        `SHUTDOWN_TIMEOUT_MS: ${answering} ms are left to answer what was accepted`,
  );
}

/** Of sentences the ones whose conditions hold. */
function compact(...sentences: readonly (string | false | null)[]): string[] {
  return sentences.filter(Boolean) as string[];
}
