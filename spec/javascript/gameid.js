// Reads and writes the IDs and numbers of SPEC.md. For Node.js; with a bundler a
// browser can use all but public IDs. It makes no new IDs.
"use strict";

const EPOCH = 1735689600000; // 2025-01-01T00:00:00Z in Unix milliseconds
const MAX_MILLIS = 2 ** 44 - 1;
const MAX_SERVER = 2 ** 20 - 1;
const MAX_NUMBER = 999_999_999_999_999;

/** Why something is not valid. code is the name that SPEC.md gives it. */
class GameIDError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "GameIDError";
    this.code = code;
  }
}

/** An ID. millis, server and sequence are plain numbers, all exact. */
class GameID {
  constructor(millis, server, sequence) {
    inRange("time", "millis", millis, 0, MAX_MILLIS);
    inRange("server", "server", server, 1, MAX_SERVER);
    inRange("sequence", "sequence", sequence, 0, 0xffff);
    this.millis = millis;
    this.server = server;
    this.sequence = sequence;
    Object.freeze(this);
  }

  /** Reads 20 hexadecimal digits. */
  static parse(text) {
    return GameID.fromBigInt(readDigits(text, "ID"));
  }

  /** Reads 10 bytes: a Buffer or any Uint8Array. */
  static fromBytes(bytes) {
    if (!(bytes instanceof Uint8Array) || bytes.length !== 10) {
      throw new GameIDError("length", `an ID has 10 bytes, not ${bytes instanceof Uint8Array ? bytes.length : quote(bytes)}`);
    }
    let value = 0n;
    for (const b of bytes) value = (value << 8n) | BigInt(b);
    return GameID.fromBigInt(value);
  }

  /** Takes the 80 bits of an ID as a BigInt. */
  static fromBigInt(value) {
    if (typeof value !== "bigint" || value < 0n || value >> 80n !== 0n) {
      throw new GameIDError("length", "an ID is a BigInt of 80 bits");
    }
    return new GameID(Number(value >> 36n), Number((value >> 16n) & 0xfffffn), Number(value & 0xffffn));
  }

  /** The time in the ID, to the millisecond. */
  get time() {
    return new Date(EPOCH + this.millis);
  }

  toBigInt() {
    return (BigInt(this.millis) << 36n) | (BigInt(this.server) << 16n) | BigInt(this.sequence);
  }

  toBytes() {
    return toBytes(this.toBigInt());
  }

  toString() {
    return toDigits(this.toBigInt());
  }

  toJSON() {
    return this.toString();
  }

  /** For Array.sort: less than, equal to or greater than 0. */
  static compare(a, b) {
    return a.millis - b.millis || a.server - b.server || a.sequence - b.sequence;
  }
}

/** Makes public IDs of one kind, and opens them. key: 16, 24 or 32 bytes. */
class Cipher {
  #aes;
  #kind;

  constructor(key, kind) {
    const crypto = require("crypto");
    if (!(key instanceof Uint8Array) || ![16, 24, 32].includes(key.length)) {
      throw new GameIDError("key", "the key has not 16, 24 or 32 bytes");
    }
    if (typeof kind !== "string" || kind === "") {
      throw new GameIDError("kind", 'the kind is empty: want the name of what the IDs name, such as "player"');
    }
    this.#kind = Buffer.from(kind, "utf8");
    const ecb = crypto.createCipheriv(`aes-${8 * key.length}-ecb`, key, null);
    ecb.setAutoPadding(false);
    this.#aes = (block) => ecb.update(block); // in this mode a block tells nothing of the one before
  }

