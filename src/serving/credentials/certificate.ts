import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { CredentialError, readCredential } from './files';

const CERTIFICATE = 'TLS_CERT_FILE';
const KEY = 'TLS_KEY_FILE';
export const TLS_VERSION = 'TLSv1.2';

/** How the service shows itself to clients. */
export interface Certificate {
  /** PEM, with the chain. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** As the certificate writes it. */
  readonly validTo: string;
  readonly warnings: readonly string[];
}

export interface CertificateFiles {
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
}

/** @throws CredentialError, which quotes nothing of what the files hold */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([
    readCredential(CERTIFICATE, files.tlsCertFile, { isSecret: false }),
    readCredential(KEY, files.tlsKeyFile, { isSecret: true }),
  ]);
  const first = parseCertificate(cert.text);
  if (!first.checkPrivateKey(parseKey(key.text))) {
    throw new CredentialError(KEY, `does not belong to the certificate of ${CERTIFICATE}`);
  }
  try {
    tls.createSecureContext({ cert: cert.text, key: key.text, minVersion: TLS_VERSION });
  } catch (error) {
    throw new CredentialError(CERTIFICATE, `cannot be used: ${reasonOf(error)}`);
  }
  return {
    cert: cert.text,
    key: key.text,
    validTo: first.validTo,
    warnings: [...cert.warnings, ...key.warnings, ...describeValidity(first)],
  };
}

function parseCertificate(text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new CredentialError(CERTIFICATE, 'expected a certificate in PEM form');
  }
}

function parseKey(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    const isLocked = /^(?:-----BEGIN|Proc-Type:).*ENCRYPTED/m.test(text);
    throw new CredentialError(
      KEY,
      isLocked ? 'has a passphrase, expected none' : 'expected a private key in PEM form',
    );
  }
}

/** OpenSSL's own words for what is wrong, such as "ee key too small". */
function reasonOf(error: unknown): string {
  const { reason, code } = error as { readonly reason?: string; readonly code?: string };
  return reason ?? code ?? 'unknown reason';
}

function describeValidity({ validFrom, validTo }: X509Certificate): readonly string[] {
  if (Date.parse(validTo) < Date.now()) return [`${CERTIFICATE}: expired on ${validTo}`];
  if (Date.parse(validFrom) > Date.now()) return [`${CERTIFICATE}: is valid from ${validFrom} on`];
  return [];
}
