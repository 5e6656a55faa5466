import type { Finding } from '../../../../src/tasks/guard/guard-result';
import { Restorer, redact, restore } from '../../../../src/tasks/guard/redaction';
import { TextVariant } from '../../../../src/tasks/guard/scan';
import { bytesOf, type Target } from '../target';

const LABELS = ['A', 'b-x', '', 'EMAIL'];
/** Bytes of a finding: part, label, start, length. */
const HEAD = 4;

/** The first byte says how many findings follow; the rest is UTF-16, in parts that NUL ends. */
function read(input: Uint8Array) {
  const count = (input[0] ?? 0) % 8;
  const rest = Buffer.from(input.subarray(1 + HEAD * count));
  const units = rest.subarray(0, rest.length - (rest.length % 2)).toString('utf16le');
  const texts = units.split('\0');
  const findings = Array.from({ length: count }, (_, i): readonly Finding[] => {
    const [part = 0, label = 0, start = 0, length = 0] = input.subarray(1 + HEAD * i);
    const at = part % texts.length;
    const text = texts[at] as string;
    const look = new TextVariant({ steps: '', part: at }, texts);
    const end = Math.min(text.length, start + length);
    const name = LABELS[label % LABELS.length] as string;
    return look.toOriginalSpans(Math.min(start, end), end).map((place) => ({
      check: 'c',
      label: name,
      score: label / 255,
      ...place,
      variant: 'text',
      action: 'redact',
    }));
  });
  return { texts, findings: findings.flat() };
}

/** Redaction: whole characters, all that was found and nothing else, and all of it comes back, also of a stream. */
export const redaction: Target = {
  seeds: [
    ['\x01\0\0\x02\x05', 'I am ann@example.org.'],
    ['\x03\0\0\0\x04\0\x01\x02\x09\x01\x03\0\xff', '\u{1f600}\u{1f468}\u200d\u{1f469} x\0 <A_1> x'],
    ['\x02\0\x03\x01\x01\0\x03\x03\x01', '<EMAIL_1>\ud800<EMAIL_'],
  ].map(([head = '', text = '']) => Buffer.concat([bytesOf(head), Buffer.from(text, 'utf16le')])),
  dictionary: ['<A_1>', '<EMAIL_2>', '<', '>', '_', '\u{1f600}', '\ud83d', '\ude00', '\0'].map(
    (one) => Buffer.from(one, 'utf16le').toString('latin1'),
  ),
  run: (input) => {
    const { texts, findings } = read(input);
    const { texts: redacted, map } = redact(texts, findings);
    for (const [part, text] of texts.entries()) {
      const own = findings.filter((one) => one.part === part);
      const places = own.map(({ start, end }) => [start as number, end as number] as const);
      if (places.some(([start, end]) => breaks(text, start) || breaks(text, end)))
        throw new Error(`within a character: ${JSON.stringify(text)}`);
      const covered = new Set(
        places.flatMap(([start, end]) => Array.from({ length: end - start }, (_, i) => start + i)),
      );
      const kept = text.split('').filter((_, i) => !covered.has(i));
      const written = redacted[part] as string;
      const rest = written.replaceAll(/<[A-Z0-9_]+_\d+>/g, (one) =>
        Object.hasOwn(map, one) ? '' : one,
      );
      if (rest !== kept.join('')) throw new Error(`${JSON.stringify([text, written, rest])}`);
      if (restore(written, map) !== text)
        throw new Error(`${JSON.stringify([text, written, map])}`);
      const restorer = new Restorer(map);
      const cut = (input[0] ?? 0) >> 3;
      const pieces = [written.slice(0, cut), written.slice(cut, 2 * cut), written.slice(2 * cut)];
      const streamed = pieces.map((piece) => restorer.push(piece)).join('') + restorer.end();
      if (streamed !== text) throw new Error(`${JSON.stringify([pieces, streamed, map])}`);
    }
  },
};

function breaks(text: string, place: number): boolean {
  return place > 0 && place < text.length && (text.codePointAt(place - 1) as number) > 0xffff;
}
