import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Box, type Point, placeLabels, scalePoints } from './layout';
import { type Compared, chosen } from './state';

/** The lines as points: the arrow keys go from one to the next. */
export function PointMap({ answer }: { readonly answer: Compared }) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = host.current as HTMLDivElement;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    setWidth(element.clientWidth);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="map" ref={host}>
      {width > 0 && <Drawing answer={answer} width={width} />}
    </div>
  );
}

function Drawing({ answer, width }: { readonly answer: Compared; readonly width: number }) {
  const { lines } = answer.input;
  const box: Box = { width, height: Math.round(Math.min(420, Math.max(240, width * 0.7))) };
  const points = scalePoints(answer.body.points, box);
  const choose = (index: number, list: SVGElement): void => {
    chosen.value = index;
    (list.querySelectorAll('[role="option"]')[index] as SVGElement | undefined)?.focus();
  };
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: the list in it has the name; a title would be shown over each point
    <svg width={box.width} height={box.height}>
      <g
        role="listbox"
        aria-label="Lines on the map"
        onKeyDown={(event) => {
          const next = nextOf(event.key, chosen.value, lines.length);
          if (next === null) return;
          event.preventDefault();
          choose(next, event.currentTarget);
        }}
      >
        {lines.map(({ number, text }, index) => {
          const [x, y] = points[index] as Point;
          return (
            <g
              key={number}
              class="point"
              role="option"
              tabindex={index === chosen.value ? 0 : -1}
              aria-selected={index === chosen.value}
              aria-label={`${number}: ${text}`}
              transform={`translate(${x} ${y})`}
              onClick={(event) =>
                choose(index, event.currentTarget.parentElement as unknown as SVGElement)
              }
            >
              <circle r="11" />
              <text dy="0.35em" text-anchor="middle" class="at">
                {number}
              </text>
            </g>
          );
        })}
      </g>
      <Labels points={points} texts={lines.map(({ text }) => shorten(text))} box={box} />
    </svg>
  );
}

interface LabelsProps {
  readonly points: readonly Point[];
  readonly texts: readonly string[];
  readonly box: Box;
}

/** For the eyes: the points have their texts as names. */
function Labels({ points, texts, box }: LabelsProps) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group takes no focus
    <g aria-hidden="true" class="labels">
      {placeLabels(points, texts, box).map((label, index) => {
        const [x, y] = points[index] as Point;
        return (
          label && (
            <text
              x={x + label.x}
              y={y + label.y}
              dy="0.35em"
              text-anchor={label['text-anchor']}
              class={index === chosen.value ? 'chosen' : ''}
            >
              {texts[index]}
            </text>
          )
        );
      })}
    </g>
  );
}

/** Where a key leads; null: nowhere. */
function nextOf(key: string, index: number, length: number): number | null {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowDown':
      return Math.min(length - 1, index + 1);
    case 'ArrowLeft':
    case 'ArrowUp':
      return Math.max(0, index - 1);
    case 'Home':
      return 0;
    case 'End':
      return length - 1;
    default:
      return null;
  }
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > 26 ? `${characters.slice(0, 25).join('')}…` : text;
}
