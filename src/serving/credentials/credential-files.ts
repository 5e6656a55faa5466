import type { Logger } from 'pino';
import { type CertificateFiles, readCertificate } from './certificate';
import { Credentials, type CredentialValues, type Renewal } from './credentials';
import { CredentialError, readCredential } from './files';
import { parseKeys } from './key-file';
import { digestOf } from './keys';

const KEYS_FILE = 'API_KEYS_FILE';
/** Shorter ones are found by trying. */
const SHORTEST_SAFE_KEY = 16;

export interface CredentialSettings {
  readonly apiKey: string | null;
  readonly apiKeysFile: string | null;
  /** Null: plain HTTP, and then both are. */
  readonly tlsCertFile: string | null;
  readonly tlsKeyFile: string | null;
}

/**
 * Reads keys and certificate at start, and again on SIGHUP: once for all event loops, so that none can
 * see another state of a file that is being written. What cannot be read then leaves what was there
 * before. Where there is no file to read, SIGHUP ends the process, as it does by default.
 */
export class CredentialFiles {
  /** What was read at start, for the other event loops. */
  readonly values: CredentialValues;
  /** Of this event loop. */
  readonly credentials: Credentials;
  /** Gives the others what was read again; resolves when they have it. */
  onRenewal: (renewal: Renewal) => Promise<void> = async () => {};
  readonly #settings: CredentialSettings;
  readonly #logger: Logger;
  /** The last reading that was asked for; they run one after the other. */
  #reading: Promise<void> = Promise.resolve();

  private constructor(values: CredentialValues, settings: CredentialSettings, logger: Logger) {
    this.values = values;
    this.credentials = new Credentials(values);
    this.#settings = settings;
    this.#logger = logger;
    if (!settings.apiKeysFile && !settings.tlsCertFile) return;
    process.on('SIGHUP', () => {
      this.#reading = this.#reading.then(this.#readAgain);
    });
  }

  /** @throws CredentialError */
  static async read(settings: CredentialSettings, logger: Logger): Promise<CredentialFiles> {
    const { apiKey, apiKeysFile } = settings;
    const keys = apiKeysFile ? await readKeys(apiKeysFile, logger) : apiKey ? [apiKey] : null;
    if (keys) warnOfShortKeys(keys, logger);
    const files = certificateFiles(settings);
    const certificate = files && (await readCertificate(files));
    for (const warning of certificate?.warnings ?? []) logger.warn(warning);
    const values = { keys: keys?.map(digestOf) ?? null, certificate };
    return new CredentialFiles(values, settings, logger);
  }

  readonly #readAgain = async (): Promise<void> => {
    const { apiKeysFile } = this.#settings;
    const files = certificateFiles(this.#settings);
    if (apiKeysFile) await this.#readKeysAgain(apiKeysFile);
    if (files) await this.#readCertificateAgain(files);
  };

  async #readKeysAgain(file: string): Promise<void> {
    try {
      const keys = await readKeys(file, this.#logger);
      warnOfShortKeys(keys, this.#logger);
      this.#renew({ keys: keys.map(digestOf) }, () => {
        this.credentials.count('keys', 'renewed');
        this.#logger.info({ keys: keys.length }, `${KEYS_FILE} was read again`);
      });
    } catch (error) {
      this.credentials.count('keys', 'failed');
      this.#logger.error(`${(error as Error).message}; the keys stay as they were`);
    }
  }

  async #readCertificateAgain(files: CertificateFiles): Promise<void> {
    try {
      const certificate = await readCertificate(files);
      for (const warning of certificate.warnings) this.#logger.warn(warning);
      this.#renew({ certificate }, () => {
        this.credentials.count('certificate', 'renewed');
        const { validTo } = certificate;
        this.#logger.info({ validTo }, 'TLS_CERT_FILE and TLS_KEY_FILE were read again');
      });
    } catch (error) {
      this.credentials.count('certificate', 'failed');
      this.#logger.error(`${(error as Error).message}; the certificate stays as it was`);
    }
  }

  /** The next reading does not wait for an event loop that is busy: it gets both, one after the other. */
  #renew(renewal: Renewal, done: () => void): void {
    this.credentials.renew(renewal);
    void this.onRenewal(renewal).then(done);
  }
}

function certificateFiles(settings: CredentialSettings): CertificateFiles | null {
  const { tlsCertFile, tlsKeyFile } = settings;
  return tlsCertFile && tlsKeyFile ? { tlsCertFile, tlsKeyFile } : null;
}

async function readKeys(file: string, logger: Logger): Promise<readonly string[]> {
  const { text, warnings } = await readCredential(KEYS_FILE, file, { isSecret: true });
  for (const warning of warnings) logger.warn(warning);
  try {
    return parseKeys(text);
  } catch (error) {
    throw new CredentialError(KEYS_FILE, `${file}: ${(error as Error).message}`);
  }
}

function warnOfShortKeys(keys: readonly string[], logger: Logger): void {
  const count = keys.filter(({ length }) => length < SHORTEST_SAFE_KEY).length;
  if (count === 0) return;
  logger.warn(`${count} API keys have under ${SHORTEST_SAFE_KEY} characters, and may be guessed`);
}
