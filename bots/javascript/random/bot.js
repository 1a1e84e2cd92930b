// Plays by chance, in whichever game: one play a request, and every legal one is equally likely.

"use strict";

const { Bot, run } = require("../arena_bot.js");

// Numbers by chance that a seed determines, for JavaScript's own cannot be seeded: the generator mulberry32.
class Random {
  constructor(seed) {
    this.state = seed % 2 ** 32;
  }

  // One of 0 to n - 1.
  below(n) {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  }
}

class RandomBot extends Bot {
  name = "random-js";
  version = "1.0";
  want = ["legal"];

  start(game) {
    this.random = new Random(game.bot_seed);
  }

  decide({ kind, legal }) {
    switch (kind) {
      case "hand":
        return { action: { hand: this.sample(legal.hand, legal.choose) } };
      case "turn":
        return { action: { plays: [this.pick(legal.plays)] } };
      case "score":
        return { action: { rows: [this.pick(legal.score)] } };
      default:
        return { action: this.pick(legal[kind]) };
    }
  }

  sample(values, count) {
    const left = [...values];
    return Array.from({ length: count }, () => left.splice(this.random.below(left.length), 1)[0]);
  }

  // One of the combinations of all products, each as likely as any other. A product maps keys to lists of values: it
  // has a combination for each choice of one value for each key.
  pick(products) {
    const sizes = products.map((product) => Object.values(product).reduce((size, values) => size * values.length, 1));
    let index = this.random.below(sizes.reduce((total, size) => total + size));
    const at = sizes.findIndex((size) => (index -= size) < 0);
    const keys = Object.keys(products[at]).sort(); // a map's keys have no order
    return Object.fromEntries(
      keys.map((key) => [key, products[at][key][this.random.below(products[at][key].length)]]),
    );
  }
}

run(new RandomBot());
