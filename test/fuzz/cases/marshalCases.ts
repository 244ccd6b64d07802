import { long } from "../marshalTokens";
import type { HostileCase } from "./index";

const mebibyte = 1 << 20;

/** Pieces of a Marshal stream: Latin-1 text, bytes, numbers as the format writes them, and a piece over and over. */
export function stream(...pieces: (string | Buffer | number)[]): Buffer {
  return Buffer.concat([Buffer.from("\x04\b", "latin1"), ...pieces.map(pieceOf)]);
}

function pieceOf(piece: string | Buffer | number): Buffer {
  if (typeof piece === "number") return long(piece);
  return typeof piece === "string" ? Buffer.from(piece, "latin1") : piece;
}

export function times(count: number, ...pieces: (string | Buffer | number)[]): Buffer {
  const once = Buffer.concat(pieces.map(pieceOf));
  return Buffer.alloc(once.length * count, once);
}

/** A String, Symbol, class name or the like of `size` bytes: its length and as many letters. */
export function letters(size: number): Buffer {
  return Buffer.concat([long(size), Buffer.alloc(size, "a")]);
}

/** An Integer of `size` bytes, every second of them different. */
export function bignum(size: number, seed = 1): Buffer {
  const digits = Buffer.alloc(size);
  for (let index = 0, state = seed; index < size; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    digits[index] = (state >>> 16) | 1;
  }
  return Buffer.concat([Buffer.from("l+"), long(size / 2), digits]);
}

const link = (index: number): Buffer => Buffer.concat([Buffer.from("@"), long(index)]);
const count = 50_000;

