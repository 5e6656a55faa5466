import Papa from 'papaparse';
import { type Answered, answerValues, type Layout } from '../layout';
import { fieldOf } from '../rows';
import type { Lines } from './encoder';
import { toText } from './values';

/** CSV as RFC 4180 has it, in UTF-8, with line feeds. */
export class CsvEncoder implements Lines {
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  header(): string {
    const { kept, answers } = this.#layout;
    return unparse([[...(kept ?? []), ...answers].map(({ name }) => name)]);
  }

  lines(rows: readonly Answered[]): string {
    const kept = this.#layout.kept ?? [];
    return unparse(
      rows.map(({ row, answer }) => [
        ...kept.map(({ name }) => toText(fieldOf(row, name))),
        ...answerValues(answer, this.#layout),
      ]),
    );
  }
}

function unparse(rows: readonly (readonly unknown[])[]): string {
  if (rows.length === 0) return '';
  return `${Papa.unparse(rows as unknown[][], { newline: '\n' })}\n`;
}
