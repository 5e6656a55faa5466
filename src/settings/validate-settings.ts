import type { Environment } from './environment';
import { RESERVED_DESCRIPTORS } from './setting-defaults';
import type { SettingValues } from './settings';

/** Returns one error message per combination of settings that contradict each other. */
export function validateSettings(values: SettingValues): readonly string[] {
  return compact(
    values.MAX_LIST_LENGTH > values.MAX_QUEUE_REQUESTS &&
      `MAX_LIST_LENGTH: expected at most MAX_QUEUE_REQUESTS, ${values.MAX_QUEUE_REQUESTS}, ` +
        `received ${values.MAX_LIST_LENGTH}: the queue cannot hold such a list`,
    values.GRPC_PORT === values.PORT &&
      values.PORT !== 0 &&
      `GRPC_PORT: expected a port other than PORT, ${values.PORT}`,
    values.MANAGEMENT_PORT !== null &&
      values.MANAGEMENT_PORT !== 0 &&
      (values.MANAGEMENT_PORT === values.PORT || values.MANAGEMENT_PORT === values.GRPC_PORT) &&
      `MANAGEMENT_PORT: expected a port other than PORT and GRPC_PORT, ${values.MANAGEMENT_PORT}`,
    values.BODY_MEMORY < values.BODY_LIMIT &&
      `BODY_MEMORY: expected at least BODY_LIMIT, ${values.BODY_LIMIT}, ` +
        `received ${values.BODY_MEMORY}: bodies of the maximum size would always be rejected`,
    values.FILES_LIMIT < values.FILE_LIMIT &&
      `FILES_LIMIT: expected at least FILE_LIMIT, ${values.FILE_LIMIT}, ` +
        `received ${values.FILES_LIMIT}: files of the maximum size would always be rejected`,
    values.SHUTDOWN_DELAY_MS >= values.SHUTDOWN_TIMEOUT_MS &&
      `SHUTDOWN_DELAY_MS: expected less than SHUTDOWN_TIMEOUT_MS, ${values.SHUTDOWN_TIMEOUT_MS}, ` +
        `received ${values.SHUTDOWN_DELAY_MS}: no time would be left for accepted requests`,
    values.API_KEY &&
      values.API_KEYS_FILE &&
      'API_KEY: expected either API_KEY or API_KEYS_FILE. Move the key into the file',
    values.TLS_CERT_FILE &&
      !values.TLS_KEY_FILE &&
      'TLS_KEY_FILE: required by TLS_CERT_FILE. Set both',
    values.TLS_KEY_FILE &&
      !values.TLS_CERT_FILE &&
      'TLS_CERT_FILE: required by TLS_KEY_FILE. Set both',
  );
}

/** Returns one warning per combination of settings that is allowed but probably a mistake. */
export function lintSettings(
  values: SettingValues,
  { availableCores, maxDescriptors }: Environment,
): string[] {
  const threads = values.WORKERS * values.THREADS_PER_WORKER;
  const ports = [values.PORT, values.GRPC_PORT, values.MANAGEMENT_PORT].filter(
    (port) => port !== null,
  ).length;
  const connections = Math.floor((maxDescriptors - RESERVED_DESCRIPTORS) / ports);
  const remainingMs = values.SHUTDOWN_TIMEOUT_MS - values.SHUTDOWN_DELAY_MS;
  return compact(
    threads > availableCores &&
      `WORKERS: ${threads} threads (WORKERS × THREADS_PER_WORKER) on ${availableCores} available ` +
        'cores reduce throughput. Reduce WORKERS',
    values.MAX_CONNECTIONS > Math.max(16, connections) &&
      `MAX_CONNECTIONS: ${values.MAX_CONNECTIONS} connections${ports > 1 ? ' per port' : ''} exceed ` +
        `the ${maxDescriptors} file descriptors of this process (ulimit -n). Raise the limit`,
    values.SHUTDOWN_DELAY_MS > values.SHUTDOWN_TIMEOUT_MS / 2 &&
      `SHUTDOWN_DELAY_MS: ${values.SHUTDOWN_DELAY_MS} of the ${values.SHUTDOWN_TIMEOUT_MS} ms of ` +
        `SHUTDOWN_TIMEOUT_MS leave ${remainingMs} ms for accepted requests`,
  );
}

function compact(...messages: readonly (string | false | null)[]): string[] {
  return messages.filter(Boolean) as string[];
}
