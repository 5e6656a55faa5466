import type { Logger } from 'pino';
import type { Config } from '../../settings/config';
import { UNLIMITED_GRANT } from '../access';
import { digestOf, type KeyEntry } from './api-keys';
import { readCertificate } from './certificate';
import type { Warn } from './credential-file';
import {
  type CredentialName,
  Credentials,
  type CredentialUpdate,
  type CredentialValues,
} from './credentials';
import { type ParsedKey, readKeys } from './key-file';

/** Minimum key length without a warning; shorter keys can be guessed. */
const MIN_SAFE_KEY_LENGTH = 16;

const LOG_LINES = {
  keys: { done: 'API keys reloaded', failed: 'reloading API keys failed' },
  certificate: {
    done: 'TLS certificate reloaded',
    failed: 'reloading the TLS certificate failed',
  },
} as const;

/** Functions that read each credential from its files. @throws CredentialError */
type Sources = ReadonlyMap<CredentialName, () => Promise<CredentialUpdate>>;

/**
 * Reads API keys and TLS certificate at startup, and again on SIGHUP. If a reload fails, the previous credentials stay
 * active. Without credential files, SIGHUP keeps its default action and terminates the process.
 */
export class CredentialLoader {
  readonly credentials: Credentials;
  readonly #logger: Logger;

  private constructor(values: CredentialValues, sources: Sources, logger: Logger) {
    this.credentials = new Credentials(values);
    this.#logger = logger;
    if (sources.size === 0) return;
    let last = Promise.resolve(); // serializes reloads
    process.on('SIGHUP', () => {
      for (const source of sources) last = last.then(() => this.#reload(...source));
    });
  }

  /** @throws CredentialError */
  static async read(settings: Config['access'], logger: Logger): Promise<CredentialLoader> {
    const warn: Warn = (warning) => logger.warn(warning);
    const { apiKey, apiKeysFile } = settings;
    const keys =
      apiKey && !apiKeysFile ? digestsOf([{ key: apiKey, grant: UNLIMITED_GRANT }], warn) : null;
    let values: CredentialValues = { keys, certificate: null };
    const sources = sourcesOf(settings, warn);
    for (const read of sources.values()) values = { ...values, ...(await read()) };
    return new CredentialLoader(values, sources, logger);
  }

  async #reload(name: CredentialName, read: () => Promise<CredentialUpdate>): Promise<void> {
    try {
      const update = await read();
      this.credentials.replace(update);
      this.credentials.count(name, 'renewed');
      const { keys, certificate } = update;
      const fields = keys ? { keys: keys.length } : { validTo: certificate?.validTo };
      this.#logger.info(fields, LOG_LINES[name].done);
    } catch (error) {
      this.credentials.count(name, 'failed');
      this.#logger.error(`${LOG_LINES[name].failed}: ${(error as Error).message}`);
    }
  }
}

function sourcesOf(settings: Config['access'], warn: Warn): Sources {
  const { apiKeysFile, tlsCertFile, tlsKeyFile } = settings;
  const sources = new Map<CredentialName, () => Promise<CredentialUpdate>>();
  if (apiKeysFile) {
    sources.set('keys', async () => ({
      keys: digestsOf(await readKeys(apiKeysFile, warn), warn),
    }));
  }
  if (tlsCertFile && tlsKeyFile) {
    sources.set('certificate', async () => ({
      certificate: await readCertificate(tlsCertFile, tlsKeyFile, warn),
    }));
  }
  return sources;
}

function digestsOf(keys: readonly ParsedKey[], warn: Warn): readonly KeyEntry[] {
  const short = keys.filter(({ key }) => key.length < MIN_SAFE_KEY_LENGTH).length;
  if (short > 0) {
    warn(`${short} API keys are shorter than ${MIN_SAFE_KEY_LENGTH} characters and can be guessed`);
  }
  return keys.map(({ key, grant }) => ({ digest: digestOf(key), grant }));
}
