import { roundToFourDecimals } from '../../../numeric/rounding';
import type { Answered, Layout } from '../layout';
import type { Answer } from '../task';
import type { Lines } from './encoder';
import { toJson } from './values';

/** One object a line: the columns of the row, then the answer as the batch route has it. */
export class JsonLinesEncoder implements Lines {
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  header(): string {
    return '';
  }

  lines(rows: readonly Answered[]): string {
    let text = '';
    for (const { row, answer } of rows) {
      if (this.#layout.keepsLines && row.json !== null) {
        // A line of a person's own keeps its numbers digit by digit.
        text += `${row.json.slice(0, -1).trimEnd()},${this.#answer(answer)}}\n`;
        continue;
      }
      const kept = this.#layout
        .keptOf(row)
        .map((name) => `${JSON.stringify(name)}:${toJson(row.fields[name])}`);
      text += `{${[...kept, this.#answer(answer)].join(',')}}\n`;
    }
    return text;
  }

  /** Members of an object, without its braces. */
  #answer({ label, score, scores, truncated }: Answer): string {
    const { names, labels, probabilities } = this.#layout;
    const members: { [name: string]: unknown } = {
      [names.label]: label,
      [names.score]: roundToFourDecimals(score),
    };
    if (labels.length > 0) {
      members[probabilities] = Object.fromEntries(
        labels.map((name, index) => [name, roundToFourDecimals(scores[index] as number)]),
      );
    }
    if (names.truncated) members[names.truncated] = truncated;
    return JSON.stringify(members).slice(1, -1);
  }
}
