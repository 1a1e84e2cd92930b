// Greedy at Samurai Gardener: plants for the points of the round, then for rows that can grow. `bots/README.md` has it
// number by number.

"use strict";

const { BONUS, KINDS, LINES, POINTS, Garden, bits, faceUp, readDeck, turnDown, usesFeatures } = require("../gardener.js");

const POINT = 100; // what a point is worth
const END = 15; // what an open end of a run is worth: the run can grow there
const FACE_UP = 10; // what a feature card that stays face up is worth

// Greedy's decisions in one game: a method for each kind, which returns plays and a note.
class GardenerPlayer {
  constructor(game) {
    this.deck = readDeck(game);
    this.seat = game.seat;
    this.scoring = usesFeatures(game.options, this.seat) ? bestScoring : wholeScoring;
    this.exactlyOver = game.options.exactly_over === "yes";
  }

  // Take the card with the best planting.
  seize(view, legal) {
    const garden = new Garden(this.deck, view.gardens[this.seat]);
    const cards = legal.flatMap(({ card }) => card).sort((one, other) => one - other);
    const { worth, card } = this.bestPlanting(view, garden, cards, garden.positions(this.exactlyOver));
    return { plays: [{ card }], note: `worth ${worth}` };
  }

  // Plant where it is worth most.
  plant(view, legal) {
    const garden = new Garden(this.deck, view.gardens[this.seat]);
    const positions = legal.flatMap(({ at }) => at).sort(([x, y], [otherX, otherY]) => x - otherX || y - otherY);
    const { worth, at, turned } = this.bestPlanting(view, garden, [view.taken[this.seat]], positions);
    return { plays: [{ at, turned }], note: `worth ${worth}` };
  }

  // Score rows in the order that is worth most.
  score(view) {
    const rows = view.rows[this.seat];
    const lines = rows.map(({ kind, length }) => ({ kind: KINDS.indexOf(kind), length }));
    const { worth, order } = bestScoring(lines, faceUp(view.features[this.seat]));
    return { plays: order.map((i) => ({ at: rows[i].at, along: rows[i].along })), note: `worth ${worth}` };
  }

  // The planting that is worth most; of equals the first, by card, then by position, as it is before turned.
  bestPlanting(view, garden, cards, positions) {
    const features = faceUp(view.features[this.seat]);
    const places = positions.map((at) => {
      const stretches = LINES.map((line) => stretch(garden, at, line));
      const before = stretches.map(({ ends, seen }) => weigh(ends, seen, features).hope);
      return { at, stretches, before: before.reduce((total, hope) => total + hope) };
    });
    let best;
    for (const card of cards) {
      for (const { at, stretches, before } of places) {
        for (const turned of [false, true]) {
          const kinds = this.deck[card][Number(turned)];
          const rows = [];
          let hope = -before;
          LINES.forEach(({ of }, i) => {
            const onLine = of.map((square) => kinds[square]);
            const weighed = weigh(stretches[i].ends, onLine, features);
            rows.push(...weighed.rows);
            hope += weighed.hope;
          });
          const worth = hope + this.scoring(rows, features).worth;
          if (!best || worth > best.worth) best = { worth, card, at, turned };
        }
      }
    }
    return best;
  }
}

// The run at either end of one of a card's lines, and the kinds seen there now.
function stretch(garden, at, { first, step: [dx, dy], of }) {
  const under = of.map((_, i) => [at[0] + first[0] + i * dx, at[1] + first[1] + i * dy]);
  const ends = [beyond(garden, under[0], [-dx, -dy]), beyond(garden, under.at(-1), [dx, dy])];
  return { ends, seen: under.map(([x, y]) => garden.kind(x, y)) };
}

// The run that begins next to a square: its kind, its length, and whether its far end is open.
function beyond(garden, [x, y], [dx, dy]) {
  const length = garden.run(x + dx, y + dy, [dx, dy]);
  const isOpen = !garden.inRow(x + dx * (length + 1), y + dy * (length + 1));
  return { kind: garden.kind(x + dx, y + dy), length, isOpen };
}

// The rows with a square of `line`, and what the open ends of runs are worth. `line` holds the kinds of the squares
// between the runs `ends`; undefined is an empty square.
function weigh([before, after], line, features) {
  const runs = [{ ...before, own: false }];
  for (const kind of line) {
    if (kind === runs.at(-1).kind) {
      runs.at(-1).length += 1;
      runs.at(-1).own = true;
    } else {
      runs.push({ kind, length: 1, own: true });
    }
  }
  if (after.kind === runs.at(-1).kind) runs.at(-1).length += after.length;
  else runs.push({ ...after, own: false });
  // A run can grow over a neighbour that is empty, or too short to be a row.
  const canGiveWay = runs.map(({ kind, length }) => kind === undefined || length < 3);
  const isOpen = [before.isOpen, ...canGiveWay, after.isOpen];
  let hope = 0;
  runs.forEach(({ kind, length }, i) => {
    if (kind !== undefined && length >= 2 && length <= 4 && (features >> kind) & 1) {
      hope += END * (Number(isOpen[i]) + Number(isOpen[i + 2]));
    }
  });
  return { rows: runs.filter(({ kind, length, own }) => own && kind !== undefined && length in POINTS), hope };
}

// The best order in which to score rows: its worth, and the indices of the rows. `kinds` has a bit for each kind that
// was scored before in this round, `left` the indices of the rows that were not.
function bestScoring(rows, features, kinds = 0, left = rows.map((_, i) => i)) {
  let best = { worth: POINT * BONUS[bits(kinds)] + FACE_UP * bits(features), order: [] };
  for (const i of left) {
    const { kind, length } = rows[i];
    if ((features >> kind) & 1) {
      const rest = left.filter((other) => other !== i);
      const after = bestScoring(rows, turnDown(features, kind), kinds | (1 << kind), rest);
      const worth = after.worth + POINT * POINTS[length];
      if (worth > best.worth) best = { worth, order: [i, ...after.order] };
    }
  }
  return best;
}

// The same with `features: off`: every row scores.
function wholeScoring(rows, features) {
  const points = rows.reduce((total, { length }) => total + POINTS[length], 0);
  return { worth: POINT * (points + BONUS[new Set(rows.map(({ kind }) => kind)).size]) + FACE_UP * bits(features) };
}

module.exports = { GardenerPlayer };
