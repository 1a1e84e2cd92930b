// What bots for Samurai Gardener share: cards, gardens and their rows, and where cards may go.
//
// A kind is a number here, its index in KINDS; a square is a pair [x, y], x to the right and y down. Feature cards are a
// number with a bit for each kind, which is set if that card is face up.

"use strict";

const KINDS = ["tatami", "path", "pond", "garden"];
const ALL = 0b1111; // all four feature cards face up
const POINTS = { 3: 1, 4: 2, 5: 4 }; // what a row brings, by its length
const BONUS = [0, 0, 2, 4, 6]; // what is added, by the number of different kinds scored in a round
// The squares of a card, in the order in which its kinds are given.
const SQUARES = [0, 1, 2].flatMap((y) => [0, 1].map((x) => [x, y]));
const ACROSS = [1, 0];
const DOWN = [0, 1];
// The five lines of a card: the first square, the direction, and which of the card's squares lie on it.
const LINES = [
  ...[0, 1, 2].map((y) => ({ first: [0, y], step: ACROSS, of: [2 * y, 2 * y + 1] })),
  ...[0, 1].map((x) => ({ first: [x, 0], step: DOWN, of: [x, x + 2, x + 4] })),
];

// Where a square is kept in a map: coordinates are far below 2 ** 15, for a deck has 64 cards.
const key = (x, y) => x * 2 ** 16 + y;
const bits = (number) => [1, 2, 4, 8].filter((bit) => number & bit).length;

// The cards of a game, from the message `game_start`: the kinds of each as it is, and turned.
function readDeck({ board }) {
  return board.cards.map((card) => card.map((kind) => KINDS.indexOf(kind))).map((card) => [card, [...card].reverse()]);
}

// Whether the feature cards matter for a seat: the option has one value for all, or one for each.
function usesFeatures({ features }, seat) {
  const values = features.split(",");
  return values[seat % values.length] === "on";
}

// The feature cards, from the names of the kinds that are face up.
function faceUp(kinds) {
  return kinds.reduce((features, kind) => features | (1 << KINDS.indexOf(kind)), 0);
}

// The feature cards after a row of a kind was scored.
function turnDown(features, kind) {
  return features & ~(1 << kind) || ALL;
}

// What is seen of one garden, from the deck and the garden's entry in a view.
class Garden {
  constructor(deck, cards) {
    this.squares = new Map(); // each as [x, y, kind]
    this.corners = new Set(); // where cards were put
    for (const [card, x, y, turned] of cards) {
      this.corners.add(key(x, y));
      const kinds = deck[card][Number(turned)];
      SQUARES.forEach(([dx, dy], i) => this.squares.set(key(x + dx, y + dy), [x + dx, y + dy, kinds[i]]));
    }
    this.rows = new Set(); // the squares that belong to a row: nothing may cover them
    for (const [x, y] of this.squares.values()) {
      for (const step of [ACROSS, DOWN]) {
        const length = this.run(x, y, step);
        if (length >= 3) for (let i = 0; i < length; i++) this.rows.add(key(x + i * step[0], y + i * step[1]));
      }
    }
  }

  // The kind of a square, or undefined where it is empty.
  kind(x, y) {
    return this.squares.get(key(x, y))?.[2];
  }

  inRow(x, y) {
    return this.rows.has(key(x, y));
  }

  // How many squares of one kind there are from a square on, itself included; 0 if it is empty.
  run(x, y, [dx, dy]) {
    const kind = this.kind(x, y);
    let length = 0;
    while (kind !== undefined && this.kind(x + length * dx, y + length * dy) === kind) length += 1;
    return length;
  }

  // Where a card may be put, in ascending order; if `exactlyOver`, exactly over one beside others, too.
  positions(exactlyOver = false) {
    const near = new Map();
    for (const [x, y] of this.squares.values()) {
      for (const [dx, dy] of SQUARES) {
        for (const [sideX, sideY] of [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]) {
          const at = [x - dx - sideX, y - dy - sideY];
          near.set(key(...at), at);
        }
      }
    }
    const barred = exactlyOver && this.corners.size > 1 ? new Set() : this.corners;
    return [...near.values()]
      .filter(([x, y]) => !barred.has(key(x, y)) && !SQUARES.some(([dx, dy]) => this.inRow(x + dx, y + dy)))
      .sort(([x, y], [otherX, otherY]) => x - otherX || y - otherY);
  }
}

module.exports = { BONUS, KINDS, LINES, POINTS, Garden, bits, faceUp, readDeck, turnDown, usesFeatures };
