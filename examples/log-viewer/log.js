// Reads the log of a game and checks its sums, its shape and the order of its records: sections 2, 3 and 4 of
// protocol/LOG.md. For Node 18 or newer, without any package.
"use strict";
const fs = require("fs");
const path = require("path");

const FOLDER = path.join(__dirname, "..", "..", "protocol", "schemas", "log");
const SCHEMAS = new Map(fs.readdirSync(FOLDER).map((file) => [path.parse(file).name, JSON.parse(fs.readFileSync(path.join(FOLDER, file)))]));

function crc32(bytes, before) {
  let crc = ~before;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

// Where a value departs from its schema, or nothing.
function misfit(value, schema, root, place) {
  if (schema.$ref) schema = root.$defs[schema.$ref.split("/").pop()];
  if (schema.anyOf && schema.anyOf.every((one) => misfit(value, one, root, place))) return misfit(value, schema.anyOf[0], root, place);
  const type = value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  if (schema.type && schema.type !== type && !(schema.type === "number" && type === "integer")) return `${place} is no ${schema.type}`;
  if ("const" in schema && value !== schema.const) return `${place} is not ${schema.const}`;
  if (schema.enum && !schema.enum.includes(value)) return `${place} is none of ${schema.enum}`;
  if (schema.pattern && !new RegExp(schema.pattern).test(value)) return `${place} is not ${schema.pattern}`;
  if (value < schema.minimum || value > schema.maximum) return `${place} is out of range`;
  if (type === "array" && value.length < schema.minItems) return `${place} is too short`;
  if (schema.uniqueItems && new Set(value).size < value.length) return `${place} names something twice`;
  for (const key of schema.required ?? []) if (!Object.hasOwn(value, key)) return `${place}.${key} is missing`;
  for (const [key, inner] of Object.entries(type === "object" || type === "array" ? value : {})) {
    const known = type === "array" ? schema.items : schema.properties?.[key] ?? schema.additionalProperties;
    const found = known && misfit(inner, known, root, `${place}.${key}`);
    if (found) return found;
  }
}

// For JSON.parse: refuses half of a surrogate pair.
function text(key, value) {
  if (typeof value === "string" && /\p{Cs}/u.test(value)) throw Error(`${key} is no Unicode text`);
  return value;
}

// The records of a log. Throws an error that begins with the number of the line that is wrong.
function read(file) {
  if (!file.subarray(0, 31).toString("latin1").startsWith('{"record":"header","format":3,')) throw Error("1: this is no log of format 3");
  const records = [];
  let sum = 0;
  for (let start = 0; start < file.length; ) {
    const fault = (what) => Error(`${records.length + 1}: ${what}`);
    const end = file.indexOf(10, start);
    const at = end - 18; // of `,"sum":"01234567"}`
    if (end < 0 || !/^,"sum":"[0-9a-f]{8}"\}$/.test(file.toString("latin1", at, end))) throw fault("the line does not end with its sum");
    sum = crc32(file.subarray(start, at), sum);
    if (file.toString("latin1", at + 8, at + 16) !== sum.toString(16).padStart(8, "0")) throw fault("the sum is wrong");
    sum = crc32(file.subarray(at, end + 1), sum);
    let record;
    try {
      record = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(file.subarray(start, end)), text);
    } catch (error) {
      throw fault(error.message);
    }
    const schema = SCHEMAS.get(record.record);
    const found = schema ? misfit(record, schema, schema, record.record) : "a kind of record that format 3 has not";
    if (found) throw fault(found);
    records.push(record);
    start = end + 1;
  }
  for (const [index, { record }] of records.entries()) {
    if ((record === "header") !== (index === 0)) throw Error(`${index + 1}: expected one header, and it first`);
    if ((record === "outcome") !== (index === records.length - 1)) throw Error(`${index + 1}: expected one outcome, and it last`);
  }
  return records;
}

module.exports = { read };
