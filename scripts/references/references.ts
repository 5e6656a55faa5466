/** Generated parts of the documentation, from the code. scripts/references.mjs bundles and runs this module. */
import pino from 'pino';
import { z } from 'zod';
import { helpText as batchHelp } from '../../src/commands/batch/batch-command';
import { BATCH_COMMANDS } from '../../src/commands/batch/commands';
import { HELP as CALIBRATE_HELP } from '../../src/commands/calibrate/calibrate-command';
import { HELP as IMPORT_HELP } from '../../src/commands/import-torchserve/import-torchserve-command';
import { HELP as INSPECT_HELP } from '../../src/commands/inspect/inspect-command';
import { createModelProtocols } from '../../src/commands/serve/mounts';
import { packageVersion } from '../../src/lib/package-version';
import { ModelFileError } from '../../src/models/files';
import { keyRows } from '../../src/models/keys/markdown-table';
import { describeApi } from '../../src/protocols/openapi/document';
import { ERROR_DESCRIPTIONS } from '../../src/protocols/openapi/error-descriptions';
import { modelJson } from '../../src/repository/model-json';
import { ERRORS, type ErrorCode } from '../../src/serving/errors';
import { flagOf, readConfig } from '../../src/settings/config';
import { readEnvironment } from '../../src/settings/environment';
import { helpText, TOPICS } from '../../src/settings/help';
import { SETTINGS, type Setting } from '../../src/settings/settings';
import { Streams } from '../../src/streaming/streams';
import { guardSchema } from '../../src/tasks/guard/guard-file';
import { TASKS } from '../../src/tasks/registry';
import { toServedModel } from '../../src/tasks/served-model';
import { signalJson } from '../../src/tasks/signal-classification/model-settings';
import { alternativesOf, schemaTable } from './schema-rows';

/** Generated blocks by page and name: the text between `<!-- generated: NAME -->` and `<!-- end -->`. */
export const BLOCKS: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/reference/cli.md': {
    'libtorch-serve': () => text(helpText(true)),
    ...Object.fromEntries(
      Object.entries(BATCH_COMMANDS).map(([name, command]) => [
        name,
        () => text(batchHelp(command)),
      ]),
    ),
    calibrate: () => text(CALIBRATE_HELP),
    inspect: () => text(INSPECT_HELP),
    'import-torchserve': () => text(IMPORT_HELP),
  },
  'docs/reference/settings.md': Object.fromEntries(
    Object.entries(TOPICS).map(([topic, names]) => [topic, () => settingsTable(names)]),
  ),
  'docs/reference/errors.md': { errors: errorSections },
  'docs/reference/config-keys.md': { keys: () => keyRows().join('\n') },
  'docs/reference/model-json.md': {
    keys: () => schemaTable(z.toJSONSchema(modelJson, { io: 'input' })),
  },
  'docs/reference/signal-json.md': {
    keys: () => schemaTable(z.toJSONSchema(signalJson, { io: 'input' })),
  },
  'docs/reference/guard-json.md': { policy: guardTables },
};

/** Generated files by path. */
export const FILES: Readonly<Record<string, () => string>> = {
  'docs/reference/guard.schema.json': () => json(guardSchema()),
  ...Object.fromEntries(
    TASKS.map(({ name }) => [`docs/reference/openapi/${name}.json`, () => json(openApi(name))]),
  ),
};

function text(content: string): string {
  return `\`\`\`text\n${content.trimEnd()}\n\`\`\``;
}

function json(content: unknown): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

function settingsTable(names: readonly (keyof typeof SETTINGS)[]): string {
  const rows = names.map((name) => {
    const { help, shownDefault, default: fallback }: Setting = SETTINGS[name];
    const shown = shownDefault ?? `\`${fallback}\``;
    return `| \`${name}\` | \`${flagOf(name)}\` | ${withCode(shown)} | ${withCode(help)} |`;
  });
  return ['| Variable | Flag | Default | Effect |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

/** Names of settings, paths and operators in code spans. */
function withCode(line: string): string {
  return line.replaceAll(
    /(?<!`)(?:\b[A-Z]+(?:_[A-Z]+)+\b|(?<= )\/[a-z]+|\w+::\w+(?:,\w+::\w+)*)/g,
    '`$&`',
  );
}

/** A section per error code, in the order of the HTTP status. */
function errorSections(): string {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).toSorted(
    (a, b) => ERRORS[a].http - ERRORS[b].http,
  );
  return codes
    .map((code) => {
      const { http, grpc, rejection } = ERRORS[code];
      const { cause, fix } = ERROR_DESCRIPTIONS[code];
      const retry = rejection
        ? ` The response has \`Retry-After\`; the metric \`reason\` is \`${rejection}\`.`
        : '';
      return `### ${code}\n\nHTTP ${http}, gRPC ${grpc}. ${cause}${retry}\n\n**Fix.** ${fix}`;
    })
    .join('\n\n');
}

/** Tables of guard.json: the policy, and each type of check. */
function guardTables(): string {
  const schema = guardSchema() as { properties: Record<string, { items?: object }> };
  const { checks, ...policy } = schema.properties;
  const checkTables = alternativesOf(checks?.items ?? {}).map(
    ([type, node]) => `### Check: ${type}\n\n${schemaTable(node)}`,
  );
  const table = schemaTable({ ...schema, properties: { ...policy } });
  return [`### Policy\n\n${table}`, ...checkTables].join('\n\n');
}

/** OpenAPI document of a service with one model of a task, which is not loaded. */
function openApi(taskName: string): object {
  const task = TASKS.find(({ name }) => name === taskName) as (typeof TASKS)[number];
  const environment = { ...readEnvironment(process.cwd()), variables: {} };
  const config = readConfig(['sentiment'], environment);
  const version = packageVersion(process.cwd());
  const streams = new Streams(config, pino({ enabled: false }));
  const served = toServedModel('model', task, 'model', new ModelFileError('it is loading'));
  const { protocols, info } = createModelProtocols(served, {
    config,
    version,
    streams,
    batches: null,
  });
  return describeApi({ task, info, protocols }, null);
}
