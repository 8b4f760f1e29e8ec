import type { Design, Rgb } from "./design.ts";
import { layOut } from "./layout.ts";
import type { Matrix } from "./matrix.ts";

/**
 * Draws a code as an SVG of one background and one path. Only attributes every rasteriser knows: no style sheet, no
 * clip path, no reference. Separate shapes for modules would leave hairlines between them that readers stumble on.
 */
export function plainSvg(matrix: Matrix, { width, height, dark, light }: Design): string {
  const { scale, left, top } = layOut(matrix, width, height);
  const path = darkBlocks(matrix)
    .map(({ column, row, columns, rows }) => {
      const across = columns * scale;
      return `M${left + column * scale} ${top + row * scale}h${across}v${rows * scale}h${-across}z`;
    })
    .join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="${width}" height="${height}" fill="${hex(light)}"/>` +
    `<path fill="${hex(dark)}" d="${path}"/></svg>`
  );
}

/** A rectangle of dark modules, in modules. */
interface Block {
  readonly column: number;
  readonly row: number;
  readonly columns: number;
  rows: number;
}

/** Covers the dark modules once: runs along each row, and a run that repeats below grows downwards. */
function darkBlocks({ size, modules }: Matrix): Block[] {
  const blocks: Block[] = [];
  let above = new Map<number, Block>();
  for (let row = 0; row < size; row++) {
    const here = new Map<number, Block>();
    for (let column = 0; column < size; column++) {
      if (modules[row * size + column] !== 1) continue;
      const start = column;
      while (column < size && modules[row * size + column] === 1) column++;
      let block = above.get(start);
      if (block?.columns === column - start) block.rows++;
      else {
        block = { column: start, row, columns: column - start, rows: 1 };
        blocks.push(block);
      }
      here.set(start, block);
    }
    above = here;
  }
  return blocks;
}

function hex(colour: Rgb): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
