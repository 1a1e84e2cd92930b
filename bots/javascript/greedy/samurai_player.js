// Greedy at Samurai: plays what gains most at once, by a count of influence. `bots/README.md` has it number by number.

"use strict";

const CASTES = ["buddha", "rice", "castle"];
const TILES = [
  ...CASTES.flatMap((caste) => [2, 3, 4].map((value) => `${caste}${value}`)),
  ...["samurai1", "samurai2", "samurai3", "ship1", "ship2", "ronin1", "switch", "move"],
];
const FAST = ["ship1", "ship2", "ronin1", "switch"];
const SETTLEMENTS = ["village", "city", "edo"];

// The first hand.
const HAND = ["samurai3", "samurai2", "samurai2", "ship2", "ronin1"];
// What a piece is worth to a seat, by empty land spaces around (4 or more are one row) and by lead, from -6 to 6.
const WORTH = [
  [-600, -600, -600, -600, -600, -600, 0, 600, 600, 600, 600, 600, 600],
  [-420, -360, -330, -300, -270, -240, -180, -60, 0, 60, 150, 300, 420],
  [-300, -260, -220, -180, -130, -60, 0, 70, 140, 200, 250, 290, 320],
  [-250, -210, -170, -130, -90, -45, 0, 50, 100, 150, 190, 230, 260],
  [-210, -175, -140, -105, -70, -35, 0, 40, 80, 115, 150, 180, 210],
];
// What it costs to give a tile away, in the order of TILES.
const COST = [30, 60, 100, 30, 60, 100, 30, 60, 100, 15, 60, 120, 30, 60, 45, 150, 150];

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function value(tile, caste) {
  const digit = Number(tile.at(-1));
  if (Number.isNaN(digit)) return 0;
  const kind = tile.slice(0, -1);
  return kind === caste || !CASTES.includes(kind) ? digit : 0;
}

// The board of a game and those of its options that matter here, from the message `game_start`.
class Board {
  constructor({ board, options, seat, seats }) {
    this.specials = options.fast === "specials"; // only switch and move are fast, and nothing follows another tile
    this.fast = this.specials ? ["switch", "move"] : options.move_is_fast === "yes" ? [...FAST, "move"] : FAST;
    this.instant = options.captures === "instant"; // pieces are captured within a turn
    this.seat = seat;
    this.seats = seats;
    this.isLand = board.spaces.map(({ kind }) => kind === "land");
    this.isSettlement = board.spaces.map(({ kind }) => SETTLEMENTS.includes(kind));
    this.neighbours = board.spaces.map(({ neighbours }) => neighbours);
    // The settlements next to a space that takes tiles; none for a settlement.
    this.beside = this.neighbours.map((near, space) =>
      this.isSettlement[space] ? [] : near.filter((other) => this.isSettlement[other]),
    );
  }
}

// What lies on the board, and the score of plays there as one seat sees it.
class Position {
  // pieces: settlement -> castes; tiles: space -> [seat, tile]
  constructor(board, pieces, tiles) {
    this.board = board;
    this.pieces = pieces;
    this.tiles = tiles;
    this.empty = new Map(); // land spaces around a settlement with pieces that hold no tile
    this.lead = new Map(); // by caste: this seat's influence there minus that of its strongest rival
    for (const settlement of pieces.keys()) {
      const around = board.neighbours[settlement];
      this.empty.set(settlement, around.filter((space) => board.isLand[space] && !tiles.has(space)).length);
      this.lead.set(settlement, CASTES.map((caste) => this.leadIn(around, caste)));
    }
  }

  static of(board, view) {
    const pieces = new Map();
    for (const caste of CASTES) {
      for (const settlement of view.pieces[caste]) pieces.set(settlement, [...(pieces.get(settlement) ?? []), caste]);
    }
    return new Position(board, pieces, new Map(view.tiles.map(([space, seat, tile]) => [space, [seat, tile]])));
  }

  leadIn(around, caste) {
    const totals = Array(this.board.seats).fill(0);
    for (const space of around) {
      if (this.tiles.has(space)) {
        const [seat, tile] = this.tiles.get(space);
        totals[seat] += value(tile, caste);
      }
    }
    const [own] = totals.splice(this.board.seat, 1);
    return own - Math.max(...totals);
  }

  // Whether a settlement with pieces is surrounded.
  captures() {
    return [...this.empty.values()].includes(0);
  }

  // The position after a play of this seat.
  after({ tile, space, caste, from, to, with: other, with_caste: otherCaste }) {
    if (tile === "switch") {
      const pieces = new Map(this.pieces);
      pieces.set(space, [...pieces.get(space).filter((one) => one !== caste), otherCaste]);
      pieces.set(other, [...pieces.get(other).filter((one) => one !== otherCaste), caste]);
      return new Position(this.board, pieces, this.tiles);
    }
    const tiles = new Map(this.tiles);
    if (tile === "move") tiles.set(to, tiles.get(from)).set(from, [this.board.seat, tile]);
    else tiles.set(space, [this.board.seat, tile]);
    return new Position(this.board, this.pieces, tiles);
  }

