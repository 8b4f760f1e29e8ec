// The field of 256 elements in which QR codes correct errors: polynomials modulo x⁸ + x⁴ + x³ + x² + 1.
const powers = new Uint8Array(510);
const logarithms = new Uint8Array(256);
for (let exponent = 0, value = 1; exponent < 255; exponent++) {
  powers[exponent] = value;
  powers[exponent + 255] = value;
  logarithms[value] = exponent;
  value = (value << 1) ^ (value >= 128 ? 0x11d : 0);
}

function product(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : at(powers, at(logarithms, a) + at(logarithms, b));
}

function quotient(a: number, b: number): number {
  return a === 0 ? 0 : at(powers, at(logarithms, a) + 255 - at(logarithms, b));
}

function power(exponent: number): number {
  return at(powers, exponent % 255);
}

/**
 * Completes a block of codewords: computes those at `unknown` from all others, and ignores what stands there. Any
 * codewords can be the unknown ones, as long as there are as many as the block has for correction.
 */
export function complete(block: Uint8Array, unknown: readonly number[]): void {
  const size = unknown.length;
  const isUnknown = new Set(unknown);
  // As a polynomial, a block is zero at the first `size` powers of 2, which gives one equation each.
  const rows = Array.from({ length: size }, (_, root) => {
    const row = new Uint8Array(size + 1);
    for (const [index, value] of block.entries()) {
      if (!isUnknown.has(index))
        row[size] = at(row, size) ^ product(value, power(root * (block.length - 1 - index)));
    }
    for (const [column, index] of unknown.entries()) row[column] = power(root * (block.length - 1 - index));
    return row;
  });
  const solved = solve(rows);
  for (const [column, index] of unknown.entries()) block[index] = at(solved, column);
}

/** Solves linear equations, one in each row with the constant last. They must have exactly one solution. */
function solve(rows: Uint8Array[]): Uint8Array {
  for (let column = 0; column < rows.length; column++) {
    const pivot = rows.findIndex((row, index) => index >= column && row[column] !== 0);
    const [row, other] = [rows[pivot], rows[column]];
    if (row === undefined || other === undefined) throw new Error("the equations have no single solution");
    [rows[column], rows[pivot]] = [row, other];
    const divisor = at(row, column);
    for (let index = column; index < row.length; index++) row[index] = quotient(at(row, index), divisor);
    for (const target of rows) {
      const factor = at(target, column);
      if (target === row || factor === 0) continue;
      for (let index = column; index < row.length; index++)
        target[index] = at(target, index) ^ product(factor, at(row, index));
    }
  }
  return Uint8Array.from(rows, (row) => at(row, rows.length));
}

function at(array: Uint8Array, index: number): number {
  return array[index] ?? 0;
}
