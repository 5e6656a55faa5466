import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { allFinite, softmax } from '../../lib/numbers';
import { EngineError } from '../../native/engine';
import type { Classification, SignalMetadata } from '../capabilities';
import { toClassification } from '../classification';
import { classifierOutputs } from '../classifier-tensors';
import type { Task } from '../task';
import type { Tensors } from '../tensors';
import { type ModelSettings, readModelSettings, settingsPath } from './model-settings';
import { areProbabilities, validateTrialRun } from './validate-trial-run';
import { ChannelWindow, preparationOf, type SignalInput } from './window-preparation';

/** Fields of `model` in GET /info for signal models. */
export const SIGNAL_INFO = {
  classes: z.array(z.string()).optional(),
  window_length: z.int().optional().describe('Samples of a signal'),
  sampling_rate_hz: z.number().nullable().optional().describe('Training data of the model'),
  channel: z.string().nullable().optional(),
  channels: z
    .array(z.string())
    .nullable()
    .optional()
    .describe('Channels of a signal, in order; null: one channel'),
  unit: z.string().nullable().optional().describe('Unit of the samples; null: any'),
  interpolates: z.boolean().optional().describe('Whether missing channels are interpolated'),
};

const tensors: Tensors<SignalInput, Classification, SignalMetadata> = {
  inputs: [{ name: 'SIGNAL', content: 'samples', optional: false }],
  ...classifierOutputs({ label: 'DIAGNOSIS', score: 'CONFIDENCE', scores: 'PROBABILITIES' }),
  windowShape: ({ settings: { channels, windowLength } }) =>
    channels === null ? [windowLength] : [channels.inputs.length, windowLength],
  findProblem: () => null,
  toInput: ([signal]) => signal as readonly number[],
};

/** Number of samples and shape of a window as model input, and the other inputs. */
function modelInputOf({ channels, windowLength, inputShape, constantInputs }: ModelSettings) {
  if (channels === null) return { windowLength, ...(inputShape && { inputShape }), constantInputs };
  const count = channels.names.length;
  return {
    windowLength: count * windowLength,
    inputShape: inputShape ?? [count, windowLength],
    constantInputs,
  };
}

/** Classification of signal windows with a TorchScript or torch.export program. */
export const signalClassification: Task<SignalInput, Classification, SignalMetadata> = {
  name: 'signal-classification',
  summary: 'Windows of an EEG channel, or of several, to classes.',
  disclaimer: '**Demonstration, not a medical device.** ',
  inputKind: 'signals',
  capabilities: ['signal-classification'],
  resolveModelPath: (location) => path.resolve(location),
  findModelPaths: (folder) =>
    readdirSync(folder)
      .filter((name) => /\.pt2?$/.test(name))
      .map((name) => path.join(folder, name)),
  listFiles: (file) => [file, settingsPath(file)].filter((one) => existsSync(one)),
  read: (file) => {
    const settings = readModelSettings(file);
    const { name, version, classes } = settings;
    return {
      source: { type: 'signal-program', path: file, ...modelInputOf(settings) },
      metadata: { name, version, labels: classes, settings },
    };
  },
  validateLoaded: ({ trial }, { settings }, file) =>
    validateTrialRun(trial, settings, {
      modelFile: path.basename(file),
      settingsFile: path.basename(settingsPath(file)),
    }),
  inputLength: ({ settings }) => preparationOf(settings).inputLength,
  prepare: (signal, { settings }) => preparationOf(settings).prepare(signal),
  toPrediction: (inference, metadata, index, input) => {
    const { values } = inference;
    const count = metadata.labels.length;
    const isGiven = metadata.settings.output === 'probabilities';
    const fail = (what: string): never => {
      const message = `The model's output is not ${count} ${what}.`;
      throw new EngineError('INFERENCE_FAILED', message, { index });
    };
    if (values.length !== count || !allFinite(values)) fail('finite numbers');
    if (isGiven && !areProbabilities(values)) fail('probabilities');
    const classification = toClassification(
      metadata,
      isGiven ? values : softmax(values),
      inference,
    );
    return input instanceof ChannelWindow
      ? { ...classification, interpolated: input.interpolated }
      : classification;
  },
  logFields: ({ settings }) => ({
    settings: { ...settings, constantInputs: settings.constantInputs.map(({ name }) => name) },
  }),
  info: {
    schemas: SIGNAL_INFO,
    of: ({ settings }) => ({
      classes: [...settings.classes],
      window_length: settings.windowLength,
      sampling_rate_hz: settings.samplingRateHz,
      channel: settings.channel,
      channels: settings.channels && [...settings.channels.inputs],
      unit: settings.channels?.unit ?? null,
      interpolates: settings.channels?.interpolates ?? false,
    }),
  },
  tensors,
  page: 'eeg',
};
