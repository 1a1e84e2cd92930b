// Shows the log of a game as text, by protocol/LOG.md alone:
//     node view.js LOG              all that happened
//     node view.js LOG --seat N     what the bot at seat N was told
"use strict";
const fs = require("fs");
const { read } = require("./log.js");

// Text of bots must not reach the terminal as it is.
const plain = (text) => text.replace(/\p{C}/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
const words = (map) => Object.entries(map).map(([key, value]) => `${key} ${plain(JSON.stringify(value))}`).join(", ");

// A picture of a board whose places say where they lie, such as that of Samurai; of another, how much of what it has.
function* board(map) {
  for (const [key, value] of Object.entries(map)) {
    if (!Array.isArray(value)) yield `  ${key}: ${plain(String(value))}`;
    else if (value[0]?.col === undefined) yield `  ${key}: ${value.length}, the first ${plain(JSON.stringify(value[0]))}`;
    else {
      const lines = [];
      for (const { col, row, kind } of value) ((lines[2 * row + (col % 2)] ??= [])[col] = kind[0]);
      for (const line of lines.filter(Boolean)) yield "  " + Array.from(line, (letter) => letter ?? " ").join(" ");
    }
  }
}

function* show([header, ...records], seat) {
  const { settings, bots } = header;
  const name = (n) => `seat ${n}${n in bots ? ` (${plain(bots[n].name)})` : ""}`;
  const time = [settings.time.bank_ms !== null && `bank ${settings.time.bank_ms} + ${settings.time.increment_ms} ms`, settings.time.limit_ms !== null && `limit ${settings.time.limit_ms} ms`];
  yield `${header.game}: ${settings.rules} ${settings.rules_version}, ${settings.ruleset}: ${words(settings.options)}`;
  yield `time: ${time.filter(Boolean).join(", ")}, margin ${settings.margin_ms} ms, window of races ${settings.race_window_ms} ms`;
  yield `deal ${header.deal}, rotation ${header.rotation}, committed to by ${header.commitment}`;
  for (const [n, bot] of bots.entries()) yield seat === undefined || seat === n ? `${name(n)}: version ${plain(bot.version)}, seed ${bot.bot_seed}` : `seat ${n}`;
  if (header.board) yield* board(header.board);
  for (const [index, record] of records.entries()) {
    const step = `${index + 2}.`;
    if (record.record === "outcome") {
      yield `${step} over: ${record.termination} after ${record.actions} actions`;
      for (const [n, rank] of record.ranks.entries()) yield `   rank ${rank}: ${seat === undefined ? name(n) : `seat ${n}`}${record.scores ? `, score ${record.scores[n]}` : ""}`;
      continue;
    }
    if (record.forfeits?.some((one) => one.seat === seat)) return yield `${step} seat ${seat} forfeits: it is told nothing any more`;
    for (const { seat: n, code, sentence } of record.forfeits ?? []) yield `${step} turn ${record.turn}: seat ${n} forfeits, ${code}${seat === undefined ? `: ${plain(sentence)}` : ""}`;
    const own = seat === undefined || record.seat === seat;
    if (record.tied && seat === undefined) yield `${step} seats ${record.tied} were equally fast: order ${record.draw} of ${record.n}`;
    else if (record.record === "chance" && seat === undefined) yield `${step} chance draws ${record.draw} of ${record.n} from ${plain(record.stream)}`;
    else if (record.action && own) {
      const late = record.record === "late" ? "too late: others were faster, " : "";
      yield `${step} turn ${record.turn}: ${name(record.seat)} decides ${plain(record.kind)}, ${late}in ${record.used_ns / 1e6} ms: ${words(record.action)}`;
      if (record.note) yield `   note: ${plain(record.note)}`;
    }
    for (const { data, to } of record.events ?? []) {
      const { event, ...rest } = data;
      if (seat === undefined) yield `   ${to ? (to.length ? `to ${to}` : "to nobody") : "to all"}: ${plain(event)} ${words(rest)}`;
      else if (!to || to.includes(seat)) yield `   ${plain(event)} ${words(rest)}`;
    }
  }
}

const [file, option, number] = process.argv.slice(2);
try {
  if (!file) throw Error(" usage: node view.js LOG [--seat N]");
  const records = read(fs.readFileSync(file));
  const seat = option === "--seat" ? Number(number) : undefined;
  if (seat !== undefined && !(seat in records[0].bots)) throw Error(`expected a seat, got: ${number}`);
  process.stdout.write([...show(records, seat), ""].join("\n"));
} catch (error) {
  process.stderr.write(`${file ?? ""}:${error.message}\n`);
  process.exitCode = 1;
}
