import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { marked, type Token, type Tokens } from 'marked';
import { ROOT } from '../helpers/service';

/** What model cards have before their title. */
const FRONT_MATTER = /^---\n.*?\n---\n/s;

/** A fenced block: its language, '' where it says none, and its lines. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

export interface Heading {
  readonly depth: number;
  readonly text: string;
}

export interface Page {
  /** From the root of the repository, with `/`. */
  readonly file: string;
  readonly text: string;
  readonly headings: readonly Heading[];
  /** What may stand behind `#` in a link to it. */
  readonly anchors: ReadonlySet<string>;
  /** Of links and of images. */
  readonly links: readonly string[];
  readonly blocks: readonly Block[];
  /** What stands between backticks in the text. */
  readonly spans: readonly string[];
}

/** All that git has or would take, from the root of the repository. */
export function filesOfRepository(): readonly string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const output = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return output.split('\0').filter(Boolean);
}

export function readPage(file: string): Page {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const headings: Heading[] = [];
  const links: string[] = [];
  const blocks: Block[] = [];
  const spans: string[] = [];
  marked.walkTokens(marked.lexer(text.replace(FRONT_MATTER, '')), (token) => {
    if (token.type === 'heading') {
      headings.push({ depth: token.depth, text: plainText(token.tokens ?? []) });
    } else if (token.type === 'link' || token.type === 'image') {
      links.push(token.href);
    } else if (token.type === 'code') {
      blocks.push({ language: (token as Tokens.Code).lang ?? '', text: token.text });
    } else if (token.type === 'codespan') {
      spans.push(token.text);
    }
  });
  return { file, text, headings, anchors: anchorsOf(headings), links, blocks, spans };
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens ? plainText(token.tokens) : (token as Tokens.Text).text,
    )
    .join('');
}

/** As GitHub makes them: https://github.com/gjtorikian/html-pipeline, toc_filter. */
function anchorsOf(headings: readonly Heading[]): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const { text } of headings) {
    const anchor = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}
