import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Parameters of an operator that are missing or wrong. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

export type Parameters = Readonly<Record<string, unknown>>;
/** Replaces the text of an entity. @throws OperatorError */
type Operator = (text: string, entity: string, parameters: Parameters) => string;

const MIN_SALT_BYTES = 16;
const KEY_BYTES = [16, 24, 32];
const IV_BYTES = 16;

function typed<Type extends 'string' | 'boolean'>(
  parameters: Parameters,
  name: string,
  type: Type,
): Type extends 'string' ? string : boolean {
  const value = parameters[name];
  if (value === undefined || value === null) throw new OperatorError(`Expected parameter ${name}`);
  if (typeof value !== type) {
    throw new OperatorError(`Invalid parameter value for ${name}. Expecting a ${type}`);
  }
  return value as Type extends 'string' ? string : boolean;
}

function integer(parameters: Parameters, name: string): number {
  const value = parameters[name];
  if (value === undefined || value === null) throw new OperatorError(`Expected parameter ${name}`);
  if (!Number.isInteger(value)) {
    throw new OperatorError(`Invalid parameter value for ${name}. Expecting a whole number`);
  }
  return value as number;
}

function keyOf(parameters: Parameters): Buffer {
  const key = Buffer.from(typed(parameters, 'key', 'string'));
  if (KEY_BYTES.includes(key.length)) return key;
  throw new OperatorError('Invalid input, key must be of length 128, 192 or 256 bits');
}

const replace: Operator = (_, entity, parameters) => {
  const { new_value: value } = parameters;
  if (value !== undefined && value !== null && typeof value !== 'string') {
    throw new OperatorError('Invalid parameter value for new_value. Expecting a string');
  }
  return value ? value : `<${entity}>`;
};

const mask: Operator = (text, _, parameters) => {
  const character = typed(parameters, 'masking_char', 'string');
  if ([...character].length > 1) {
    throw new OperatorError('Invalid input, masking_char must be a character');
  }
  const points = [...text];
  const count = Math.min(points.length, Math.max(0, integer(parameters, 'chars_to_mask')));
  const masked = character.repeat(count);
  return typed(parameters, 'from_end', 'boolean')
    ? points.slice(0, points.length - count).join('') + masked
    : masked + points.slice(count).join('');
};

const hash: Operator = (text, _, parameters) => {
  const { hash_type: type = 'sha256', salt } = parameters;
  if (type !== 'sha256' && type !== 'sha512') {
    throw new OperatorError('Parameter hash_type: expected "sha256" or "sha512"');
  }
  const bytes =
    salt === undefined ? randomBytes(32) : Buffer.from(typed(parameters, 'salt', 'string'));
  if (bytes.length < MIN_SALT_BYTES) {
    throw new OperatorError(
      `Salt must be at least 16 bytes (128 bits). Provided salt is ${bytes.length} bytes.`,
    );
  }
  return createHash(type).update(text).update(bytes).digest('hex');
};

const encrypt: Operator = (text, _, parameters) => {
  const key = keyOf(parameters);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(`aes-${8 * key.length}-cbc`, key, iv);
  const encrypted = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final()]);
  return encrypted.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
};

const decrypt: Operator = (text, _, parameters) => {
  const key = keyOf(parameters);
  const bytes = Buffer.from(text, 'base64url');
  try {
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv(`aes-${8 * key.length}-cbc`, key, iv);
    const decrypted = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES)), decipher.final()]);
    return decrypted.toString('utf8');
  } catch {
    throw new OperatorError('The text is not encrypted with this key');
  }
};

const keep: Operator = (text) => text;

export const ANONYMIZERS: Readonly<Record<string, Operator>> = {
  hash,
  mask,
  redact: () => '',
  replace,
  keep,
  encrypt,
};

export const DEANONYMIZERS: Readonly<Record<string, Operator>> = {
  decrypt,
  deanonymize_keep: keep,
};
