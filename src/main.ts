#!/usr/bin/env node
// First: it works beside the imports that follow.
import './native/open-early';

import path from 'node:path';
import { EXIT_USAGE, fail } from './commands/exit';
import { buildNative, installLibtorch, installWhatIsMissing } from './commands/install';
import { serve } from './commands/serve/run';
import { packageVersion } from './package-version';
import { ConfigError, helpText, readCommand } from './settings/config';
import { coresGranted } from './settings/cores';
import { descriptorsGranted } from './settings/descriptors';
import type { Place } from './settings/settings';

const PACKAGE_ROOT = path.resolve(__dirname, '..');

async function main(): Promise<void> {
  const place = {
    coresGranted: coresGranted(),
    descriptorsGranted: descriptorsGranted(),
    packageRoot: PACKAGE_ROOT,
    workingDirectory: process.cwd(),
  };
  const command = readCommand(process.argv.slice(2), place);
  if (command.type === 'help') process.stdout.write(helpText());
  else if (command.type === 'version') process.stdout.write(`${packageVersion(PACKAGE_ROOT)}\n`);
  else if (command.type === 'build') process.exitCode = await buildNative();
  else if (command.type === 'install') process.exitCode = await installLibtorch();
  else {
    const exitCode = await installWhatIsMissing();
    if (exitCode !== 0) process.exitCode = exitCode;
    else if (command.type === 'classify') await classify(command.args, place);
    else if (command.type === 'inspect') await inspect(command.args, place);
    else await serve(command.config, packageVersion(PACKAGE_ROOT));
  }
}

/** Loaded only here: services need nothing of it. */
async function classify(args: readonly string[], place: Place): Promise<void> {
  const { runClassify } =
    require('./commands/classify/command') as typeof import('./commands/classify/command');
  process.exitCode = await runClassify(args, place);
}

async function inspect(args: readonly string[], place: Place): Promise<void> {
  const { runInspect } =
    require('./commands/inspect/command') as typeof import('./commands/inspect/command');
  process.exitCode = await runInspect(args, place);
}

main().catch((error: unknown) => {
  if (!(error instanceof ConfigError)) throw error;
  for (const line of error.lines) fail(line, EXIT_USAGE);
});
