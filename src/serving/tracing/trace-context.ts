/** Trace of a request, as its caller sent it (W3C Trace Context, level 1). */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** Span of the caller: 16 lower-case hexadecimal digits. */
  readonly spanId: string;
  /** Trace flags. Bit 0: the caller records the trace. */
  readonly flags: number;
}

/** Later versions than 00 may have further fields after the flags. */
const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Parses a `traceparent` header. Null: it is missing or malformed, and ignored (sections 3.2.2, 4.3). */
export function parseTraceparent(
  header: string | readonly string[] | undefined,
): TraceContext | null {
  if (typeof header !== 'string') return null;
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header) ?? [];
  if (!traceId || !spanId || !flags) return null;
  if (version === '00' && rest !== undefined) return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}
