// Files of torch.export.save, taken apart, changed and put together again.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from '../helpers/service';
import type { HostileCase, Json } from './case';
import { type ZipEntry, zip } from './pickle-writer';

const SIGNALS = path.join(FIXTURES, 'exported', 'signals');
const MODEL = 'eeg_model.pt2';

/** The entries of an archive, none of them deflated, as PyTorch writes it: by its zip64 directory. */
export function readZip(file: Buffer): ZipEntry[] {
  const end = file.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const entries: ZipEntry[] = [];
  let at = file.readUInt32LE(end + 16);
  while (file.toString('latin1', at, at + 4) === 'PK\x01\x02') {
    const size = file.readUInt32LE(at + 24);
    const nameEnd = at + 46 + file.readUInt16LE(at + 28);
    const local = file.readUInt32LE(at + 42);
    const begin = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    entries.push({
      name: file.toString('utf8', at + 46, nameEnd),
      content: file.subarray(begin, begin + size),
    });
    at = nameEnd + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
  return entries;
}

/** A file that can be changed: its records by what their names end with. */
export class Archive {
  entries: ZipEntry[];

  constructor(bytes: Buffer) {
    this.entries = readZip(bytes);
  }

  find(ending: string): ZipEntry {
    const entry = this.entries.find(({ name }) => name.endsWith(ending));
    if (!entry) throw new Error(`no record ${ending}`);
    return entry;
  }

  put(ending: string, content: Buffer | string): void {
    const entry = this.find(ending);
    this.replace(entry, { name: entry.name, content: Buffer.from(content) });
  }

  replace(entry: ZipEntry, ...others: readonly ZipEntry[]): void {
    this.entries.splice(this.entries.indexOf(entry), 1, ...others);
  }

  /** What `edit` returns, if anything, takes the content's place. */
  editJson(ending: string, edit: (content: Json) => unknown): void {
    const content: Json = JSON.parse(this.find(ending).content.toString());
    const instead = edit(content);
    this.put(ending, JSON.stringify(instead === undefined ? content : instead));
  }
}

/** A file of test/fixtures/exported/signals. */
export const good = (model: string): Buffer => readFileSync(path.join(SIGNALS, `${model}.pt2`));

/** Whether the load fails, as most do, or the file is as it should be and each request fails. */
export type FailsAt = 'load' | 'request';

/** A case made of a good file, by its bytes. */
export function bytesCase(
  name: string,
  from: Buffer,
  change: (bytes: Buffer) => Buffer,
  error: RegExp,
  failsAt: FailsAt = 'load',
): HostileCase {
  return {
    name,
    service: 'eeg',
    base: null,
    file: MODEL,
    failsAt,
    make: (folder) => writeFileSync(path.join(folder, MODEL), change(Buffer.from(from))),
    error:
      failsAt === 'load'
        ? new RegExp(`^eeg_model\\.pt2: .*(?:${error.source})`, error.flags)
        : error,
  };
}

export function archiveCase(
  name: string,
  model: string | Buffer,
  change: (archive: Archive) => void,
  error: RegExp,
  failsAt?: FailsAt,
): HostileCase {
  const from = typeof model === 'string' ? good(model) : model;
  const changed = (bytes: Buffer): Buffer => {
    const archive = new Archive(bytes);
    change(archive);
    return zip(archive.entries);
  };
  return bytesCase(name, from, changed, error, failsAt);
}

/** A case that changes the graph and what stands beside it, or puts something in its place. */
export function programCase(
  name: string,
  model: string,
  edit: (program: Json) => unknown,
  error: RegExp,
  failsAt?: FailsAt,
): HostileCase {
  const change = (archive: Archive): void => archive.editJson('models/model.json', edit);
  return archiveCase(name, model, change, error, failsAt);
}

export const graphOf = (program: Json): Json => program.graph_module.graph;
export const nodesOf = (program: Json): Json[] => graphOf(program).nodes;

// ---- Arguments and nodes, as the schema has them ----

export const value = (name: string): Json => ({ as_tensor: { name } });
export const values = (...names: readonly string[]): Json => ({
  as_tensors: names.map((name) => ({ name })),
});

/** A node that calls an operator. `inputs`: by name. */
export function node(
  target: string,
  inputs: Readonly<Record<string, Json>>,
  outputs: readonly Json[] = [value('hostile')],
): Json {
  return {
    target:
      target.includes('.') && /^(aten|higher_order)\./.test(target)
        ? `torch.ops.${target}`
        : target,
    inputs: Object.entries(inputs).map(([name, arg]) => ({
      name: /^\d/.test(name) ? '' : name,
      arg,
      kind: 1,
    })),
    outputs,
    metadata: {},
    is_hop_single_tensor_return: null,
    name: 'hostile',
  };
}

export function graph(
  inputs: readonly Json[],
  outputs: readonly Json[],
  nodes: readonly Json[],
): Json {
  return {
    as_graph: {
      name: 'inner',
      graph: {
        inputs,
        outputs,
        nodes,
        tensor_values: {},
        sym_int_values: {},
        sym_bool_values: {},
        sym_float_values: {},
        custom_obj_values: {},
        is_single_tensor_return: false,
      },
    },
  };
}
