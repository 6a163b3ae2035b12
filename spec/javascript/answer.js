// Answers the questions of the tests, a line each. See ../languages_test.go.
"use strict";
const { GameID, Cipher, parseNumber, parseChecked, isChecked, withCheck, spaced } = require("./gameid.js");

const bytes = (hex) => Buffer.from(hex, "hex");
const text = (hex) => bytes(hex).toString("utf8");
const show = (id) => [id.millis, id.server, id.sequence, Buffer.from(id.toBytes()).toString("hex"), id, id.time.toISOString()];
const ciphers = new Map();

function cipher(key, kind) {
  const name = key + " " + kind;
  if (!ciphers.has(name)) ciphers.set(name, new Cipher(bytes(key), text(kind)));
  return ciphers.get(name);
}

const answers = {
  text: (t) => show(GameID.parse(text(t))),
  bytes: (b) => show(GameID.fromBytes(bytes(b))),
  fields: (m, s, q) => show(new GameID(Number(m), Number(s), Number(q))),
  compare: (a, b) => [Math.sign(GameID.compare(GameID.parse(a), GameID.parse(b)))],
  seal: (key, kind, t) => [cipher(key, kind).seal(GameID.parse(text(t)))],
  open: (key, kind, t) => [cipher(key, kind).open(text(t))],
  number: (t) => ((n) => [n, spaced(n), isChecked(n) ? 1 : 0])(parseNumber(text(t))),
  checked: (t) => [parseChecked(text(t))],
  withcheck: (n) => [withCheck(Number(n))],
};

function answer(line) {
  const [question, ...args] = line.split("\t");
  try {
    return ["ok", ...answers[question](...args)].join("\t");
  } catch (e) {
    if (e.code === undefined) throw e;
    return ["error", e.code, e.message].join("\t");
  }
}

// Lines as they come, answered a piece at a time.
let rest = "";
process.stdin.setEncoding("latin1");
process.stdin.on("data", (piece) => {
  const lines = (rest + piece).split("\n");
  rest = lines.pop();
  if (lines.length > 0) process.stdout.write(lines.map(answer).join("\n") + "\n");
});
