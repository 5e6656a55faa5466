/** Size in pixels. */
export interface Box {
  readonly width: number;
  readonly height: number;
}

export type Point = readonly [x: number, y: number];

/** Offset of a label from its point, in pixels. */
export interface Label {
  readonly x: number;
  readonly y: number;
  readonly 'text-anchor': 'start' | 'middle' | 'end';
}

const RADIUS = 11;
const MARGIN = 26;
/** Average width of a letter at a font size of 12 px, rounded up. */
const LETTER_WIDTH = 6.8;
const LINE_HEIGHT = 16;

/** Scales points to fit into a box, with one scale for both axes so that distances stay comparable. */
export function scalePoints(points: readonly Point[], box: Box): readonly Point[] {
  const range = (axis: 0 | 1) => {
    const values = points.map((point) => point[axis]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return { middle: (low + high) / 2, size: high - low };
  };
  const [x, y] = [range(0), range(1)];
  const scale = Math.min(
    (box.width - 2 * MARGIN) / Math.max(x.size, 1e-9),
    (box.height - 2 * MARGIN) / Math.max(y.size, 1e-9),
  );
  return points.map(([u, v]) => [
    Math.round(box.width / 2 + (u - x.middle) * scale),
    Math.round(box.height / 2 - (v - y.middle) * scale),
  ]);
}

interface Rectangle {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * Places each label next to its point so that it overlaps no point and no earlier label.
 *
 * @returns null for a label without a free position
 */
export function placeLabels(
  points: readonly Point[],
  texts: readonly string[],
  box: Box,
): readonly (Label | null)[] {
  const taken: Rectangle[] = points.map(([x, y]) => around(x, y, 2 * RADIUS, 2 * RADIUS));
  return points.map(([x, y], index) => {
    const width = [...(texts[index] ?? '')].length * LETTER_WIDTH;
    const aside = RADIUS + 4;
    const above = RADIUS + LINE_HEIGHT / 2;
    const candidates: readonly (readonly [Label, Rectangle])[] = [
      [
        { x: aside, y: 0, 'text-anchor': 'start' },
        around(x + aside + width / 2, y, width, LINE_HEIGHT),
      ],
      [
        { x: -aside, y: 0, 'text-anchor': 'end' },
        around(x - aside - width / 2, y, width, LINE_HEIGHT),
      ],
      [{ x: 0, y: -above, 'text-anchor': 'middle' }, around(x, y - above, width, LINE_HEIGHT)],
      [{ x: 0, y: above, 'text-anchor': 'middle' }, around(x, y + above, width, LINE_HEIGHT)],
    ];
    const free = candidates.find(
      ([, area]) => isWithin(area, box) && !taken.some((other) => overlap(area, other)),
    );
    if (!free) return null;
    taken.push(free[1]);
    return free[0];
  });
}

function around(x: number, y: number, width: number, height: number): Rectangle {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

function isWithin({ left, right, top, bottom }: Rectangle, { width, height }: Box): boolean {
  return left >= 0 && top >= 0 && right <= width && bottom <= height;
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
