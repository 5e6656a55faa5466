/**
 * Counts patterns that make English hard to read, per 1,000 words of the documents, of the comments in src/ and
 * native/, and of the strings in src/. Fails if a kind has more than its limit.
 *
 *   node scripts/check-language.mjs                  # the counts
 *   node scripts/check-language.mjs --list [PREFIX]  # each match below a path, with file and line
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Most matches per 1,000 words. The aim is 4 for each kind: lower a limit whenever the count is below it. */
const LIMITS = { documents: 4, comments: 4, strings: 4 };

const VERBS =
  'is|are|was|were|has|have|had|comes?|came|goes|went|may|can|could|must|lies|stands|waits?|needs?|asks?|it|they|he|she|that|this|the|a|an|of';
const PATTERNS = {
  'clause instead of a noun': new RegExp(
    `\\b(what|who|whoever|how much|how many|how long)\\s+(${VERBS})\\b`,
    'gi',
  ),
  'sentence that begins with Of, Whose, Those':
    /(?:^|[.:;!?]\s+|\/\/+\s*|\/\*\*?\s*)(?:Of|Whose|Those|That of|Which)\s/g,
  beside: /\bbeside\b/gi,
  'in the place of': /\bin the place of\b/gi,
  nobody: /\b(?:nobody|no one|whoever)\b/gi,
  'things that speak':
    /\b(?:is|are|was|were|be) (?:told|asked|given up|looked at|held against|taken up|made anew)\b/gi,
  'coming and going':
    /\b(?:comes?|came|coming|goes|gone|went|going) (?:back|in|out|on|away|anew|again|to|beyond|behind|through)\b/gi,
  'there is none': /\b(?:there (?:is|are|was|were) (?:none|no)\b|that (?:is|are) there\b)/gi,
  'all but': /\b(?:all|everything|everyone|anything) but\b/gi,
  ', where': /, where\b/gi,
  'by turns': /\b(?:in turn|by turns|anew|of late|hardly|thereof)\b/gi,
  'dangling pronoun': /\b(?:the same|those|that|one) (?:of|that|which|who)\b/gi,
};

/** Code, links and tables' code spans are left blank, so that lines keep their numbers. */
const blank = (text) => text.replaceAll(/[^\n]/g, ' ');

function documentText(text) {
  return text.replaceAll(/```.*?```|`[^`]*`|\]\([^)]*\)/gs, blank);
}

/** The comments of a file of TypeScript, C++ or Rust, on the lines that they have there. */
function commentText(text) {
  let isInBlock = false;
  return text
    .split('\n')
    .map((line) => {
      const trimmed = line.trim();
      if (isInBlock || trimmed.startsWith('/*')) {
        isInBlock = !trimmed.includes('*/');
        return trimmed;
      }
      if (trimmed.startsWith('//')) return trimmed;
      const at = trimmed.indexOf(' // ');
      return at < 0 ? '' : trimmed.slice(at + 1);
    })
    .join('\n');
}

/** Strings of words, on their lines: what users, logs and OpenAPI show. */
function stringText(text) {
  let shown = '';
  let end = 0;
  for (const match of text.matchAll(/'((?:[^'\\\n]|\\.){12,})'|`((?:[^`\\]|\\.){12,}?)`/g)) {
    const string = match[1] ?? match[2];
    if (!string.includes(' ')) continue;
    shown += `${blank(text.slice(end, match.index))} ${string} `;
    end = match.index + match[0].length;
  }
  return shown;
}

/** Kinds of text in a file; empty: it is not read. */
function textsOf(file, text) {
  if (file.endsWith('.md')) {
    const isRead = !file.includes('/') || /^(?:docs|deploy|examples|bench)\//.test(file);
    return isRead ? { documents: documentText(text) } : {};
  }
  if (!/^(?:src|native)\/.*\.(?:ts|tsx|cc|h|rs)$/.test(file)) return {};
  return {
    comments: commentText(text),
    ...(file.startsWith('src/') && { strings: stringText(text) }),
  };
}

const SKIPPED = /^(?:test\/fixtures|native\/fuzz\/corpus|docs\/(?:decisions|evidence|project)\/)/;

/** Every match, and the number of words of each kind. */
export function readTexts(root = ROOT) {
  const files = execFileSync('git', ['-C', root, 'ls-files'], { encoding: 'utf8' }).split('\n');
  const words = { documents: 0, comments: 0, strings: 0 };
  const matches = [];
  for (const file of files.filter((name) => name !== '' && !SKIPPED.test(name))) {
    if (!/\.(?:md|ts|tsx|cc|h|rs)$/.test(file)) continue;
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const [kind, lines] of Object.entries(textsOf(file, text))) {
      words[kind] += lines.split(/\s+/).filter(Boolean).length;
      for (const [index, line] of lines.split('\n').entries()) {
        for (const [pattern, expression] of Object.entries(PATTERNS)) {
          for (const { 0: found } of line.matchAll(expression)) {
            matches.push({ kind, pattern, file, line: index + 1, found: found.trim() });
          }
        }
      }
    }
  }
  return { words, matches };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [option, prefix = ''] = process.argv.slice(2);
  const { words, matches } = readTexts();
  if (option === '--list') {
    for (const { kind, pattern, file, line, found } of matches) {
      if (file.startsWith(prefix)) console.log(`${file}:${line}: ${kind}: ${pattern}: ${found}`);
    }
  }
  for (const [kind, limit] of Object.entries(LIMITS)) {
    const count = matches.filter((match) => match.kind === kind).length;
    const rate = (1000 * count) / Math.max(1, words[kind]);
    console.log(
      `${kind}: ${rate.toFixed(1)} hard-to-read patterns per 1,000 words, limit ${limit}`,
    );
    if (rate > limit) process.exitCode = 1;
  }
}
