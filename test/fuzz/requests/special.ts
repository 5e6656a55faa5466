import type { Draw } from '../draw';
import { CODE_POINT_BLOCKS, codePoints, makeString } from '../strings';
import type { Case } from './cases';
import { frame } from './framing';
import { expectationOf } from './oracle';
import type { Route } from './routes';

/** Requests that hold every code point there is, surrogates alone among them; or every `step`th block. */
export function makeSweep(routes: readonly Route[], step: number): readonly Case[] {
  const cases: Case[] = [];
  for (let block = 0; block < CODE_POINT_BLOCKS; block += step) {
    const text = codePoints(block);
    for (const route of routes) {
      if (route.isList) continue;
      const body =
        route.service === 'sentiment'
          ? { text }
          : { signal: Array.from({ length: 256 }, (_, i) => i), patient_id: text };
      // JSON.stringify escapes surrogates that stand alone, so that the bytes are UTF-8.
      const bytes = Buffer.from(JSON.stringify(body));
      cases.push(wholeCase(`U-${block}`, 'code points', route, bytes));
    }
  }
  return cases;
}

/** A body around the limit, or of a list around its longest. */
export function makeLarge(
  draw: Draw,
  routes: readonly Route[],
  { bodyLimit, index }: { readonly bodyLimit: number; readonly index: number },
): Case {
  const route = draw.pick(routes);
  const size = bodyLimit + draw.pick([-100_000, -1, 0, 0, 1, 2, 70_000]);
  const body = Buffer.from(draw.chance(0.3) ? longList(draw, route) : filled(draw, route, size));
  const id = `L-${index}`;
  if (body.length <= bodyLimit) return wholeCase(id, 'large', route, body, draw);
  const over = wholeCase(id, 'too large', route, body, draw);
  return { ...over, expected: { status: 413, detail: /^The body exceeds the limit of/ } };
}

function wholeCase(id: string, what: string, route: Route, body: Buffer, draw?: Draw): Case {
  const { path } = route;
  const headers = [`X-Request-Id: ${id}`];
  const plain = `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n`;
  const bytes = draw
    ? frame(draw, `POST ${path}`, headers, body)
    : Buffer.concat([Buffer.from(plain), body]);
  return { what, id, method: 'POST', path, bytes, expected: expectationOf(body, route) };
}

/** Exactly `size` bytes: one text, one signal or one patient's name of it, or white space. */
function filled(draw: Draw, route: Route, size: number): string {
  const unit = draw.pick(['x', ' ', '(', 'word ', '0', ',0', '\\u0000', '[', '"a",', '\\ud800']);
  const [before, after] = draw.pick([
    [`{"${route.field}":"`, '"}'],
    [`{"${route.field}":["`, '"]}'],
    [`{"${route.field}":[0`, ']}'],
    [`{"other":"`, '"}'],
    ['', '{}'],
  ] as const);
  const room = size - before.length - after.length;
  const units = unit.repeat(Math.floor(room / unit.length));
  return before + units + ' '.repeat(room - units.length) + after;
}

function longList(draw: Draw, { field, service, isList }: Route): string {
  const length = draw.pick([1000, 1024, 1025, 5000]);
  const element = service === 'eeg' ? '[1,2]' : JSON.stringify(makeString(draw, 20));
  return `{"${field}":${isList ? `[${Array(length).fill(element)}]` : element}}`;
}
