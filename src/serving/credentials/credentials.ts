import { byLabel, counter, type Family, zeros } from '../metrics/family';
import { ApiKeys, type KeyEntry } from './api-keys';
import type { Certificate } from './certificate';

export interface CredentialValues {
  /** Null: no authentication. */
  readonly keys: readonly KeyEntry[] | null;
  /** Null: HTTP without TLS. */
  readonly certificate: Certificate | null;
}

export type CredentialName = keyof CredentialValues;
/** Reloaded credentials; undefined parts are unchanged. */
export type CredentialUpdate = {
  readonly [Name in CredentialName]?: NonNullable<CredentialValues[Name]>;
};

const OUTCOMES = ['renewed', 'failed'] as const;

/** Current API keys and TLS certificate. */
export class Credentials {
  /** Null: no authentication. */
  readonly keys: ApiKeys | null;
  /** Null: HTTP without TLS. */
  certificate: Certificate | null;
  /** Called after the certificate is replaced. */
  onCertificate: (certificate: Certificate) => void = () => {};
  readonly #outcomes = { keys: zeros(OUTCOMES), certificate: zeros(OUTCOMES) };

  constructor({ keys, certificate }: CredentialValues) {
    this.keys = keys && new ApiKeys(keys);
    this.certificate = certificate;
  }

  replace({ keys, certificate }: CredentialUpdate): void {
    if (keys) this.keys?.replace(keys);
    if (!certificate) return;
    this.certificate = certificate;
    this.onCertificate(certificate);
  }

  /** Counts a reload for the metrics. */
  count(name: CredentialName, outcome: (typeof OUTCOMES)[number]): void {
    this.#outcomes[name][outcome]++;
  }

  family(): Family {
    return counter(
      'libtorch_serve_credential_reloads_total',
      'Reloads of API keys and TLS certificate on SIGHUP, by outcome.',
      () =>
        Object.entries(this.#outcomes).flatMap(([credential, outcomes]) =>
          byLabel('outcome', outcomes, { credential }),
        ),
    );
  }
}