export const marshalCases: readonly HostileCase[] = [
  {
    name: "an encoding of a megabyte, named by thirty thousand symbols",
    target: "Marshal",
    input: () =>
      stream(
        ...["[", 30_001, "I:\x06a", 1, ":\rencoding", '"', letters(mebibyte)],
        ...Array.from({ length: 30_000 }, (_, index) => `I:\x0b${String(index).padStart(6, "0")}\x06;\x06@\x06`),
      ),
  },
  {
    name: "an encoding of a megabyte, named by as many strings",
    target: "inspect and literals",
    input: () =>
      stream(
        "[",
        count + 1,
        'I"\x06a',
        1,
        ":\rencoding",
        '"',
        letters(mebibyte),
        times(count, 'I"\x06a\x06;\x00@\x07'),
      ),
  },
  {
    name: "a Time in a zone of a megabyte, again and again",
    target: "inspect and literals",
    input: () =>
      stream(
        "[",
        count + 1,
        "Iu:\tTime",
        8,
        Buffer.of(32, 128, 30, 192, 0, 0, 0, 0),
        1,
        ":\tzone",
        '"',
        letters(mebibyte),
        times(count, link(2)),
      ),
  },
  {
    name: "a Time with a fraction of two enormous Integers",
    target: "inspect and literals",
    input: () =>
      stream(
        "Iu:\tTime",
        8,
        Buffer.of(32, 128, 30, 192, 0, 0, 0, 0),
        2,
        ":\rnano_num",
        bignum(16_384, 1),
        ":\rnano_den",
        bignum(16_384, 2),
      ),
  },
  {
    name: "a Time of thirty thousand variables with one long name",
    target: "inspect and literals",
    input: () =>
      stream(
        "Iu:\tTime",
        8,
        Buffer.of(32, 128, 30, 192, 0, 0, 0, 0),
        30_000,
        ":",
        letters(mebibyte),
        "0",
        times(29_999, ";\x060"),
      ),
  },
  {
    name: "a Range of a class whose name is a megabyte long, again and again",
    target: "inspect and literals",
    input: () =>
      stream("[", count + 1, "o:", letters(mebibyte), 3, ":\texclF:\nbegini\x06:\bendi\x07", times(count, link(1))),
  },
  {
    name: "an object of thirty thousand variables with one long name",
    target: "inspect and literals",
    input: () => stream("o:\x06O", 30_000, ":", letters(mebibyte), "0", times(29_999, ";\x060")),
  },
  {
    name: "an Array of a subclass, of as many elements as do not fit on a stack",
    target: "inspect and literals",
    input: () => stream("C:\x06A[", 499_000, times(499_000, "0")),
  },
  {
    name: "a Hash of a quarter of a million entries",
    target: "inspect and literals",
    input: () => stream("{", 240_000, times(240_000, "i\x000")),
  },
  {
    name: "a Hash whose every value is one long Array",
    target: "inspect and literals",
    input: () => stream("{", 30_000, ":\x06a", "[", count, times(count, "T"), times(29_999, "i\x00@\x06")),
  },
  {
    name: "nearly half a million strings of one byte",
    target: "inspect and literals",
    input: () => stream("[", 490_000, times(490_000, '"\x06a')),
  },
  {
    name: "two thousand enormous Integers",
    target: "inspect and literals",
    input: () => stream("[", 2000, ...Array.from({ length: 2000 }, (_, index) => bignum(16_384, index))),
  },
  {
    name: "one enormous Integer, again and again",
    target: "inspect and literals",
    input: () => stream("[", count + 1, bignum(16_384), times(count, link(1))),
  },
  {
    name: "a Rational of enormous Integers",
    target: "inspect and literals",
    input: () => stream("U:\rRational[\x07", bignum(16_384, 1), bignum(16_384, 2)),
  },
  {
    name: "a Regexp of a megabyte of slashes",
    target: "inspect and literals",
    input: () => stream("I/", mebibyte, times(mebibyte, "/"), "\0\x06:\x06EF"),
  },
  {
    name: "a string of four megabytes of invalid bytes",
    target: "inspect and literals",
    input: () => stream('I"', 4 * mebibyte, times(4 * mebibyte, "\xff"), "\x06:\x06ET"),
  },
  {
    name: "a symbol of four megabytes that is nearly a name",
    target: "inspect and literals",
    input: () => stream("I:", 4 * mebibyte, times(2 * mebibyte, "\xc3\xa9"), "\x06:\x06ET"),
  },
  {
    name: "Arrays within Arrays to the limit, over and over",
    target: "inspect and literals",
    input: () => stream("[", 490, times(490, times(998, "[\x06"), "0")),
  },
  {
    name: "a binary tree of links, which is exponential in text",
    target: "inspect and literals",
    input: () => {
      const levels = Array.from({ length: 60 }, (_, level) =>
        Buffer.concat([Buffer.from("[\x07"), link(level + 1), link(level + 1)]),
      );
      return stream("[", 61, "[\x00", ...levels);
    },
  },
  {
    name: "a Hash that is its own key, value and default",
    target: "inspect and literals",
    input: () => stream("}\x06@\0@\0@\0"),
  },
  {
    name: "a secret that is a variable of the name of a string's encoding",
    target: "masking",
    input: () =>
      Buffer.from(
        "BAhVOg9CaWdEZWNpbWFsfQZNEGNvbnN0cnVjdG9ySS8UI3t4fSAjJHkgIlwKCRsAkAc6CUE6OkJGOgpiZWdpbkkiCO2ggAY6DWVuY29kaW5nSSIJ8J+ZggY6DkBwYXNzd29yZCILczNjcjN0SSIH6f8GOgdAYSIH6f8=",
        "base64",
      ),
  },
  {
    name: "a module without a name",
    target: "inspect and literals",
    input: () => stream("m\0"),
  },
  {
    name: "names that mean something to JavaScript",
    target: "inspect and literals",
    input: () =>
      stream(
        "{\x08:\x0e__proto__{\x06;\0i\x06:\x10constructoro:\x0eprototype\x06;\0i\x06",
        '"\x0e__proto__S;\x07\x06:\x0e__proto\x0ei\x06'.replace("__proto\x0e", "toString_"),
      ),
  },
];
