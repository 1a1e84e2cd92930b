// The client of an arena bot, in one file. It needs the npm packages zeromq and @msgpack/msgpack, and nothing else.
//
// Copy it beside your bot, subclass Bot, override `decide`, and call `run`:
//
//     const { Bot, run } = require("./arena_bot.js");
//
//     class First extends Bot {               // takes the first legal play of every turn
//       want = ["legal"];
//       decide({ kind, legal }) {
//         if (kind === "hand") return { action: { hand: legal.hand.slice(0, legal.choose) } };
//         if (kind === "setup") return { action: first(legal.setup) };
//         return { action: { plays: [first(legal.plays)] } };
//       }
//     }
//
//     const first = ([product]) => Object.fromEntries(Object.entries(product).map(([key, values]) => [key, values[0]]));
//
//     run(new First());
//
// The referee starts the bot as a process with two environment variables, ARENA_ENDPOINT and ARENA_TOKEN. Then:
//
//     bot       hello                                       action    ready   (one answer to each)
//     referee          welcome   game_start   request ...          ...       game_over   ...   goodbye
//
// Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves many games.

"use strict";

const msgpack = require("@msgpack/msgpack");
const { Dealer } = require("zeromq");

const PROTOCOL = "1.0";

/** What a bot does. Override `decide`; the rest as you need it. */
class Bot {
  name = "";
  version = "";

  /** What each request shall carry: any of "view", "events", "legal". The less, the faster. */
  want = ["view", "legal"];

  /** A game begins. `game` is the message `game_start`: rules, options, seat, seats, board, bot_seed, ... */
  start(game) {}

  /**
   * Answer a request: { action, note }. The action is a map as the game's protocol page says; the note, a short text of
   * what the bot was thinking, may be left out. It is kept in the log and shown to no opponent during the game.
   *
   * `request` has the `kind` of decision, the `clock`, and what `want` asks for.
   */
  decide(request) {
    throw new Error("a bot must override decide");
  }

  /** A game has ended. `result` is the message `game_over`: termination, ranks, forfeits. */
  over(result) {}
}

/** The frame of a message. Fields that are undefined are left out. */
function encode(message) {
  return msgpack.encode(message, { ignoreUndefined: true });
}

/** The message in a frame. Throws an Error if it is not one msgpack map with a type. */
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

/** The beginning of a text, in at most so many bytes of UTF-8. */
function cut(text, bytes) {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/**
 * Play games with `bot` until the referee says goodbye. If it complains, cannot be understood, or did not start this
 * program, that is written to stderr, and the exit status will be 1.
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
        const { action, note } = bot.decide(message);
        await send({ type: "action", id: message.id, action, note: note && cut(note, maxNote) });
        break;
      }
      case "game_start":
        bot.start(message);
        await send({ type: "ready", game: message.game });
        break;
      case "game_over":
        bot.over(message);
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

module.exports = { Bot, run, encode, decode };
