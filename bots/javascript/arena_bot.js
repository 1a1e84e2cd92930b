// The client of an arena bot, in one file. It needs the npm packages zeromq and @msgpack/msgpack, and nothing else.
//
// Copy it beside your bot, subclass Bot, override `decide`, and call `run`:
//
//     const { Bot, run } = require("./arena_bot.js");
//
//     class First extends Bot {               // takes the first legal play of every request, in any game
//       want = ["legal"];
//       decide({ legal: [product] }) {
//         const play = Object.fromEntries(Object.entries(product).map(([key, values]) => [key, first(values)]));
//         return { action: { plays: [play] } };
//       }
//     }
//
//     // Choose one of an array, or several where the product says { choose: n, of: [...] }.
//     const first = (values) => (Array.isArray(values) ? values[0] : values.of.slice(0, values.choose));
//
//     run(new First());
//
// The referee starts the bot as a process with two environment variables, ARENA_ENDPOINT and ARENA_TOKEN. Then:
//
//     bot       hello                                       action    ready   (one answer to each)
//     referee          welcome   game_start   request ...          ...       game_over   ...   goodbye
//
// Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves many games.
//
// In every game `legal` is an array of products: maps that give, for each key of a play, the values it may have. They
// are an array to choose one from, or a map { choose: n, of: [...] } to choose n from. The action is always a map
// { plays: [...] }; each play has a chosen value for each key of one product. One play is always enough.

"use strict";

const { createHash } = require("node:crypto");
const { appendFileSync } = require("node:fs");

const msgpack = require("@msgpack/msgpack");
const { Dealer } = require("zeromq");

const PROTOCOL = "1.0";

/** What a bot does. Override `decide`; the rest as you need it. Each method may be async. */
class Bot {
  name = "";
  version = "";

  /** What each request shall carry: any of "view", "events", "legal". The less, the faster. */
  want = ["view", "legal"];

  /**
   * A file to which a line is added for each game that is over, for `arena verify --receipts`: by it the log can be held
   * to what this bot saw and did. Empty: none. Only a bot that wants "events" can compute it by itself.
   */
  receipts = "";

  /** Begins a game. `game` is the message `game_start`: rules, options, seat, seats, board, bot_seed, ... */
  start(game) {}

  /**
   * Answers a request: returns { action, note }, or a promise of it. The action is { plays: [...] }. The note, a short
   * text of what the bot was thinking, may be left out; it is kept in the log, and no opponent sees it during the game.
   *
   * `request` has the `kind` of decision, the `clock`, and what `want` asks for.
   */
  decide(request) {
    throw new Error("a bot must override decide");
  }

  /** Ends a game. `result` is the message `game_over`: termination, ranks, forfeits. */
  over(result) {}
}

/** Returns the frame of a message. Fields that are undefined are left out. */
function encode(message) {
  return msgpack.encode(message, { ignoreUndefined: true });
}

/** Returns the message in a frame. Throws an Error if it is not one msgpack map with a type. */
function decode(frame) {
  let message;
  try {
    message = msgpack.decode(frame);
  } catch {
    // said below
  }
  if (typeof message?.type !== "string")
    throw new Error(`expected one msgpack map with a type in each frame, got: ${frame.length} bytes that are none`);
  return message;
}

