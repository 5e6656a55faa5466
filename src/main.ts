#!/usr/bin/env node
// First: it works beside the imports that follow.
import './native/open-early';

import path from 'node:path';
import { EXIT_USAGE, fail } from './commands/exit';
import { buildNative, installLibtorch, installWhatIsMissing } from './commands/install';
import { serve } from './commands/serve/run';
import { packageVersion } from './package-version';
import { ConfigError, helpText, readCommand } from './settings/config';
import { type Environment, readEnvironment } from './settings/environment';

const PACKAGE_ROOT = path.resolve(__dirname, '..');

async function main(): Promise<void> {
  const environment = readEnvironment(PACKAGE_ROOT);
  const command = readCommand(process.argv.slice(2), environment);
  if (command.type === 'help') process.stdout.write(helpText());
  else if (command.type === 'version') process.stdout.write(`${packageVersion(PACKAGE_ROOT)}\n`);
  else if (command.type === 'build') process.exitCode = await buildNative();
  else if (command.type === 'install') process.exitCode = await installLibtorch();
  else {
    const exitCode = await installWhatIsMissing();
    if (exitCode !== 0) process.exitCode = exitCode;
    else if (command.type === 'classify') await classify(command.args, environment);
    else if (command.type === 'inspect') await inspect(command.args, environment);
    else await serve(command.config, packageVersion(PACKAGE_ROOT));
  }
}

/** Loaded only here: services need nothing of it. */
async function classify(args: readonly string[], environment: Environment): Promise<void> {
  const { runClassify } =
    require('./commands/classify/command') as typeof import('./commands/classify/command');
  process.exitCode = await runClassify(args, environment);
}

async function inspect(args: readonly string[], environment: Environment): Promise<void> {
  const { runInspect } =
    require('./commands/inspect/command') as typeof import('./commands/inspect/command');
  process.exitCode = await runInspect(args, environment);
}

main().catch((error: unknown) => {
  if (!(error instanceof ConfigError)) throw error;
  for (const line of error.lines) fail(line, EXIT_USAGE);
});
