const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

/**
 * Parses a Java properties file (`java.util.Properties.load`), such as TorchServe's config.properties. The last value
 * of a duplicate key applies.
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

/** Lines without comments and blank lines. A backslash at the end of a line joins it with the next line. */
function logicalLines(text: string): readonly string[] {
  const lines: string[] = [];
  let continued = '';
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const line = natural.trimStart();
    if (continued === '' && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue;
    const backslashes = /\\*$/.exec(line)?.[0].length ?? 0;
    if (backslashes % 2 === 1) {
      continued += line.slice(0, -1);
    } else {
      lines.push(continued + line);
      continued = '';
    }
  }
  return continued === '' ? lines : [...lines, continued];
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gsu, (_all, code?: string, one = '') =>
    code ? String.fromCharCode(Number.parseInt(code, 16)) : (ESCAPES[one] ?? one),
  );
}
