import type { Block, Page } from '../docs/markdown';

/** What is done with a command, or a program, of a page. */
export type Step =
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'compared'; readonly command: string; readonly output: string }
  | { readonly kind: 'module'; readonly code: string };

/** A command goes on after a backslash, and in lines that begin with four spaces. */
function goesOn(before: string | undefined, line: string): boolean {
  return before?.endsWith('\\') === true || line.startsWith('    ');
}

/** `sh`: commands alone. */
function commandsOf({ text }: Block): readonly Step[] {
  const commands: string[] = [];
  for (const line of text.split('\n')) {
    const last = commands.at(-1);
    if (goesOn(last, line)) commands[commands.length - 1] = `${last}\n${line}`;
    else if (line.trim() !== '' && !line.startsWith('#')) commands.push(line);
  }
  return commands.map((command) => ({ kind: 'command', command: withoutComment(command) }));
}

function withoutComment(command: string): string {
  return command.replaceAll(/ {2,}#.*$/gm, '').trim();
}

/** `console`: each command behind `$ `, and its output below it. */
function comparedOf({ text }: Block): readonly Step[] {
  const steps: { kind: 'compared'; command: string; output: string }[] = [];
  for (const line of text.split('\n')) {
    const last = steps.at(-1);
    if (line.startsWith('$ ')) {
      steps.push({ kind: 'compared', command: line.slice(2), output: '' });
    } else if (!last) {
      throw new Error(`a console block begins with "${line}", expected "$ " and a command`);
    } else if (last.output === '' && goesOn(last.command, line)) {
      last.command += `\n${line}`;
    } else {
      last.output += `${line}\n`;
    }
  }
  return steps.map((step) => ({ ...step, output: step.output.trimEnd() }));
}

export function stepsOf({ blocks }: Page): readonly Step[] {
  return blocks.flatMap((block): readonly Step[] => {
    if (block.language === 'sh') return commandsOf(block);
    if (block.language === 'console') return comparedOf(block);
    if (block.language === 'js') return [{ kind: 'module', code: block.text }];
    return [];
  });
}
