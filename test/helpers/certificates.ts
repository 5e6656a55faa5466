import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate that signs itself, for localhost and 127.0.0.1, and its key, as PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface Validity {
  readonly from?: Date;
  readonly to?: Date;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = '06082a8648ce3d040302';
const COMMON_NAME = '0603550403';
const SUBJECT_ALT_NAME = '0603551d11';

/** Node reads certificates and makes none: here are the few structures of RFC 5280 that one takes. */
export function makeCertificate({ from, to }: Validity = {}): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(hex(ECDSA_WITH_SHA256));
  // Of two with one name, a client that trusts both would try the first alone.
  const common = Buffer.from(randomBytes(8).toString('hex'));
  const name = sequence(der(0x31, sequence(hex(COMMON_NAME), der(0x0c, common))));
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, hex('7f000001')));
  const content = sequence(
    der(0xa0, der(0x02, hex('02'))), // version 3
    der(0x02, Buffer.concat([hex('01'), randomBytes(8)])),
    algorithm,
    name,
    sequence(
      time(from ?? new Date(Date.now() - DAY_MS)),
      time(to ?? new Date(Date.now() + DAY_MS)),
    ),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(hex(SUBJECT_ALT_NAME), der(0x04, names)))),
  );
  const signature = Buffer.concat([hex('00'), sign('sha256', content, privateKey)]);
  const base64 = sequence(content, algorithm, der(0x03, signature)).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

function hex(digits: string): Buffer {
  return Buffer.from(digits, 'hex');
}

/** UTCTime: `YYMMDDhhmmssZ`. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(digits.slice(2)));
}