  /** Returns the public ID, 20 digits, of an ID. */
  seal(id) {
    let [a, b] = halves(id.toBigInt());
    for (let i = 0; i < 10; i++) [a, b] = [b, (a + this.#round(i, b)) & HALF];
    return toDigits((a << 40n) | b);
  }

  /** Returns the ID that a public ID stands for. Look up whether it exists. */
  open(text) {
    let [a, b] = halves(readDigits(text, "public ID"));
    for (let i = 9; i >= 0; i--) [a, b] = [(b - this.#round(i, a)) & HALF, a];
    const value = (a << 40n) | b;
    if (((value >> 16n) & 0xfffffn) === 0n) {
      throw new GameIDError("sealed", `${quote(text)} was not made with this key for this kind`);
    }
    return GameID.fromBigInt(value);
  }

  #round(i, half) {
    const t = this.#kind.length;
    const zeros = (((10 - t) % 16) + 16) % 16;
    const m = Buffer.alloc(16 + t + zeros + 6);
    m.set([1, 2, 1, 0, 0, 2, 10, 40, 0, 0, 0, 80]);
    m.writeUInt32BE(t, 12);
    this.#kind.copy(m, 16);
    m.writeUInt8(i, m.length - 6);
    m.writeUIntBE(Number(half), m.length - 5, 5);
    let r = Buffer.alloc(16);
    for (let at = 0; at < m.length; at += 16) {
      for (let k = 0; k < 16; k++) r[k] ^= m[at + k];
      r = this.#aes(r);
    }
    return BigInt(r.readUIntBE(7, 5));
  }
}

const HALF = 2n ** 40n - 1n;

function halves(value) {
  return [value >> 40n, value & HALF];
}

function toDigits(value) {
  return value.toString(16).padStart(20, "0");
}

function toBytes(value) {
  return Uint8Array.from({ length: 10 }, (_, i) => Number((value >> BigInt(72 - 8 * i)) & 0xffn));
}

function readDigits(text, what) {
  if (typeof text !== "string") {
    throw new GameIDError("length", `the text of an ${what} is a string, not a ${typeof text}`);
  }
  const wrong = text.slice(0, 20).search(/[^0-9a-fA-F]/);
  if (wrong >= 0) {
    throw new GameIDError("digit", `${quote(text)} is not an ${what}: character ${wrong + 1} is not a hexadecimal digit`);
  }
  if (text.length !== 20) {
    throw new GameIDError("length", `${quote(text)} is not an ${what}: it has ${text.length} characters, want 20`);
  }
  return BigInt("0x" + text);
}

const DAMM = ["0317598642", "7092154863", "4206871359", "1750983426", "6123045978", "3674209581", "5869720134", "8945362017", "9438617205", "2581436790"];

function left(n) {
  let row = 0;
  for (const digit of String(n)) row = Number(DAMM[row][digit]);
  return row;
}

/** Reads a short number as people type it, without looking at a check digit. */
function parseNumber(text) {
  const bad = (code, message) => new GameIDError(code, `${quote(text)} is not a number: ${message}`);
  let digits = "";
  let gap = true; // none may come first
  for (const c of text) {
    if (c >= "0" && c <= "9") {
      digits += c;
      if (digits.length > 15) throw bad("long", "it has more than 15 digits");
      if (digits === "0") throw bad("zero", "it begins with 0");
      gap = false;
    } else if (gap || !" -\u00a0\u2009\u202f\u2011".includes(c)) {
      throw bad("form", "want digits, with single spaces or hyphens between them");
    } else {
      gap = true;
    }
  }
  if (gap) throw bad("form", "want digits at its end");
  return Number(digits);
}

/** Whether the last digit of n is its check digit. */
function isChecked(n) {
  return n > 9 && left(n) === 0;
}

/** parseNumber for numbers with a check digit. */
function parseChecked(text) {
  const n = parseNumber(text);
  if (!isChecked(n)) throw new GameIDError("mistyped", `${quote(text)} is mistyped: its last digit does not fit the others`);
  return n;
}

/** Returns n with its check digit at the end. */
function withCheck(n) {
  inRange("range", "a number without its check digit", n, 1, Math.floor(MAX_NUMBER / 10));
  return 10 * n + left(n);
}

/** Returns the digits of n in groups of three. */
function spaced(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, " ");
}

function inRange(code, name, value, least, most) {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new GameIDError(code, `${name} is ${quote(value)}, want an integer from ${least} to ${most}`);
  }
}

/** The first 40 characters of what a stranger may have written. */
function quote(value) {
  const text = String(value);
  const ascii = JSON.stringify(text.slice(0, 40)).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  return ascii + (text.length > 40 ? "..." : "");
}

module.exports = { GameID, GameIDError, Cipher, parseNumber, parseChecked, isChecked, withCheck, spaced, EPOCH };
