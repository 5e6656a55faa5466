import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../src/settings/settings';
import { ROOT } from './service';

export const DEPLOY = path.join(ROOT, 'deploy');

/** What a YAML file of deploy/ holds, one document or more. Anchors and merge keys resolved. */
export function readDeployed(file: string): readonly unknown[] {
  const text = readFileSync(path.join(DEPLOY, file), 'utf8');
  return parseAllDocuments(text, { merge: true, version: '1.1' }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}

/** Of these variables, those that are no settings of the service. */
export function unknownSettings(names: readonly string[]): readonly string[] {
  return names.filter((name) => !Object.hasOwn(SETTINGS, name));
}

/** How long a service may take to stop, by default. */
export const SHUTDOWN_S = Number(SETTINGS.SHUTDOWN_TIMEOUT_MS.default) / 1000;
