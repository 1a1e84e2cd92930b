// A bot for Samurai and Samurai Gardener: it takes the first legal play of each request.

"use strict";

const { Bot, run } = require("./arena_bot.js");

// The first play of some products. A product lists the values that each key of a play may have.
function first([product]) {
  return Object.fromEntries(Object.entries(product).map(([key, values]) => [key, values[0]]));
}

class MyBot extends Bot {
  // "legal" lists the legal plays, "view" shows all that the seat may know, "events" what has happened.
  want = ["legal"];

  // A game begins: what stays the same in it, such as the board, is told now.
  start(game) {
    this.game = game;
  }

  // Answer a request. Here is the place for your own idea.
  decide({ kind, legal }) {
    switch (kind) {
      case "hand": // Samurai: choose a hand, put a piece on the board, play a tile or more.
        return { action: { hand: legal.hand.slice(0, legal.choose) } };
      case "setup":
        return { action: first(legal.setup) };
      case "turn": // A note is kept in the log; no opponent sees it during the game.
        return { action: { plays: [first(legal.plays)] }, note: "the first will do" };
      case "seize": // Gardener: take a card, plant it, score rows.
        return { action: first(legal.seize) };
      case "plant":
        return { action: first(legal.plant) };
      case "score":
        return { action: { rows: [first(legal.score)] } };
    }
  }
}

run(new MyBot());
