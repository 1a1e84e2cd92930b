// Plays what gains most at once, in whichever game. `bots/README.md` specifies it number by number.

"use strict";

const { Bot, run } = require("../arena_bot.js");
const { GardenerPlayer } = require("./gardener_player.js");
const { SamuraiPlayer } = require("./samurai_player.js");

const PLAYERS = { samurai: SamuraiPlayer, gardener: GardenerPlayer };

class Greedy extends Bot {
  name = "greedy-js";
  version = "1.0";

  start(game) {
    this.player = new PLAYERS[game.rules](game);
  }

  decide({ kind, view, legal }) {
    const { plays, note } = this.player[kind](view, legal);
    return { action: { plays }, note };
  }
}

run(new Greedy());
