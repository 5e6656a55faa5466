/**
 * The default English recognizers of Presidio. Names, patterns, scores and context words are those of presidio-analyzer
 * 2.2.366 (MIT License, Copyright (c) Microsoft Corporation), conf/default_recognizers.yaml and predefined_recognizers/.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { parse } from 'tldts';
import data from './presidio-recognizers.json';

/** A regular expression of a recognizer, with the score of its matches. */
export interface PiiPattern {
  readonly name: string;
  /** In the syntax of Python. */
  readonly regex: string;
  readonly score: number;
}

export interface Recognizer {
  readonly name: string;
  readonly entity: string;
  readonly patterns: readonly PiiPattern[];
  /** Flags of Python's `re`. */
  readonly flags: number;
  /** Words before a match that raise its score. */
  readonly context: readonly string[];
  /**
   * Checks a match: true sets the score to 1, false drops the match, null keeps the score. Default: null.
   */
  readonly validate?: (text: string) => boolean | null;
  /** The ends of the groups are alternative ends of a match; the last one that is valid counts (IBAN). */
  readonly triesGroups?: true;
}

export const IGNORE_CASE = 2;
export const MULTILINE = 8;
export const DOT_ALL = 16;

const SEPARATORS = /[- ]/g;

/** Value of a decimal digit of any script; blocks of digits start at xxx0 or xxx6. */
function digitOf(character: string): number {
  if (character >= '0' && character <= '9') return character.charCodeAt(0) - 48;
  const code = character.codePointAt(0) as number;
  const low = code & 15;
  return /\p{Nd}/u.test(String.fromCodePoint(code - low)) ? low : low - 6;
}

const digitsOf = (text: string): readonly number[] => Array.from(text, digitOf);
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

function isLuhn(text: string): boolean {
  const digits = digitsOf(text.replaceAll(SEPARATORS, '')).toReversed();
  const doubled = digits.map((digit, index) => (index % 2 === 0 ? digit : 2 * digit));
  return sum(doubled.map((value) => (value > 9 ? value - 9 : value))) % 10 === 0;
}

/** DEA number: twice the digits 2, 4, 6 plus the digits 1, 3, 5 ends with the last digit. */
function isMedicalLicense(text: string): boolean {
  const digits = digitsOf(text.replaceAll(SEPARATORS, '').slice(2));
  const last = digits.at(-1) ?? 0;
  const others = digits.slice(0, -1).toReversed();
  const weighted = others.map((digit, index) => (index % 2 === 0 ? 2 * digit : digit));
  return (sum(weighted) - last) % 10 === 0;
}

