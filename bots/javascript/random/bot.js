// Plays by chance, any game: one play a request, and every legal one is equally likely.

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

  decide({ legal }) {
    return { action: { plays: [this.pick(legal)] } };
  }

  // One of the plays that can be made of some products, each as likely as any other: first a product, the likelier the
  // more plays it makes, then a value for each key. The keys are in order of name, because a map's keys have no order.
  pick(products) {
    const sizes = products.map((product) => Object.values(product).reduce((size, values) => size * ways(values), 1));
    let index = this.random.below(sizes.reduce((total, size) => total + size));
    const at = sizes.findIndex((size) => (index -= size) < 0);
    const keys = Object.keys(products[at]).sort();
    return Object.fromEntries(keys.map((key) => [key, this.choose(products[at][key])]));
  }

  // One of the values of a key, or several where the product says { choose: n, of: [...] }.
  choose(values) {
    if (Array.isArray(values)) return values[this.random.below(values.length)];
    const left = [...values.of];
    return Array.from({ length: values.choose }, () => left.splice(this.random.below(left.length), 1)[0]);
  }
}

// How many choices the values of a key offer.
function ways(values) {
  if (Array.isArray(values)) return values.length;
  let count = 1;
  for (let i = 0; i < values.choose; i++) count = (count * (values.of.length - i)) / (i + 1);
  return count;
}

run(new RandomBot());
