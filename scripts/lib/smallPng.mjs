// Makes a screenshot's PNG small: 256 colours, of which a window of an editor needs few more. Node built-ins only.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/**
 * An 8-bit RGB picture, not interlaced, as Chromium makes them, with its 256 most frequent colours; every other colour becomes the
 * nearest of those.
 * @param {Buffer} png
 * @returns {Buffer}
 */
export function smallPng(png) {
  const { width, height, pixels } = decode(png);
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts.keys()].sort((a, b) => Number(counts.get(b)) - Number(counts.get(a))).slice(0, 256);
  const indexes = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]));
  const rows = Buffer.alloc((width + 1) * height); // Each row begins with its filter: 0, none.
  for (let pixel = 0; pixel < width * height; pixel++) {
    const place = pixel + Math.floor(pixel / width) + 1;
    rows[place] = Number(indexes.get(pixels.readUIntBE(pixel * 3, 3)));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // 8 bits, of a palette
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** @param {number[]} palette @param {number} colour @returns {number} an index into the palette */
function nearest(palette, colour) {
  let best = 0;
  let least = Infinity;
  for (const [index, one] of palette.entries()) {
    const distance = [16, 8, 0].reduce((sum, shift) => {
      return sum + (((one >> shift) & 255) - ((colour >> shift) & 255)) ** 2;
    }, 0);
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const made = Buffer.alloc(body.length + 8);
  made.writeUInt32BE(data.length, 0);
  made.set(body, 4);
  made.writeUInt32BE(crc32(body), body.length + 4);
  return made;
}

/** @param {Buffer} png */
function decode(png) {
  const kind = png.toString("hex", 24, 29); // bit depth, colour type, compression, filter, interlacing
  if (!png.subarray(0, 8).equals(signature) || kind !== "0802000000") throw new Error(`not an 8-bit RGB PNG (${kind})`);
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const data = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  return { width, height, pixels: unfiltered(inflateSync(Buffer.concat(data)), width * 3, height) };
}

/**
 * The rows without PNG's filters (its specification, section 9).
 * @param {Buffer} filtered @param {number} stride @param {number} height
 */
function unfiltered(filtered, stride, height) {
  const pixels = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = filtered[row * (stride + 1)];
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column;
      const left = column < 3 ? 0 : Number(pixels[at - 3]);
      const up = row === 0 ? 0 : Number(pixels[at - stride]);
      const corner = column < 3 || row === 0 ? 0 : Number(pixels[at - stride - 3]);
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][Number(filter)];
      pixels[at] = Number(filtered[at + row + 1]) + Number(predicted);
    }
  }
  return pixels;
}

/** @type {(left: number, up: number, corner: number) => number} */
function paeth(left, up, corner) {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