function isNhs(text: string): boolean {
  const digits = digitsOf(text.replaceAll(SEPARATORS, ''));
  return sum(digits.map((digit, index) => digit * (10 - index))) % 11 === 0;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Bytes of a base58 text; null: another character. */
function decodeBase58(text: string): Buffer | null {
  let value = 0n;
  for (const character of text) {
    const digit = BASE58.indexOf(character);
    if (digit < 0) return null;
    value = value * 58n + BigInt(digit);
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const hex = value === 0n ? '' : value.toString(16);
  return Buffer.concat([
    Buffer.alloc(zeros),
    Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'),
  ]);
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

function hasBase58Checksum(text: string): boolean {
  const bytes = decodeBase58(text);
  if (bytes === null || bytes.length < 4) return false;
  const [content, checksum] = [bytes.subarray(0, -4), bytes.subarray(-4)];
  return sha256(sha256(content)).subarray(0, 4).equals(checksum);
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const BECH32_GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const BECH32_CONSTANTS = [1, 0x2bc830a3];

/** Checksum of bech32 and bech32m. Source: github.com/sipa/bech32. */
function isBech32(text: string): boolean {
  const lower = text.toLowerCase();
  if (lower !== text && text.toUpperCase() !== text) return false;
  const separator = lower.lastIndexOf('1');
  if (separator < 1 || separator + 7 > lower.length || lower.length > 90) return false;
  const prefix = Array.from(lower.slice(0, separator), (character) => character.charCodeAt(0));
  const values = Array.from(lower.slice(separator + 1), (character) => BECH32.indexOf(character));
  if (values.includes(-1)) return false;
  let check = 1;
  for (const value of [...prefix.map((c) => c >> 5), 0, ...prefix.map((c) => c & 31), ...values]) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of BECH32_GENERATOR.entries()) {
      if ((top >> bit) & 1) check ^= generator;
    }
  }
  return BECH32_CONSTANTS.includes(check);
}

function isCryptoAddress(text: string): boolean {
  if (/^[13]/.test(text)) return hasBase58Checksum(text);
  return text.startsWith('bc1') && isBech32(text);
}

/** Whether an e-mail address has a domain below a public suffix, as tldextract finds it. */
function hasRegisteredDomain(text: string): boolean {
  const { domain, isIp, isIcann } = parse(text, { validateHostname: false });
  return domain !== null && !isIp && isIcann === true;
}

const IBAN_FORMATS: Readonly<Record<string, string>> = data.ibanFormats;
const IBAN_REGEXES = new Map(
  Object.entries(IBAN_FORMATS).map(([country, format]) => [country, new RegExp(`^${format}`)]),
);

/** Check digits, and the format of the country; null: only the upper-case text has the format. */
function validateIban(matched: string): boolean | null {
  const text = matched.replaceAll(SEPARATORS, '');
  const moved = `${text.slice(4)}${text.slice(0, 2)}00`.toUpperCase();
  let remainder = 0;
  for (const character of moved) {
    const value = Number.parseInt(character, 36);
    if (Number.isNaN(value)) return false;
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  if (String(98 - remainder).padStart(2, '0') !== text.slice(2, 4)) return false;
  const hasFormat = (iban: string) => IBAN_REGEXES.get(iban.slice(0, 2))?.test(iban) ?? false;
  if (hasFormat(text)) return true;
  return hasFormat(text.toUpperCase()) ? null : false;
}

/** Drops texts that Python's `ipaddress.ip_interface` rejects. */
function keepIp(text: string): false | null {
  const [address = '', prefix, ...others] = text.split('/');
  const version = isIP(address);
  if (version === 0 || others.length > 0) return false;
  const most = version === 4 ? 32 : 128;
  return prefix === undefined || (/^[0-9]+$/.test(prefix) && Number(prefix) <= most) ? null : false;
}

function keepMac(text: string): false | null {
  const digits = text.replaceAll(/[:\-.]/g, '').toUpperCase();
  return /^[0-9A-F]{12}$/.test(digits) && !/^(?:F{12}|0{12})$/.test(digits) ? null : false;
}

/** Versions 1 to 8 of RFC 4122 and RFC 9562. */
const keepUuid = (text: string) =>
  /^[^-]+-[^-]+-[1-8][^-]*-[89ab][^-]*-[^-]+$/i.test(text) ? null : false;

const SAMPLE_SSNS = ['123456789', '987654320', '078051120'];

function keepSsn(text: string): false | null {
  if (new Set(text.match(/[.\- ]/g)).size > 1) return false;
  const digits = digitsOf(text.replaceAll(/[^\p{Nd}]/gu, '')).join('');
  const isNever =
    /^(\d)\1*$/.test(digits) ||
    digits.slice(3, 5) === '00' ||
    digits.slice(5) === '0000' ||
    /^(?:000|666)/.test(digits);
  return isNever || SAMPLE_SSNS.includes(digits) ? false : null;
}

const VALIDATORS: Readonly<Record<string, Recognizer['validate']>> = {
  CreditCardRecognizer: isLuhn,
  NhsRecognizer: isNhs,
  CryptoRecognizer: isCryptoAddress,
  EmailRecognizer: hasRegisteredDomain,
  IbanRecognizer: validateIban,
  IpRecognizer: keepIp,
  MedicalLicenseRecognizer: isMedicalLicense,
  MacAddressRecognizer: keepMac,
  UuidRecognizer: keepUuid,
  UsSsnRecognizer: keepSsn,
};

/** Recognizers with patterns, in the order of Presidio. */
export const PATTERN_RECOGNIZERS: readonly Recognizer[] = data.recognizers
  .filter(({ patterns }) => patterns.length > 0)
  .map(({ name, entity, context, patterns, ignoresCase }) => {
    const validate = VALIDATORS[name];
    return {
      name,
      entity,
      context,
      patterns,
      flags: MULTILINE | DOT_ALL | (ignoresCase ? IGNORE_CASE : 0),
      ...(validate && { validate }),
      ...(name === 'IbanRecognizer' && { triesGroups: true }),
    };
  });

/** Context words of PhoneRecognizer. */
export const PHONE_CONTEXT: readonly string[] =
  data.recognizers.find(({ name }) => name === 'PhoneRecognizer')?.context ?? [];
