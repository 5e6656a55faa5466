import { byLabel, counter, type Family, zeros } from '../metrics/family';
import { ApiKeys, type KeyEntry } from './api-keys';
import type { Certificate } from './certificate';

export interface CredentialValues {
  /** Null: everybody may ask. */
  readonly keys: readonly KeyEntry[] | null;
  /** Null: plain HTTP. */
  readonly certificate: Certificate | null;
}

export type CredentialName = keyof CredentialValues;
/** What has been read again; the rest stays as it is. */
export type CredentialUpdate = {
  readonly [Name in CredentialName]?: NonNullable<CredentialValues[Name]>;
};

const OUTCOMES = ['renewed', 'failed'] as const;

/** Keys and certificate. */
export class Credentials {
  /** Null: everybody may ask. */
  readonly keys: ApiKeys | null;
  /** Null: plain HTTP. */
  certificate: Certificate | null;
  /** Told of a new certificate. */
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

  /** For the metrics. */
  count(name: CredentialName, outcome: (typeof OUTCOMES)[number]): void {
    this.#outcomes[name][outcome]++;
  }

  family(): Family {
    return counter(
      'libtorch_serve_credential_reloads_total',
      'Readings of keys and certificate on SIGHUP: those that took effect, and those that left what was there.',
      () =>
        Object.entries(this.#outcomes).flatMap(([credential, outcomes]) =>
          byLabel('outcome', outcomes, { credential }),
        ),
    );
  }
}
