// A bot for any game: it takes the first legal play of each request.

"use strict";

const { Bot, run } = require("./arena_bot.js");

class MyBot extends Bot {
  // "legal" lists the legal plays, "view" shows all that the seat may know, "events" what has happened.
  want = ["legal"];

  // Begins a game. `game` has what stays the same in it, such as the rules, the board and the own seat.
  start(game) {
    this.game = game;
  }

  // Answers a request. Here is the place for your own idea.
  decide({ legal }) {
    // A note is kept in the log; no opponent sees it during the game.
    return { action: { plays: [firstPlay(legal)] }, note: "the first will do" };
  }
}

// Returns the first legal play. `legal` is an array of products: a product has, for each key of a play, the values to
// choose from.
function firstPlay([product]) {
  return Object.fromEntries(Object.entries(product).map(([key, values]) => [key, first(values)]));
}

// Returns the first of some values; several where the product says { choose: n, of: [...] }.
function first(values) {
  return Array.isArray(values) ? values[0] : values.of.slice(0, values.choose);
}

run(new MyBot());
