import { parseTraceparent } from '../../src/serving/tracing/trace-context';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

it.each([
  [`00-${TRACE}-${SPAN}-01`, 1],
  [`00-${TRACE}-${SPAN}-00`, 0],
  [`00-${TRACE}-${SPAN}-ff`, 255],
  // A later version may say more, behind another dash.
  [`cc-${TRACE}-${SPAN}-01`, 1],
  [`cc-${TRACE}-${SPAN}-01-what-the-future-holds`, 1],
  [`fe-${TRACE}-${SPAN}-01-`, 1],
])('reads %s', (header, flags) => {
  expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, flags });
});

it.each([
  [undefined],
  [''],
  ['nonsense'],
  [`00-${TRACE}-${SPAN}`],
  [`00-${TRACE}-${SPAN}-01-`],
  [`00-${TRACE}-${SPAN}-01-more`],
  [`00-${TRACE}-${SPAN}-1`],
  [`00-${TRACE}-${SPAN}-0g`],
  [`0-${TRACE}-${SPAN}-01`],
  [`ff-${TRACE}-${SPAN}-01`],
  [`cc-${TRACE}-${SPAN}-01.what`],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`],
  [`00-${TRACE.slice(1)}-${SPAN}-01`],
  [`00-${TRACE}0-${SPAN}-01`],
  [`00-${'0'.repeat(32)}-${SPAN}-01`],
  [`00-${TRACE}-${'0'.repeat(16)}-01`],
  [`00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  [` 00-${TRACE}-${SPAN}-01\n`],
])('ignores %j', (header) => {
  expect(parseTraceparent(header)).toBeNull();
});
