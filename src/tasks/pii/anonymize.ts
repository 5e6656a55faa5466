import { OperatorError, type Parameters } from './operators';

/** Maximum length of the new text, and of all entities together, which can overlap. */
const MAX_LENGTH = 4_000_000;

/** Entity of a text. Offsets in UTF-16 units. */
export interface PiiSpan {
  readonly start: number;
  readonly end: number;
  readonly entity: string;
  /** Null: unknown, when entities are restored. */
  readonly score: number | null;
}

/** Name of an operator and its parameters, by entity; `DEFAULT`: of the other entities. */
export type Operators = Readonly<Record<string, Parameters & { readonly type: string }>>;

export interface ReplacedItem {
  /** Offsets in the new text. */
  readonly start: number;
  readonly end: number;
  readonly entity: string;
  readonly text: string;
  readonly operator: string;
  readonly score: number | null;
}

type OperatorTable = Readonly<
  Record<string, (text: string, entity: string, parameters: Parameters) => string>
>;

/**
 * Resolves conflicts between entities. Intersecting entities of one type become one with the higher score. Of other
 * entities, one within another is dropped, and of equal spans the one with the highest score remains. Neighbors of one
 * type with only spaces between them become one. Source: presidio-anonymizer, anonymizer_engine.py.
 */
export function resolveConflicts(text: string, spans: readonly PiiSpan[]): readonly PiiSpan[] {
  const ordered = spans.toSorted((a, b) => a.start - b.start || a.end - b.end);
  return mergeNeighbors(text, dropContained(mergeIntersections(ordered)));
}

function mergeIntersections(spans: readonly PiiSpan[]): readonly PiiSpan[] {
  const last = new Map<string, number>();
  const merged: (PiiSpan | null)[] = [];
  for (const span of spans) {
    const index = last.get(span.entity);
    const previous = index === undefined ? null : merged[index];
    last.set(span.entity, merged.length);
    if (previous && span.start < previous.end) {
      merged[index as number] = null;
      merged.push({
        ...span,
        start: Math.min(previous.start, span.start),
        end: Math.max(previous.end, span.end),
        score: Math.max(previous.score ?? 0, span.score ?? 0),
      });
    } else merged.push(span);
  }
  return merged.filter((span) => span !== null);
}

function dropContained(spans: readonly PiiSpan[]): readonly PiiSpan[] {
  const order = spans
    .map((span, index) => ({ span, index }))
    .sort((a, b) => a.span.start - b.span.start || b.span.end - a.span.end);
  const dropped = new Set<number>();
  let highestEnd = -1;
  for (let first = 0; first < order.length; ) {
    const { start, end } = (order[first] as (typeof order)[number]).span;
    let next = first;
    while (order[next]?.span.start === start && order[next]?.span.end === end) next++;
    const group = order.slice(first, next);
    const best = group.toSorted(
      (a, b) => (b.span.score ?? 0) - (a.span.score ?? 0) || b.index - a.index,
    )[0];
    for (const one of group) {
      if (highestEnd >= end || one !== best) dropped.add(one.index);
    }
    highestEnd = Math.max(highestEnd, end);
    first = next;
  }
  return spans.filter((_, index) => !dropped.has(index));
}

function mergeNeighbors(text: string, spans: readonly PiiSpan[]): readonly PiiSpan[] {
  const merged: PiiSpan[] = [];
  for (const span of spans) {
    const previous = merged.at(-1);
    const isNeighbor =
      previous?.entity === span.entity && /^ +$/.test(text.slice(previous.end, span.start));
    if (isNeighbor && previous) merged[merged.length - 1] = { ...span, start: previous.start };
    else merged.push(span);
  }
  return merged;
}

/**
 * Replaces the spans of a text by the results of operators.
 *
 * @param fallback operator of entities without their own and without `DEFAULT`
 * @returns the new text, and its items from the last to the first
 * @throws OperatorError
 */
export function replaceSpans(
  text: string,
  spans: readonly PiiSpan[],
  {
    operators,
    table,
    fallback,
  }: { readonly operators: Operators; readonly table: OperatorTable; readonly fallback: string },
): { readonly text: string; readonly items: readonly ReplacedItem[] } {
  const items: (Omit<ReplacedItem, 'start' | 'end'> & { readonly fromEnd: number })[] = [];
  /** Parts of the new text, from the last to the first. */
  const parts: string[] = [];
  let length = 0;
  const push = (part: string): void => {
    parts.push(part);
    length += part.length;
    if (length > MAX_LENGTH) {
      throw new OperatorError(`The new text would have more than ${MAX_LENGTH} characters`);
    }
  };
  let lastStart = text.length;
  for (const { start, end, entity, score } of requireWork(spans)) {
    const { type: operator, ...parameters } = operators[entity] ??
      operators.DEFAULT ?? { type: fallback };
    const operate = Object.hasOwn(table, operator) ? table[operator] : undefined;
    if (!operate) throw new OperatorError(`Invalid operator class '${operator}'.`);
    const replaced = operate(text.slice(start, end), entity, parameters);
    push(text.slice(Math.min(end, lastStart), lastStart));
    push(replaced);
    lastStart = start;
    items.push({ entity, text: replaced, operator, score, fromEnd: length });
  }
  push(text.slice(0, lastStart));
  return {
    text: parts.reverse().join(''),
    items: items.map(({ fromEnd, ...item }) => {
      const start = length - fromEnd;
      return { start, end: start + item.text.length, ...item };
    }),
  };
}

/** Spans from the last to the first. @throws OperatorError: they overlap so much that the work is too long */
function requireWork(spans: readonly PiiSpan[]): readonly PiiSpan[] {
  const work = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  if (work > MAX_LENGTH) {
    throw new OperatorError(`The results have more than ${MAX_LENGTH} characters in total`);
  }
  return spans.toSorted((a, b) => b.start - a.start || b.end - a.end);
}
