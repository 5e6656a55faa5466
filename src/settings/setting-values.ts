/** What the values of settings may be, as they are written. Messages say what was expected, and quote it. */
import { z } from 'zod';

export function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => `expected ${what}, received "${String(input)}"`;
}

export function integer(least: number, most: number) {
  const error = expected(`an integer from ${least} to ${most}`);
  return z
    .string()
    .regex(/^\d{1,15}$/, { error })
    .transform((text, context) => {
      const value = Number(text);
      if (value < least || value > most) {
        context.addIssue({ code: 'custom', message: error({ input: text }) });
      }
      return value;
    });
}

/** Null: it is not set. */
export function optionalPort() {
  const port = integer(0, 65535);
  return z.union([z.literal('').transform(() => null), port], {
    error: (issue) => port.safeParse(issue.input).error?.issues[0]?.message,
  });
}

/** Names with commas between them. */
export function operators() {
  const error = expected('operators such as aten::as_strided, with commas between them');
  return z
    .string()
    .regex(/^(?:\w+::\w+(?:\.\w+)?(?: *, *\w+::\w+(?:\.\w+)?)*)?$/, { error })
    .transform((text) => (text === '' ? [] : text.split(/ *, */)));
}

export function boolean() {
  const error = expected('true or false');
  return z
    .string()
    .regex(/^(?:true|false)$/i, { error })
    .transform((text) => /^true$/i.test(text));
}

/** Origins as browsers send them, or the one element `*`. */
export function origins() {
  const error = expected('* or origins such as https://example.org, separated by commas');
  return z.string().transform((text, context): readonly string[] => {
    const list = text.split(',').map((origin) => origin.trim());
    if (text === '') return [];
    if (text !== '*' && !list.every(isOrigin)) {
      context.addIssue({ code: 'custom', message: error({ input: text }) });
    }
    return list;
  });
}

/** Without a path, a default port or capital letters: a browser would send none of them. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/.test(text)) return false;
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text);
}

/** A number of bytes: "1048576", "512kb", "1mb" (1 kb = 1024 bytes). */
export function bytes(most: number) {
  const error = expected(`a size such as 1048576, 512kb or 1mb, at most ${most} bytes`);
  return z
    .string()
    .regex(/^\d{1,15} ?(?:b|kb|mb)?$/i, { error })
    .transform((text, context) => {
      const unit = /kb$/i.test(text) ? 1024 : /mb$/i.test(text) ? 1024 ** 2 : 1;
      const value = Number.parseInt(text, 10) * unit;
      if (value < 1 || value > most) {
        context.addIssue({ code: 'custom', message: error({ input: text }) });
      }
      return value;
    });
}
