/** A point in modules; right and down are positive. */
export type Point = readonly [x: number, y: number];

/**
 * Writes the `d` of an SVG path from shapes given in modules: only absolute M, L, A and Z, which every rasteriser,
 * plotter and cutter knows. Pixels are rounded to a thousandth.
 */
export interface PathWriter {
  moveTo(point: Point): void;
  lineTo(point: Point): void;
  /** An arc of at most a quarter of a circle, clockwise or counterclockwise. */
  arcTo(point: Point, radius: number, isClockwise: boolean): void;
  close(): void;
  polygon(points: readonly Point[]): void;
  circle(center: Point, radius: number): void;
  toString(): string;
}

export function pathWriter({
  scale,
  left,
  top,
}: {
  readonly scale: number;
  readonly left: number;
  readonly top: number;
}): PathWriter {
  const parts: string[] = [];
  const pixels = ([x, y]: Point) => `${rounded(left + x * scale)} ${rounded(top + y * scale)}`;
  const writer: PathWriter = {
    moveTo: (point) => void parts.push(`M${pixels(point)}`),
    lineTo: (point) => void parts.push(`L${pixels(point)}`),
    arcTo(point, radius, isClockwise) {
      const size = rounded(radius * scale);
      parts.push(`A${size} ${size} 0 0 ${isClockwise ? 1 : 0} ${pixels(point)}`);
    },
    close: () => void parts.push("Z"),
    polygon([first, ...others]) {
      if (first === undefined) return;
      writer.moveTo(first);
      for (const point of others) writer.lineTo(point);
      writer.close();
    },
    circle([x, y], radius) {
      writer.moveTo([x - radius, y]);
      writer.arcTo([x + radius, y], radius, true);
      writer.arcTo([x - radius, y], radius, true);
      writer.close();
    },
    toString: () => parts.join(""),
  };
  return writer;
}

function rounded(pixels: number): number {
  return Math.round(pixels * 1000) / 1000;
}