/** Returns the beginning of a text, in at most so many bytes of UTF-8. */
function cut(text, bytes) {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/** What the bot saw and did in one game, as section 8.10 of SPEC.md digests it. Begin with the `game_start` message. */
class Receipt {
  #start = {};
  #answers = [];
  #notes = [];
  #events = [];

  constructor(game) {
    for (const name of ["board", "bot_seed", "options", "rules", "rules_version", "ruleset", "seat", "seats"])
      this.#start[name] = game[name] ?? null;
  }

  /** Takes a request, and the `action` message that answers it. */
  add(request, { action, note }) {
    this.#tell(request);
    this.#answers.push({ action: ordered(action), kind: request.kind });
    this.#notes.push(note ?? null);
  }

  #tell({ events }) {
    this.#events = events == null ? null : this.#events?.concat(events) ?? null;
  }

  /** Returns what to keep, by the `game_over` message: the digest that was told, and the one that is computed. */
  line(over) {
    this.#tell(over);
    const { digest: told, used_ns: used } = over.receipt ?? { digest: null, used_ns: [] };
    const { termination, ranks, scores = null } = over;
    const notes = this.#notes.slice(0, used.length); // an answer more has lapsed
    let own = null;
    if (this.#events !== null && told !== null) {
      const answers = used.map((ns, place) => ({ ...this.#answers[place], used_ns: ns }));
      const forfeits = over.forfeits.map(({ seat, code }) => ({ seat, code }));
      const result = { forfeits, ranks, scores, termination };
      own = digest({ answers, events: this.#events, over: result, start: this.#start });
    }
    const { bot_seed, seat } = this.#start;
    const said = notes.some((note) => note !== null) ? digest(notes) : null;
    const marks = over.forfeits.map(({ code, denied_ms = 0, overloaded = false, seat }) => ({ code, denied_ms, overloaded, seat }));
    const marked = over.receipt?.forfeits ? { forfeits: digest(marks) } : {};
    return { format: 1, bot_seed, seat, own, told, notes: said, termination, ranks, ...marked };
  }
}

/** Returns an action with every array in a play in order: where several values are chosen, theirs means nothing. */
function ordered(action) {
  const sorted = (value) => (Array.isArray(value) ? [...value].sort((one, other) => compare(canonical(one), canonical(other))) : value);
  const plays = action.plays.map((play) =>
    Object.fromEntries(Object.entries(play).map(([key, value]) => [key, sorted(value)])),
  );
  return { ...action, plays };
}

/** Compares two texts by their code points. */
function compare(one, other) {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** Returns the SHA-256 (hex) of a value's canonical JSON. */
function digest(value) {
  return createHash("sha256").update(canonical(value)).digest("hex");
}

/** Returns canonical JSON: no blanks, keys in the order of their code points. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort(compare);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)}}`;
}

/** Adds a line to the file of receipts, and complains if the referee's digest is another than the bot's own. */
function keep(path, line) {
  appendFileSync(path, `${JSON.stringify(line)}\n`);
  if (line.own !== null && line.own !== line.told)
    console.error(`receipt: computed ${line.own}, got: ${line.told}; kept in ${path}`);
}

/**
 * Plays games with `bot` until the referee says goodbye. If the referee complains, cannot be understood, or did not
 * start this program, `run` writes that to stderr, and the exit status will be 1. What a method of the bot throws
 * rejects the promise: Node then writes it to stderr and ends the process with status 1.
 */
async function run(bot) {
  const { ARENA_ENDPOINT: endpoint, ARENA_TOKEN: token } = process.env;
  if (endpoint === undefined || token === undefined)
    return fail("expected ARENA_ENDPOINT and ARENA_TOKEN in the environment: arena's referee starts this program");
  const socket = new Dealer({ linger: 0 });
  const send = (message) => socket.send(encode(message));
  socket.connect(endpoint);
  await send({ type: "hello", token, protocol: PROTOCOL, name: bot.name, version: bot.version, want: bot.want });

  let maxNote = 1024;
  let receipt = null;
  for await (const [frame] of socket) {
    let message;
    try {
      message = decode(frame);
    } catch (error) {
      socket.close();
      return fail(error.message);
    }
    switch (message.type) {
      case "request": {
        const { action, note } = await bot.decide(message);
        const answer = { type: "action", id: message.id, action, note: note ? cut(note, maxNote) : undefined };
        await send(answer);
        receipt?.add(message, answer);
        break;
      }
      case "game_start":
        await bot.start(message);
        await send({ type: "ready", game: message.game });
        receipt = bot.receipts ? new Receipt(message) : null;
        break;
      case "game_over":
        if (receipt && message.ranks.length > 0) keep(bot.receipts, receipt.line(message));
        await bot.over(message);
        break;
      case "welcome":
        maxNote = message.max_note;
        break;
      case "error":
        socket.close();
        return fail(`referee: ${message.code}: ${message.message ?? ""}`);
      case "goodbye":
        socket.close();
        return;
      // Any other type belongs to a later version of the protocol, and is ignored.
    }
  }
}

function fail(reason) {
  console.error(reason);
  process.exitCode = 1;
}

module.exports = { Bot, Receipt, run, encode, decode };
