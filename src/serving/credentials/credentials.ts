import { byLabel, counter, type Family } from '../metrics/family';
import type { Certificate } from './certificate';
import { ApiKeys, type KeyDigest } from './keys';

/** Can be sent to another thread. */
export interface CredentialValues {
  /** Null: everybody may ask. */
  readonly keys: readonly KeyDigest[] | null;
  /** Null: plain HTTP. */
  readonly certificate: Certificate | null;
}

/** What has been read again; the rest stays as it is. */
export type Renewal =
  | { readonly keys: readonly KeyDigest[] }
  | { readonly certificate: Certificate };

type RenewalOutcome = 'renewed' | 'failed';

/** Keys and certificate, as one event loop has them. */
export class Credentials {
  /** Null: everybody may ask. */
  readonly keys: ApiKeys | null;
  /** Told of a new certificate. */
  onCertificate: (certificate: Certificate) => void = () => {};
  #certificate: Certificate | null;
  readonly #outcomes = {
    keys: { renewed: 0, failed: 0 },
    certificate: { renewed: 0, failed: 0 },
  };

  constructor({ keys, certificate }: CredentialValues) {
    this.keys = keys && new ApiKeys(keys);
    this.#certificate = certificate;
  }

  /** Null: plain HTTP. */
  get certificate(): Certificate | null {
    return this.#certificate;
  }

  renew(renewal: Renewal): void {
    if ('keys' in renewal) {
      this.keys?.replace(renewal.keys);
      return;
    }
    this.#certificate = renewal.certificate;
    this.onCertificate(renewal.certificate);
  }

  /** For the metrics of the one event loop that reads the files for all. */
  count(credential: 'keys' | 'certificate', outcome: RenewalOutcome): void {
    this.#outcomes[credential][outcome]++;
  }

  families(): readonly Family[] {
    return [
      counter(
        'libtorch_serve_credential_reloads_total',
        'Readings of keys and certificate on SIGHUP: those that all event loops have, and those that left what was there.',
        () =>
          Object.entries(this.#outcomes).flatMap(([credential, outcomes]) =>
            byLabel('outcome', outcomes).map(({ labels, value }) => ({
              labels: { credential, ...labels },
              value,
            })),
          ),
      ),
    ];
  }
}
