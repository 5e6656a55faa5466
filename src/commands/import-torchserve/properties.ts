const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

/**
 * A file of Java properties (`java.util.Properties.load`), as TorchServe's config.properties is one. Of a
 * key that stands twice the last value counts.
 */
export function parseProperties(text: string): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const [, key = '', value = ''] =
      /^((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)$/su.exec(line) ?? [];
    properties.set(unescaped(key), unescaped(value).trim());
  }
  return properties;
}

/** Without comments and empty lines; one that ends with a backslash goes on in the next. */
function logicalLines(text: string): readonly string[] {
  const lines: string[] = [];
  let begun = '';
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const line = natural.trimStart();
    if (begun === '' && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue;
    const backslashes = /\\*$/.exec(line)?.[0].length ?? 0;
    if (backslashes % 2 === 1) {
      begun += line.slice(0, -1);
    } else {
      lines.push(begun + line);
      begun = '';
    }
  }
  return begun === '' ? lines : [...lines, begun];
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gsu, (_all, code?: string, one = '') =>
    code ? String.fromCharCode(Number.parseInt(code, 16)) : (ESCAPES[one] ?? one),
  );
}
