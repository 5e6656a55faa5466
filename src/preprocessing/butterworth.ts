/** Second-order section of a digital filter, with a0 = 1: (b0 + b1 z⁻¹ + b2 z⁻²) / (1 + a1 z⁻¹ + a2 z⁻²). */
export interface Section {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

/** Pass band in Hz. null: no limit on this side. At least one limit is a number. */
export interface PassBand {
  readonly highPassHz: number | null;
  readonly lowPassHz: number | null;
}

interface Complex {
  readonly re: number;
  readonly im: number;
}

/** Rate of the bilinear transform, doubled. */
const RATE = 4;

/**
 * Butterworth filter as second-order sections, like `scipy.signal.butter(order, …, output='sos')`. A band-pass has
 * `order` sections, other filters half as many.
 *
 * @param rate sampling rate in Hz; the limits of the band are below rate / 2
 */
export function butterworth(order: number, band: PassBand, rate: number): readonly Section[] {
  const { highPassHz, lowPassHz } = band;
  const prototype = prototypePoles(order);
  if (highPassHz !== null && lowPassHz !== null) {
    return bandPass(prototype, warp(highPassHz, rate), warp(lowPassHz, rate));
  }
  if (lowPassHz !== null) {
    const cutoff = warp(lowPassHz, rate);
    const poles = prototype.map((pole) => scale(pole, cutoff));
    return toSections({ poles, zeros: () => [-1, -1], gain: cutoff ** order });
  }
  const cutoff = warp(highPassHz as number, rate);
  const poles = prototype.map((pole) => divide({ re: cutoff, im: 0 }, pole));
  // The zeros at 0 add a factor RATE each to the gain of the bilinear transform.
  return toSections({ poles, zeros: () => [1, 1], gain: RATE ** order });
}

/**
 * Notch filter, like `scipy.signal.iirnotch`.
 *
 * @param quality center frequency divided by the width at −3 dB
 */
export function notch(frequencyHz: number, quality: number, rate: number): readonly Section[] {
  const center = (2 * Math.PI * frequencyHz) / rate;
  const gain = 1 / (1 + Math.tan(center / quality / 2));
  const middle = -2 * gain * Math.cos(center);
  return [{ b: [gain, middle, gain], a: [middle, 2 * gain - 1] }];
}

function prototypePoles(order: number): readonly Complex[] {
  return Array.from({ length: order }, (_, index) => {
    const angle = (Math.PI * (2 * index + 1 - order)) / (2 * order);
    return { re: -Math.cos(angle), im: -Math.sin(angle) };
  });
}

/** Analog frequency that the bilinear transform maps to a frequency in Hz. */
function warp(frequencyHz: number, rate: number): number {
  return RATE * Math.tan((Math.PI * frequencyHz) / rate);
}

function bandPass(prototype: readonly Complex[], low: number, high: number): readonly Section[] {
  const order = prototype.length;
  const width = high - low;
  const center = { re: low * high, im: 0 };
  const poles = prototype.flatMap((pole) => {
    const half = scale(pole, width / 2);
    const root = squareRoot(subtract(multiply(half, half), center));
    return [add(half, root), subtract(half, root)];
  });
  return toSections({ poles, zeros: () => [1, -1], gain: (width * RATE) ** order });
}

/**
 * Bilinear transform, and pairs of poles as sections. Poles near the unit circle come last.
 *
 * @param analog poles; zeros of a section after the transform; gain times the factors of analog zeros
 */
function toSections(analog: {
  readonly poles: readonly Complex[];
  readonly zeros: () => readonly [number, number];
  readonly gain: number;
}): readonly Section[] {
  const { poles, zeros } = analog;
  const rate = { re: RATE, im: 0 };
  const denominator = poles.reduce((all, pole) => multiply(all, subtract(rate, pole)), {
    re: 1,
    im: 0,
  });
  const gain = analog.gain / denominator.re;
  const digital = poles.map((pole) => divide(add(rate, pole), subtract(rate, pole)));
  const sections = pairs(digital).map(([first, second]): Section => {
    const [zero, other] = zeros();
    if (second === null) return { b: [1, -zero, 0], a: [-first.re, 0] };
    return {
      b: [1, -(zero + other), zero * other],
      a: [-(first.re + second.re), multiply(first, second).re],
    };
  });
  const [first, ...others] = sections as [Section, ...Section[]];
  const [b0, b1, b2] = first.b;
  return [{ ...first, b: [b0 * gain, b1 * gain, b2 * gain] }, ...others];
}

/** Pairs of conjugate or real poles, by their distance from 0; null: a real pole without another. */
function pairs(poles: readonly Complex[]): readonly (readonly [Complex, Complex | null])[] {
  // Rounding makes the imaginary part of a real pole a tiny number.
  const isReal = ({ im }: Complex) => Math.abs(im) < 1e-14;
  const real = poles.filter(isReal).sort((a, b) => a.re - b.re);
  const found: [Complex, Complex | null][] = poles
    .filter((pole) => !isReal(pole) && pole.im > 0)
    .map((pole) => [pole, { re: pole.re, im: -pole.im }]);
  for (let at = 0; at < real.length; at += 2) {
    found.push([real[at] as Complex, real[at + 1] ?? null]);
  }
  return found.sort(([a], [b]) => Math.hypot(a.re, a.im) - Math.hypot(b.re, b.im));
}

function add(a: Complex, b: Complex): Complex {
  return { re: a.re + b.re, im: a.im + b.im };
}

function subtract(a: Complex, b: Complex): Complex {
  return { re: a.re - b.re, im: a.im - b.im };
}

function scale({ re, im }: Complex, factor: number): Complex {
  return { re: re * factor, im: im * factor };
}

function multiply(a: Complex, b: Complex): Complex {
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
}

function divide(a: Complex, b: Complex): Complex {
  const norm = b.re * b.re + b.im * b.im;
  return scale(multiply(a, { re: b.re, im: -b.im }), 1 / norm);
}

/** Principal square root. */
function squareRoot({ re, im }: Complex): Complex {
  const norm = Math.hypot(re, im);
  const root = Math.sqrt((norm + Math.abs(re)) / 2);
  const other = root === 0 ? 0 : im / (2 * root);
  if (re >= 0) return { re: root, im: other };
  return { re: Math.abs(other), im: im < 0 ? -root : root };
}
