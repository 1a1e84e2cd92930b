// The client's codec against the protocol's vectors, and its types against what it exports.

"use strict";

const assert = require("node:assert");
const { readdirSync, readFileSync } = require("node:fs");
const path = require("node:path");
const { describe, test } = require("node:test");

const client = require("../arena_bot.js");
const { Bot, Receipt, decode, encode } = client;

const VECTORS = path.join(__dirname, "../../../protocol/vectors");
// The rules that make a frame one map with a type: what breaks one of them is no message.
const FRAMING = ["§5.1-2", "§5.1-3", "§5.3-1"];

// All vectors of a folder.
function vectors(kind) {
  const folder = path.join(VECTORS, kind);
  return readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(path.join(folder, name), "utf8")).vectors);
}

// The bytes that a vector writes as hex: parts, of which each may be hex*count.
function bytes({ hex }) {
  const parts = hex.split(" ").map((part) => part.split("*"));
  return Buffer.from(parts.map(([unit, count]) => unit.repeat(Number(count ?? 1))).join(""), "hex");
}

// What a message says without the fields that a vector does not know.
function known(message, decoded) {
  if (Array.isArray(decoded) && Array.isArray(message)) return message.map((item, i) => known(item, decoded[i]));
  if (decoded === null || typeof decoded !== "object" || typeof message !== "object") return message;
  return Object.fromEntries(Object.keys(decoded).map((key) => [key, known(message[key], decoded[key])]));
}

describe("a valid frame is read", () => {
  for (const vector of vectors("valid"))
    test(vector.id, () => {
      const message = decode(bytes(vector));
      if (vector.decoded === null) assert.strictEqual(typeof message.type, "string");
      else assert.deepStrictEqual(known(message, vector.decoded), vector.decoded);
    });
});

describe("what a bot sends is written so that it can be read", () => {
  for (const { id, from, decoded } of vectors("valid"))
    if (from === "bot" && decoded !== null) test(id, () => assert.deepStrictEqual(decode(encode(decoded)), decoded));
});

describe("a receipt is what the protocol's vectors say", () => {
  const { receipts } = JSON.parse(readFileSync(path.join(VECTORS, "receipts.json"), "utf8"));
  for (const { id, messages, line } of receipts)
    test(id, () => {
      const [start, ...rest] = messages.map((message) => decode(encode(message)));
      const receipt = new Receipt(start);
      for (let place = 0; place + 1 < rest.length; place += 2) receipt.add(rest[place], rest[place + 1]);
      assert.deepStrictEqual(receipt.line(rest[rest.length - 1]), line);
    });
});

describe("what is no message is refused", () => {
  for (const vector of vectors("invalid").filter(({ spec }) => spec.some((rule) => FRAMING.includes(rule))))
    test(vector.id, () => assert.throws(() => decode(bytes(vector)), /^Error: expected one msgpack map with a type/));
});

describe("any other invalid frame is refused in the same way, or read", () => {
  for (const vector of vectors("invalid"))
    test(vector.id, () => {
      try {
        assert.strictEqual(typeof decode(bytes(vector)).type, "string");
      } catch (error) {
        assert.match(error.message, /^expected one msgpack map with a type/);
      }
    });
});

test("a field that is undefined is not sent", () => {
  assert.deepStrictEqual(decode(encode({ type: "action", note: undefined })), { type: "action" });
});

test("a bot must say how it decides", () => {
  assert.throws(() => new Bot().decide({}), /must override decide/);
});

test("the types declare what the client exports", () => {
  const types = readFileSync(path.join(__dirname, "../arena_bot.d.ts"), "utf8");
  const declared = [...types.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepStrictEqual(declared.sort(), Object.keys(client).sort());
});
