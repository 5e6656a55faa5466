import type { Logger } from 'pino';
import type { Config } from '../../settings/config';
import { UNLIMITED } from '../access';
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

/** Shorter ones are found by trying. */
const SHORTEST_SAFE_KEY = 16;

const READ_AGAIN = {
  keys: { done: 'API_KEYS_FILE was read again', failed: 'the keys stay as they were' },
  certificate: {
    done: 'TLS_CERT_FILE and TLS_KEY_FILE were read again',
    failed: 'the certificate stays as it was',
  },
} as const;

/** What files hold, by whether they have keys or the certificate. @throws CredentialError */
type Sources = ReadonlyMap<CredentialName, () => Promise<CredentialUpdate>>;

/**
 * Reads keys and certificate at start, and again on SIGHUP. What cannot be read then leaves what was there
 * before. Where there is no file to read, SIGHUP ends the process, as it does by default.
 */
export class CredentialLoader {
  readonly credentials: Credentials;
  readonly #logger: Logger;

  private constructor(values: CredentialValues, sources: Sources, logger: Logger) {
    this.credentials = new Credentials(values);
    this.#logger = logger;
    if (sources.size === 0) return;
    let last = Promise.resolve(); // readings run one after the other
    process.on('SIGHUP', () => {
      for (const source of sources) last = last.then(() => this.#readAgain(...source));
    });
  }

  /** @throws CredentialError */
  static async read(settings: Config['access'], logger: Logger): Promise<CredentialLoader> {
    const warn: Warn = (warning) => logger.warn(warning);
    const { apiKey, apiKeysFile } = settings;
    const keys =
      apiKey && !apiKeysFile ? digestsOf([{ key: apiKey, grant: UNLIMITED }], warn) : null;
    let values: CredentialValues = { keys, certificate: null };
    const sources = sourcesOf(settings, warn);
    for (const read of sources.values()) values = { ...values, ...(await read()) };
    return new CredentialLoader(values, sources, logger);
  }

  async #readAgain(name: CredentialName, read: () => Promise<CredentialUpdate>): Promise<void> {
    try {
      const renewal = await read();
      this.credentials.replace(renewal);
      this.credentials.count(name, 'renewed');
      const { keys, certificate } = renewal;
      const about = keys ? { keys: keys.length } : { validTo: certificate?.validTo };
      this.#logger.info(about, READ_AGAIN[name].done);
    } catch (error) {
      this.credentials.count(name, 'failed');
      this.#logger.error(`${(error as Error).message}; ${READ_AGAIN[name].failed}`);
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
  const short = keys.filter(({ key }) => key.length < SHORTEST_SAFE_KEY).length;
  if (short > 0) {
    warn(`${short} API keys have under ${SHORTEST_SAFE_KEY} characters, and may be guessed`);
  }
  return keys.map(({ key, grant }) => ({ digest: digestOf(key), grant }));
}
