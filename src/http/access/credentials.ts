import type { Logger } from 'pino';
import { type Certificate, type CertificateFiles, readCertificate } from './certificate';
import { CredentialError, readCredential } from './files';
import { parseKeys } from './key-file';
import { ApiKeys } from './keys';

const KEYS_FILE = 'API_KEYS_FILE';
/** Shorter ones are found by trying. */
const SHORTEST_SAFE_KEY = 16;

export interface CredentialSettings {
  readonly apiKey: string | null;
  readonly apiKeysFile: string | null;
  readonly tls: CertificateFiles | null;
}

/**
 * Keys and certificate, read at start, and read again on SIGHUP. What cannot be read then leaves what
 * was there before. Where there is no file to read, SIGHUP ends the process, as it does by default.
 */
export class Credentials {
  /** Null: everybody may ask. */
  readonly keys: ApiKeys | null;
  /** Told of the signal on which they are read again. */
  onSignal: () => void = () => {};
  /** Told of a new certificate. */
  onCertificate: (certificate: Certificate) => void = () => {};
  readonly #settings: CredentialSettings;
  readonly #logger: Logger;
  #certificate: Certificate | null;
  /** The last one that was asked for; they run one after the other. */
  #reloading: Promise<void> = Promise.resolve();

  private constructor(
    read: { readonly keys: readonly string[] | null; readonly certificate: Certificate | null },
    settings: CredentialSettings,
    logger: Logger,
  ) {
    this.keys = read.keys && new ApiKeys(read.keys);
    this.#certificate = read.certificate;
    this.#settings = settings;
    this.#logger = logger;
    if (!settings.apiKeysFile && !settings.tls) return;
    process.on('SIGHUP', () => {
      void this.reload();
      this.onSignal();
    });
  }

  /** @throws CredentialError */
  static async read(settings: CredentialSettings, logger: Logger): Promise<Credentials> {
    const { apiKey, apiKeysFile, tls } = settings;
    const keys = apiKeysFile ? await readKeys(apiKeysFile, logger) : apiKey ? [apiKey] : null;
    if (keys) warnOfShortKeys(keys, logger);
    const certificate = tls && (await readCertificate(tls));
    for (const warning of certificate?.warnings ?? []) logger.warn(warning);
    return new Credentials({ keys, certificate }, settings, logger);
  }

  /** Null: plain HTTP. */
  get certificate(): Certificate | null {
    return this.#certificate;
  }

  reload(): Promise<void> {
    this.#reloading = this.#reloading.then(this.#reload);
    return this.#reloading;
  }

  readonly #reload = async (): Promise<void> => {
    const { apiKeysFile, tls } = this.#settings;
    if (apiKeysFile) await this.#reloadKeys(apiKeysFile);
    if (tls) await this.#reloadCertificate(tls);
  };

  async #reloadKeys(file: string): Promise<void> {
    try {
      const keys = await readKeys(file, this.#logger);
      warnOfShortKeys(keys, this.#logger);
      this.keys?.replace(keys);
      this.#logger.info({ keys: keys.length }, `${KEYS_FILE} was read again`);
    } catch (error) {
      this.#logger.error(`${(error as Error).message}; the keys stay as they were`);
    }
  }

  async #reloadCertificate(files: CertificateFiles): Promise<void> {
    try {
      const certificate = await readCertificate(files);
      for (const warning of certificate.warnings) this.#logger.warn(warning);
      this.#certificate = certificate;
      this.onCertificate(certificate);
      const { validTo } = certificate;
      this.#logger.info({ validTo }, 'TLS_CERT_FILE and TLS_KEY_FILE were read again');
    } catch (error) {
      this.#logger.error(`${(error as Error).message}; the certificate stays as it was`);
    }
  }
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
