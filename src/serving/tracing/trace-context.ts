/** What a caller says of the trace that a request belongs to (W3C Trace Context, level 1). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** The caller's span: 16 of them. */
  readonly spanId: string;
  /** Bit 0: the caller records this trace. */
  readonly flags: number;
}

/** Version 00 has nothing behind its flags; a later version may, after another dash. */
const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Null for a header that is missing or malformed, which is to be ignored (sections 3.2.2, 4.3). */
export function parseTraceparent(
  header: string | readonly string[] | undefined,
): TraceContext | null {
  if (typeof header !== 'string') return null;
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header) ?? [];
  if (!traceId || !spanId || !flags) return null;
  if (version === '00' && rest !== undefined) return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}