  // What a piece is worth where a lead grows by `more` and `filled` land spaces are filled.
  worth(settlement, caste, more = 0, filled = 0) {
    const lead = this.lead.get(settlement)[CASTES.indexOf(caste)] + more;
    return WORTH[Math.min(this.empty.get(settlement) - filled, 4)][Math.max(-6, Math.min(6, lead)) + 6];
  }

  // The gain at a settlement where a tile's influence is added (1), stays (0) or goes (-1).
  change(settlement, tile, added, filled) {
    return sum(
      (this.pieces.get(settlement) ?? []).map(
        (caste) => this.worth(settlement, caste, added * value(tile, caste), filled) - this.worth(settlement, caste),
      ),
    );
  }

  score(play) {
    return this.gain(play) - COST[TILES.indexOf(play.tile)];
  }

  gain({ tile, space, caste, from, to, with: other, with_caste: otherCaste }) {
    const { beside, isLand } = this.board;
    if (tile === "switch") {
      return (
        this.worth(space, otherCaste) - this.worth(space, caste) + this.worth(other, caste) - this.worth(other, otherCaste)
      );
    }
    if (tile === "move") {
      const moved = this.tiles.get(from)[1];
      const near = [...new Set([...beside[from], ...beside[to]])];
      return sum(
        near.map((settlement) => {
          const reached = Number(beside[to].includes(settlement));
          return this.change(settlement, moved, reached - Number(beside[from].includes(settlement)), reached);
        }),
      );
    }
    return sum(beside[space].map((settlement) => this.change(settlement, tile, 1, Number(isLand[space]))));
  }
}

// The legal first plays of a turn: of each product, every combination of one value for each key.
function plays(legal) {
  return legal.flatMap((product) =>
    Object.entries(product).reduce(
      (partial, [key, values]) => partial.flatMap((play) => values.map((one) => ({ ...play, [key]: one }))),
      [{}],
    ),
  );
}

// Of plays with equal scores, the one with the smallest key is chosen.
function key({ tile, space, caste, from, to, with: other, with_caste: otherCaste }) {
  const rest = {
    switch: [space, CASTES.indexOf(caste), other, CASTES.indexOf(otherCaste)],
    move: [from, to],
  };
  return [TILES.indexOf(tile), ...(rest[tile] ?? [space])];
}

function smaller(left, right) {
  const at = left.findIndex((number, index) => number !== right[index]);
  return at >= 0 && left[at] < right[at];
}

// Those of a turn's first plays that are still legal after the plays `chosen`, none of which captured pieces at once.
function remaining(candidates, hand, chosen, { fast, specials }) {
  const left = [...hand];
  const taken = new Set();
  for (const { tile, space, to } of chosen) {
    left.splice(left.indexOf(tile), 1);
    if (tile !== "switch") taken.add(to ?? space);
  }
  const slow = chosen.some(({ tile }) => !fast.includes(tile));
  const follows = (tile) => !slow || (fast.includes(tile) && !specials);
  return candidates.filter(
    ({ tile, space, to }) =>
      left.includes(tile) && follows(tile) && (tile === "switch" || !taken.has(to ?? space)),
  );
}

// Greedy's decisions in one game: a method for each kind, which returns plays and a note.
class SamuraiPlayer {
  constructor(game) {
    this.board = new Board(game);
  }

  hand() {
    return { plays: [{ hand: HAND }], note: "strength for every caste" };
  }

  // Put a caste near pieces of its own, so that one tile serves two; else keep the supply even.
  setup(view, legal) {
    const { neighbours, beside } = this.board;
    let best;
    for (const { space: spaces, caste: castes } of legal) {
      for (const space of spaces) {
        const near = neighbours[space].flatMap((around) => beside[around]).filter((other) => other !== space);
        for (const caste of castes) {
          const kin = near.filter((other) => view.pieces[caste].includes(other)).length;
          const rank = [-(2 * kin + view.supply[caste]), CASTES.indexOf(caste), space];
          if (!best || smaller(rank, best.rank)) best = { rank, play: { caste, space } };
        }
      }
    }
    return { plays: [best.play], note: `score ${-best.rank[0]}` };
  }

  // Take the play with the highest score, then others as long as they gain.
  turn(view, legal) {
    let position = Position.of(this.board, view);
    const first = plays(legal);
    let candidates = first;
    const chosen = [];
    const notes = [];
    while (candidates.length > 0) {
      let best;
      for (const play of candidates) {
        const score = position.score(play);
        if (!best || score > best.score || (score === best.score && smaller(key(play), key(best.play)))) {
          best = { play, score };
        }
      }
      if (chosen.length > 0 && best.score <= 0) break;
      chosen.push(best.play);
      notes.push(`${note(best.play)} ${best.score < 0 ? "" : "+"}${best.score}`);
      position = position.after(best.play);
      if (this.board.instant && position.captures()) break;
      candidates = remaining(first, view.hand, chosen, this.board);
    }
    return { plays: chosen, note: notes.join("; ") };
  }
}

function note({ tile, space, caste, from, to, with: other, with_caste: otherCaste }) {
  return { switch: [tile, space, caste, other, otherCaste], move: [tile, from, to] }[tile]?.join(" ") ?? `${tile} ${space}`;
}

module.exports = { SamuraiPlayer };
