import type { z } from 'zod';
import { describeFirstIssue } from '../protocols/validation/fields';
import { ServiceError } from '../serving/errors';
import { parseJson } from '../serving/json';
import { CLOSE, type CloseCode } from '../serving/session';

/** Bytes that the reason of a close message may have (RFC 6455, 5.5). */
const MOST_REASON = 123;

/** Why a conversation ends; the message is told to the client. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: CloseCode;

  constructor(code: CloseCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** JSON. @throws Refusal */
export function parse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new Refusal(CLOSE.INVALID, error.message.replace(/^body: /, 'message: '));
  }
}

/** @throws Refusal: names the field */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = describeFirstIssue(result.error).replace(/^body: /, 'message: ');
  throw new Refusal(CLOSE.INVALID, issue);
}

/** As much as a close message may say. */
export function cut(reason: string): string {
  let end = reason.length;
  while (Buffer.byteLength(reason.slice(0, end)) > MOST_REASON) end--;
  return reason.slice(0, end);
}
