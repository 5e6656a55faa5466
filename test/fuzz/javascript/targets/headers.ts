import { originForm } from '../../../../src/http/request-head';
import { parseTraceparent } from '../../../../src/serving/tracing/trace-context';
import { bytesOf, type Target } from '../target';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Against the grammar of the recommendation, field by field. */
export const traceparent: Target = {
  seeds: [
    TRACEPARENT,
    TRACEPARENT.replace('00-', 'cc-'),
    TRACEPARENT.replace('00-', 'ff-'),
    `fe${TRACEPARENT.slice(2)}-x`,
    TRACEPARENT.replace('00f067aa0ba902b7', '0'.repeat(16)),
  ].map(bytesOf),
  dictionary: ['-', '00', 'ff', 'f', '0'.repeat(16), 'A', '\n', ',', ' ', TRACEPARENT],
  run: (input) => {
    const header = Buffer.from(input).toString('latin1');
    const parsed = parseTraceparent(header);
    const expected = readFields(header);
    if (JSON.stringify(parsed) !== JSON.stringify(expected)) {
      throw new Error(`${JSON.stringify(header)}: ${JSON.stringify(parsed)}`);
    }
  },
};

function readFields(header: string): ReturnType<typeof parseTraceparent> {
  const [version = '', traceId = '', spanId = '', flags = ''] = header.split('-');
  const areHex = [
    [version, 2],
    [traceId, 32],
    [spanId, 16],
    [flags, 2],
  ].every(
    ([field, length]) =>
      (field as string).length === length &&
      [...(field as string)].every((digit) => '0123456789abcdef'.includes(digit)),
  );
  const rest = header.slice([version, traceId, spanId, flags].join('-').length);
  const isAllowed = rest === '' || (version !== '00' && /^-[^\n\r\u2028\u2029]*$/.test(rest));
  const isZero = Number(`0x${traceId}`) === 0 || Number(`0x${spanId}`) === 0;
  if (!areHex || !isAllowed || isZero || version === 'ff') return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** A path without an origin and a fragment, or what was no path before either. */
export const requestTarget: Target = {
  seeds: ['/health?x', 'http://any.host:80/analyze?x=y#z', '*', 'http://[::1'].map(bytesOf),
  dictionary: ['/', '//', '#', '?', ':', '://', 'http', 'x', '@', '[', ']', '%', '.', '..', '\\'],
  run: (input) => {
    const given = Buffer.from(input).toString('latin1');
    const path = originForm(given);
    const isKept = path === given && !given.startsWith('/');
    const isPath = path.startsWith('/') && !path.includes('#');
    // Behind an origin nothing is invented but the one slash.
    const isPart = given.includes(path) || given.includes(path.slice(1));
    if ((!isKept && !isPath) || !isPart || originForm(path) !== path) {
      throw new Error(`${JSON.stringify(given)}: ${JSON.stringify(path)}`);
    }
  },
};
