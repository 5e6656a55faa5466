import { countCodePoints } from '../../lib/code-points';
import type { Vocabulary } from '../../native/engine';

/** Token, word or entity with its label. */
export interface LabeledSpan {
  readonly label: string;
  readonly score: number;
  /** Start offset in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly index: number | null;
  /** Builds the text of the span on demand: most spans are outside of all entities. */
  readonly word: () => string;
}

/** Groups adjacent tokens of the same entity. The prefix `B-` starts a new entity. */
export function groupEntities(
  tagged: readonly LabeledSpan[],
  vocabulary: Vocabulary,
): readonly LabeledSpan[] {
  const groups: LabeledSpan[][] = [];
  let tag: string | null = null;
  for (const one of tagged) {
    const { begins, tag: own } = tagOf(one.label);
    if (own === tag && !begins) groups.at(-1)?.push(one);
    else groups.push([one]);
    tag = own;
  }
  return groups.map((group) => groupOf(group, vocabulary));
}

/** Splits a label into its prefix and entity. Labels without a prefix count as `I-`. */
function tagOf(label: string): { readonly begins: boolean; readonly tag: string } {
  const begins = label.startsWith('B-');
  return { begins, tag: begins || label.startsWith('I-') ? label.slice(2) : label };
}

function groupOf(group: readonly LabeledSpan[], vocabulary: Vocabulary): LabeledSpan {
  const first = group[0] as LabeledSpan;
  return {
    label: first.label.slice(first.label.indexOf('-') + 1),
    score: group.reduce((sum, { score }) => sum + score, 0) / group.length,
    start: first.start,
    end: (group.at(-1) as LabeledSpan).end,
    index: null,
    word: () => vocabulary.join(group.map(({ word }) => word())),
  };
}

/**
 * Drops overlapping spans, which result from overlapping windows. Keeps the longer span, then the
 * span with the higher score.
 */
export function dropOverlaps(all: readonly LabeledSpan[], text: string): readonly LabeledSpan[] {
  const kept: LabeledSpan[] = [];
  for (const next of all.toSorted((a, b) => a.start - b.start)) {
    const last = kept.at(-1);
    if (!last || next.start >= last.end) {
      kept.push(next);
    } else if (isBetter(next, last, text)) {
      kept[kept.length - 1] = next;
    }
  }
  return kept;
}

/** Compares lengths in code points, as Python does. */
function isBetter(next: LabeledSpan, last: LabeledSpan, text: string): boolean {
  const [length, before] = [next, last].map(({ start, end }) =>
    countCodePoints(text, start, end),
  ) as [number, number];
  return length > before || (length === before && next.score > last.score);
}
