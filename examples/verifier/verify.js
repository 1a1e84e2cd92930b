// A second verifier: plans each round of a tournament again from its logs, and rates the entrants again, by
// protocol/FORMATS.md alone. Call: node verify.js FOLDER, a tournament's folder of logs. It needs Node and no package.
// It prints JSON: how many rounds and games were as planned, the faults, and the standings. Status 1 if there are faults.
"use strict";
const fs = require("fs"), path = require("path");
const { MU, SIGMA, sum, range, round, rateTwo, refit } = require("./numbers.js");
const { FORMATS, NotChecked, permutations, combinations, turned, shareOf, merged } = require("./rounds.js");

function rowsOf(games) {
  const rows = new Map();
  for (const g of games.filter((g) => g.ranks))
    for (const [[one, rank], [other, others]] of combinations(g.who.map((x, i) => [x, g.ranks[i]]).sort((a, b) => a[0] - b[0]), 2)) {
      const key = `${g.deal},${one},${other}`;
      rows.set(key, merged(rows.get(key), { deal: g.deal, one, other, better: +(rank < others), equal: +(rank === others), worse: +(rank > others) }));
    }
  return [...rows.values()].sort((a, b) => a.deal - b.deal || a.one - b.one || a.other - b.other);
}
function resultOf(entrants, games) {
  const rows = rowsOf(games);
  return {
    entrants, rows,
    share(x) {
      const own = rows.filter((r) => r.one === x || r.other === x).map((r) => shareOf(r, x));
      return own.length ? sum(own) / own.length : 0.5;
    },
    dealShares: (x, y) => rows.filter((r) => [r.one, r.other].includes(x) && [r.one, r.other].includes(y)).map((r) => shareOf(r, x)),
  };
}
function read(folder, commitment, faults) {
  const games = new Map();
  const voids = commitment.settings.on_overload === "void";
  const names = fs.readdirSync(folder), packed = names.find((name) => name.endsWith(".zst"));
  if (packed) throw new NotChecked(`compressed logs, such as ${packed}; expand them in their places, as protocol/LOG.md says`);
  for (const name of names.filter((name) => name.endsWith(".jsonl"))) {
    const records = fs.readFileSync(path.join(folder, name), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const header = records[0], over = records[records.length - 1], isVoid = voids && records.some((r) => r.record === "forfeit" && r.forfeits.some((one) => one.overloaded));
    const number = Number(header.game.split("-").pop()), game = `${commitment.tournament}-${String(number).padStart(6, "0")}`;
    if (header.tournament !== commitment.tournament || header.game !== game || name !== `${game}.jsonl`) {
      faults.push(`${name}: expected the log of a game of ${commitment.tournament} under its name, got: ${header.game}`);
      continue;
    }
    games.set(number,
      { deal: header.deal, rotation: header.rotation, bots: header.bots.map((b) => b.name), ranks: isVoid ? null : over.ranks, teams: header.settings.teams });
  }
  return games;
}
// Returns how many seatings each deal of a meeting has, and who sits where in one.
function seatingsOf(s) {
  const all = s.seatings === "all" ? permutations(range(s.players)) : null;
  const order = (deal, rotation) => (all ? all[rotation] : turned(s.circles[deal % s.circles.length], rotation));
  return [all ? all.length : s.players, (table, deal, rotation) => order(deal, rotation).map((i) => table[i])];
}
// Plans round after round, holds each game against its place in them, and rates by it. What it finds goes into `found`.
function check(commitment, games, found) {
  const s = commitment.schedule, { faults, ratings } = found, [seatings, seated] = seatingsOf(s);
  if (!FORMATS[s.format]) throw new NotChecked(`the format ${s.format}`);
  if ([...games.values()].some((g) => g.teams)) throw new NotChecked("games of teams");
  const names = commitment.bots.map((bot) => bot.name.replace(/#\d+$/, "")); // a log has a bot's own name
  let from = 0;
  const peek = (tables) => range(tables).map((i) => {
    const bots = (games.get(from + i * s.deals * seatings) || { bots: ["", ""] }).bots;
    if (new Set(names).size < names.length) throw new NotChecked("pairings of a bot that entered twice");
    return bots.map((bot) => names.indexOf(bot));
  });
  const planning = s.planning || (s.players > 2 || s.format === "knockout" ? 1 : 2);
  const format = (found.format = new FORMATS[s.format](s, planning, peek, Buffer.from(commitment.commitment, "hex")));
  const early = []; // results that the format does not know yet
  for (let plan; (plan = format.next()) && !faults.length; found.rounds++) {
    if (s.matches === null && !games.has(from)) break; // a ladder without end was stopped here
    if (!plan.meetings.length) faults.push(`round ${found.rounds + 1}: another pairing costs less`);
    const size = seatings * plan.deals, results = plan.meetings.map(([table, first], meeting) => {
      const played = [];
      for (let i = 0; i < size; i++) {
        const number = from + meeting * size + i, rotation = Math.floor(i / plan.deals), deal = first + (i % plan.deals);
        const who = seated(table, deal, rotation), g = games.get(number);
        if (!g) { faults.push(`game ${number}: expected ${who} on deal ${deal}, got: no log`); break; }
        const expected = `${who.map((x) => names[x])}, deal ${deal}, rotation ${rotation}`;
        const got = `${g.bots}, deal ${g.deal}, rotation ${g.rotation}`;
        if (got !== expected) faults.push(`game ${number}: expected ${expected}, got: ${got}`);
        g.who = who;
        played.push(g);
        if (g.ranks && s.players === 2)
          rateTwo(ratings[who[0]], ratings[who[1]], ...g.ranks).forEach((r, seat) => (ratings[who[seat]] = r));
      }
      found.games += played.length;
      return resultOf(table, played);
    });
    const mu = ratings.map((r) => r.mu);
    format.plan(plan);
    early.push([results, (x) => mu[x]]);
    while (early.length > format.lag) format.note(...early.shift());
    from += plan.meetings.length * size;
  }
  if (found.games < games.size && !faults.length) faults.push(`expected ${found.games} games, got: ${games.size}`);
}
function struckIn(folder) { // games whose results were taken back: rounds follow from them, ratings and standings do not
  const file = path.join(folder, "corrections.json"), last = new Map();
  if (fs.existsSync(file)) for (const one of JSON.parse(fs.readFileSync(file, "utf8")).corrections) last.set(one.game, one.counts);
  return new Set([...last].filter(([, counts]) => !counts).map(([game]) => game));
}
function standings(commitment, games, struck, format) {
  const s = commitment.schedule, ratings = commitment.bots.map(() => ({ mu: MU, sigma: SIGMA }));
  const placed = [...games].sort((a, b) => a[0] - b[0]).filter(([i, g]) => g.who && !struck.has(i)).map(([, g]) => g);
  const fit = refit(rowsOf(placed), s.entrants, s.players);
  for (const g of s.players === 2 ? placed.filter((g) => g.ranks) : [])
    rateTwo(ratings[g.who[0]], ratings[g.who[1]], ...g.ranks).forEach((r, seat) => (ratings[g.who[seat]] = r));
  return commitment.bots.map((bot, x) => ({
    bot: bot.name, rating: round(fit.ratings[x], 3), half_width: fit.widths[x] === null ? null : round(fit.widths[x], 3),
    mu: s.players === 2 ? round(ratings[x].mu, 3) : null, games: placed.filter((g) => g.ranks && g.who.includes(x)).length,
    points: format?.points?.[x] ?? null, place: format?.places?.[x] ?? null, // of a Swiss; of a knockout
  }));
}
function main(folder) {
  const commitment = JSON.parse(fs.readFileSync(path.join(folder, "commitment.json"), "utf8"));
  const found = { format: null, rounds: 0, games: 0, faults: [], ratings: commitment.bots.map(() => ({ mu: MU, sigma: SIGMA })) };
  let games = new Map(), notChecked = null;
  try {
    if (commitment.format > 1) throw new NotChecked(`format ${commitment.format} of a later version`);
    games = read(folder, commitment, found.faults);
    check(commitment, games, found);
  } catch (error) {
    if (!(error instanceof NotChecked)) throw error;
    notChecked = error.message;
  }
  const { rounds, faults } = found;
  console.log(JSON.stringify({
    format: commitment.schedule.format, rounds, games: found.games, notChecked, faults,
    standings: standings(commitment, games, struckIn(folder), found.format),
  }, null, 1));
  process.exitCode = faults.length ? 1 : 0;
}
main(process.argv[2]);
