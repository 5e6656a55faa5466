import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import { CredentialError, readCredential, type Warn } from './credential-file';

const CERTIFICATE = 'TLS_CERT_FILE';
const KEY = 'TLS_KEY_FILE';
export const TLS_VERSION = 'TLSv1.2';

/** TLS certificate and private key of the server. */
export interface Certificate {
  /** Certificate chain in PEM. */
  readonly cert: string;
  /** Private key in PEM. */
  readonly key: string;
  /** End of validity, formatted by OpenSSL. */
  readonly validTo: string;
}

/** Reads and validates certificate and private key. @throws CredentialError, which does not quote the files */
export async function readCertificate(
  certFile: string,
  keyFile: string,
  warn: Warn,
): Promise<Certificate> {
  const warnings: string[] = [];
  const [cert, key] = await Promise.all([
    readCredential(CERTIFICATE, certFile),
    readCredential(KEY, keyFile, (warning) => warnings.push(warning)),
  ]);
  const first = parseCertificate(cert);
  if (!first.checkPrivateKey(parseKey(key))) {
    throw new CredentialError(KEY, `does not match the certificate of ${CERTIFICATE}`);
  }
  try {
    tls.createSecureContext({ cert, key, minVersion: TLS_VERSION });
  } catch (error) {
    throw new CredentialError(CERTIFICATE, `unusable certificate: ${reasonOf(error)}`);
  }
  for (const warning of [...warnings, ...describeValidity(first)]) warn(warning);
  return { cert, key, validTo: first.validTo };
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
    const isEncrypted = /^(?:-----BEGIN|Proc-Type:).*ENCRYPTED/m.test(text);
    throw new CredentialError(
      KEY,
      isEncrypted
        ? 'expected a private key without a passphrase'
        : 'expected a private key in PEM form',
    );
  }
}

/** Error reason of OpenSSL, such as "ee key too small". */
function reasonOf(error: unknown): string {
  const { reason, code } = error as { readonly reason?: string; readonly code?: string };
  return reason ?? code ?? 'unknown reason';
}

function describeValidity({ validFrom, validTo }: X509Certificate): readonly string[] {
  if (Date.parse(validTo) < Date.now()) return [`${CERTIFICATE}: expired on ${validTo}`];
  if (Date.parse(validFrom) > Date.now()) return [`${CERTIFICATE}: not valid before ${validFrom}`];
  return [];
}
