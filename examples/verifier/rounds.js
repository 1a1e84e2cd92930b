// What the second verifier plans: the meetings of each round of every format, by sections 1 to 4 of protocol/FORMATS.md.
// A format is made with the commitment's schedule. Then, again and again: `next()` gives the next round, {deals, meetings:
// [[entrants, first deal]]}, or null; `plan(round)` says that it is played; `note(results, mu)` brings its results, so many
// rounds later as `lag` says, with the running ratings of that moment. `peek(tables)` gives the pairs that were played.
"use strict";
const { MU, BETA, sum, range, round, ascending, Evidence, refit, generator } = require("./numbers.js");

class NotChecked extends Error {}

// ---- seatings and choices (FORMATS.md, 1) ----
function permutations(list) {
  if (list.length < 2) return [list];
  return list.flatMap((x, i) => permutations([...list.slice(0, i), ...list.slice(i + 1)]).map((p) => [x, ...p]));
}
function combinations(list, k) {
  if (k === 0) return [[]];
  return list.flatMap((x, i) => combinations(list.slice(i + 1), k - 1).map((rest) => [x, ...rest]));
}
function choose(n, k) {
  let c = 1;
  for (let i = 1; i <= k; i++) c = Math.round((c * (n - k + i)) / i);
  return n < k ? 0 : c;
}
const gcd = (a, b) => (b ? gcd(b, a % b) : a);
function spread(n) {
  let s = Math.max(1, Math.round(n * (Math.SQRT2 - 1)));
  while (gcd(s, n) !== 1) s++;
  return s;
}
function compositions(total, parts, least) {
  if (parts === 1) return [[total]];
  return range(Math.max(0, total - parts * least + 1), least).flatMap((first) =>
    compositions(total - first, parts - 1, least).map((rest) => [first, ...rest]));
}
const turned = (gaps, at) => [...gaps.slice(at), ...gaps.slice(0, at)];
function compare(a, b) {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return 0;
}
function circles(n, players) {
  const whole = [], short = [];
  for (const first of range(Math.floor(n / players), 1))
    for (const rest of compositions(n - first, players - 1, first)) {
      const gaps = [first, ...rest];
      if (!range(players - 1, 1).every((at) => compare(gaps, turned(gaps, at)) <= 0)) continue;
      const period = range(players, 1).find((at) => compare(turned(gaps, at), gaps) === 0);
      const turns = sum(gaps.slice(0, period));
      if (turns === n) whole.push(gaps);
      else short.push(...range(turns).map((turn) => [gaps, turn]));
    }
  return [whole, short];
}
function pairings(n, players, planning) {
  if (players === 1) return range(n).map((x) => [x]);
  const total = choose(n, players);
  if (players === 2)
    return range(total).map((place) => {
      const r = Math.floor(place / Math.floor(n / 2)), m = place % Math.floor(n / 2);
      if (n % 2) return [(r + m) % n, (((r - m - 2) % n) + n) % n].sort(ascending);
      const c = n - 1;
      return [(r + m) % c, m ? (((r - m) % c) + c) % c : c].sort(ascending);
    });
  if (planning === 1 || total > 50000 * n) {
    const all = combinations(range(n), players);
    return range(total).map((place) => all[(place * spread(total)) % total]);
  }
  const [whole, short] = circles(n, players), stride = spread(whole.length);
  return range(total).map((place) => {
    const number = Math.floor(place / n);
    let [gaps, turn] = [null, ((place % n) * spread(n)) % n];
    if (number < whole.length) gaps = whole[(number * stride) % whole.length];
    else [gaps, turn] = short[place - n * whole.length];
    let at = turn;
    return gaps.map((step) => (at += step) % n).sort(ascending);
  });
}
function stagesOf(deals, count, planning) {
  const most = count === 1 ? deals : Math.max(30, Math.ceil(deals / 8)), grows = planning === 3 && count > 1;
  const stages = [];
  let size = grows ? Math.min(5, most) : most;
  for (let left = deals; left > 0; left -= stages[stages.length - 1]) {
    stages.push(left <= size || (grows && 2 * (left - size) < size) ? left : size);
    size = Math.min(2 * size, most);
  }
  return stages;
}

// ---- shares of a meeting's rows ----
function shareOf(row, entrant) {
  const share = (row.better + row.equal / 2) / (row.better + row.equal + row.worse);
  return entrant === row.one ? share : 1 - share;
}
function merged(a, b) {
  return a ? { ...a, better: a.better + b.better, equal: a.equal + b.equal, worse: a.worse + b.worse } : b;
}

// ---- formats (FORMATS.md, 2 to 4) ----
class Fixed { // round-robin, gauntlet, extension
  constructor(s, planning) {
    const n = s.entrants;
    this.lag = 0;
    this.rounds = [];
    const stages = (met, first, end) => {
      if (!met.length || end <= first) return;
      const sizes = s.format === "extension" && planning !== 3 ? [end - first] : stagesOf(end - first, met.length, planning);
      for (const deals of sizes) {
        this.rounds.push({ deals, meetings: met.map((table) => [table, first]) });
        first += deals;
      }
    };
    if (s.format === "round-robin") stages(pairings(n, s.players, planning), 0, s.deals);
    else if (s.format === "gauntlet") {
      const choices = pairings(n - s.challengers, s.players - 1, planning), c = s.challengers;
      const least = (c * choices.length) / gcd(c, choices.length);
      stages(range(c * choices.length).map((p) =>
        [p % c, ...choices[(p + Math.floor(p / least)) % choices.length].map((x) => c + x)]), 0, s.deals);
    } else {
      const old = new Set(combinations(s.unchanged, s.players).map(String)), all = pairings(n, s.players, planning);
      const missing = old.size ? Math.max(0, s.deals - s.played) : 0;
      stages(old.size ? all : [], 0, missing);
      stages(all.filter((table) => !old.has(String(table))), missing, s.deals);
    }
    this.at = 0;
  }
  next() { return this.rounds[this.at] || null; }
  plan() { this.at++; }
  note() {}
}
class Swiss {
  constructor(s, planning, peek) {
    Object.assign(this, { s, peek, lag: 0, at: 0 });
    this.total = s.rounds === null ? Math.ceil(Math.log2(s.entrants)) + 2 : s.rounds;
    this.bye = s.players > 2 && planning >= 2 ? 0.5 : 1;
    this.points = new Array(s.entrants).fill(0);
    this.byes = new Array(s.entrants).fill(0);
    this.met = range(s.entrants).map(() => new Map());
  }
  next() {
    if (this.at === this.total) return null;
    const { s, points, byes } = this, order = range(s.entrants).sort((a, b) => points[b] - points[a] || a - b);
    const lowest = [...order].sort((a, b) => byes[a] - byes[b] || points[a] - points[b] || b - a);
    this.resting = lowest.slice(0, s.entrants % s.players);
    const playing = order.filter((x) => !this.resting.includes(x));
    const found = s.players === 2 ? this.pairs(playing) : this.tables(playing);
    return { deals: s.deals, meetings: found.map((t) => [[...t].sort(ascending), this.at * s.deals]) };
  }
  again(a, b) { return this.met[a].get(b) || 0; }
  pairs(order) {
    const n = order.length, gap = Math.max(4000, n * n), repeated = 1e6 * gap * n, points = this.points;
    if (n > 22) throw new NotChecked("pairings of more than 22 entrants");
    const size = (x) => order.filter((y) => points[y] === points[x]).length;
    const cost = (u, l) => {
      const d = points[order[u]] - points[order[l]];
      return Math.round(gap * d * d) + Math.abs(l - u - Math.floor(size(order[u]) / 2)) + repeated * this.again(order[u], order[l]);
    };
    const costs = range(n).map((u) => range(n).map((l) => (u < l ? cost(u, l) : 0)));
    const best = new Float64Array(1 << n).fill(Infinity);
    best[0] = 0;
    for (let mask = 0; mask + 1 < 1 << n; mask++) {
      if (best[mask] === Infinity) continue;
      const u = range(n).find((i) => !(mask & (1 << i)));
      for (let l = u + 1; l < n; l++) {
        const to = mask | (1 << u) | (1 << l);
        if (!(mask & (1 << l)) && best[mask] + costs[u][l] < best[to]) best[to] = best[mask] + costs[u][l];
      }
    }
    // Of several pairings that cost the least the played one is right; any other would be as well.
    const played = this.peek(n / 2).map((t) => t.map((x) => order.indexOf(x)).sort(ascending)).sort((a, b) => a[0] - b[0]);
    const full = new Set(played.flat()).size === n && played.flat().every((x) => x >= 0);
    if (full && sum(played.map(([u, l]) => costs[u][l])) <= best[(1 << n) - 1]) return played.map(([u, l]) => [order[u], order[l]]);
    return [];
  }
  tables(order) {
    const p = this.s.players, found = range(order.length / p).map((i) => order.slice(i * p, i * p + p));
    const cost = (t) => {
      const mean = sum(t.map((x) => this.points[x])) / p, repeats = sum(combinations(t, 2).map(([a, b]) => this.again(a, b)));
      return 1000 * (sum(t.map((x) => (this.points[x] - mean) ** 2)) / p) + 50 * repeats ** 2;
    };
    const costs = found.map(cost), swap = (a, i, b, j) => ([found[a][i], found[b][j]] = [found[b][j], found[a][i]]);
    const todo = new Set(range(found.length).filter((i) => combinations(found[i], 2).some(([a, b]) => this.again(a, b))));
    while (todo.size) {
      const at = Math.min(...todo);
      todo.delete(at);
      let best = [-1e-9, at, 0, 0];
      for (let far = Math.max(0, at - 3); far < Math.min(found.length, at + 4); far++)
        if (far !== at)
          for (let i = 0; i < p; i++)
            for (let j = 0; j < p; j++) {
              swap(at, i, far, j);
              const tried = [cost(found[at]) + cost(found[far]) - costs[at] - costs[far], far, i, j];
              swap(at, i, far, j);
              if (compare(tried, best) < 0) best = tried;
            }
      if (best[1] !== at) {
        swap(at, best[2], best[1], best[3]);
        for (const changed of [at, best[1]]) (costs[changed] = cost(found[changed])), todo.add(changed);
      }
    }
    return found;
  }
  plan() { this.at++; }
  note(results) {
    for (const x of this.resting) (this.byes[x] += 1), (this.points[x] += this.bye);
    for (const m of results)
      for (const x of m.entrants) {
        const share = round(m.share(x), 9);
        const score = this.s.players > 2 || share === 0.5 ? share : +(share > 0.5);
        this.points[x] = round(this.points[x] + score, 9);
        for (const y of m.entrants) if (y !== x) this.met[x].set(y, this.again(x, y) + 1);
      }
  }
}
class Knockout {
  constructor(s, planning) {
    Object.assign(this, { s, planning, lag: 0, deals: 0, alive: range(s.entrants), losers: [], places: {} });
    this.event = range(s.entrants).map(() => [0, 0]);
    this.rested = new Array(s.entrants).fill(0);
    this.begin();
  }
  tie(entrants, on) {
    entrants = [...entrants].sort(ascending);
    return { entrants, on, deals: 0, shares: new Map(entrants.map((x) => [x, 0])), results: [] };
  }
  begin() {
    const { players } = this.s;
    this.replays = 0;
    if (this.losers.length) [this.title, this.ties] = ["third place", [this.tie(this.losers, 1)]];
    else if (players === 2) {
      let places = this.alive;
      if (!this.deals) {
        places = [0];
        while (places.length < this.s.entrants) places = places.flatMap((x) => [x, 2 * places.length - 1 - x]);
      }
      const real = (x) => x < this.s.entrants;
      this.ties = range(Math.floor(places.length / 2)).map((i) => this.tie(places.slice(2 * i, 2 * i + 2).filter(real), 1));
      this.title = places.length === 2 ? "final" : places.length === 4 ? "semi-finals" : "";
    } else this.tables(players);
    this.open = this.ties.filter((t) => t.entrants.length > 1);
  }
  tables(players) {
    const left = this.alive.length, on = Math.floor(players / 2), falling = players - on;
    this.title = "final";
    if (left <= players) return void (this.ties = left ? [this.tie(this.alive, 1)] : []);
    let size = players;
    for (let larger; (larger = Math.floor(size / on) * players + (size % on)) < left; ) size = larger;
    let out = left - size;
    const count = Math.min(Math.ceil(out / falling), Math.floor(left / players));
    out = Math.min(out, count * falling);
    const rest = [...this.alive].sort((a, b) => this.rested[a] - this.rested[b] || a - b).slice(0, left - count * players);
    const playing = this.alive.filter((x) => !rest.includes(x));
    this.ties = range(count).map((t) => this.tie(range(players).map((row) => playing[row * count + (row % 2 ? count - 1 - t : t)]),
      t === count - 1 ? players - (out - (count - 1) * falling) : on));
    this.ties.push(...rest.map((x) => this.tie([x], 1)));
    this.title = "";
  }
  batch() {
    if (!this.s.until_shown) return this.s.deals;
    const played = this.open[0].deals;
    return Math.min(Math.max(this.s.deals, Math.floor(played / 10)), Math.max(this.s.deals, 400 - played));
  }
  next() { return this.open.length ? { deals: this.batch(), meetings: this.open.map((t) => [t.entrants, this.deals]) } : null; }
  plan(r) { this.deals += r.deals; }
  ranked(t) {
    const event = (x) => (this.planning === 1 ? round(this.event[x][0] / Math.max(1, this.event[x][1]), 9) : 0);
    return [...t.entrants].sort((a, b) => round(t.shares.get(b), 9) - round(t.shares.get(a), 9) || event(b) - event(a) || a - b);
  }
  isOpen(t) {
    const order = [...t.entrants].sort((a, b) => t.shares.get(b) - t.shares.get(a)), [above, under] = order.slice(t.on - 1);
    const d = Math.abs(t.shares.get(above) - t.shares.get(under)), most = Math.max(t.shares.get(above), t.shares.get(under));
    if (!this.s.until_shown) return this.replays < 5 && d <= Math.max(1e-9, 1e-9 * most);
    const e = new Evidence();
    for (const m of t.results) for (const share of m.dealShares(above, under)) e.add(share);
    return t.deals < 400 && e.verdict(this.s.alpha, 0, choose(t.entrants.length, 2)) !== "better";
  }
  note(results) {
    const batch = this.batch();
    this.open.forEach((t, i) => {
      t.deals += batch;
      t.results.push(results[i]);
      for (const x of t.entrants) {
        t.shares.set(x, t.shares.get(x) + results[i].share(x) * batch);
        this.event[x][0] += results[i].share(x) * batch;
        this.event[x][1] += batch;
      }
    });
    this.open = this.open.filter((t) => this.isOpen(t));
    this.replays++;
    if (!this.open.length) this.end(), this.begin();
  }
  end() {
    const ranked = this.ties.map((t) => [this.ranked(t), t]), first = ranked[0][0];
    if (this.losers.length) return void ([this.places[first[0]], this.places[first[1]], this.losers] = [3, 4, []]);
    if (this.title === "final") return void (first.forEach((x, i) => (this.places[x] = i + 1)), (this.alive = []));
    const out = ranked.flatMap(([list, t]) => list.slice(t.on));
    this.alive = ranked.flatMap(([list, t]) => list.slice(0, t.on));
    for (const x of out) this.places[x] = this.alive.length + 1;
    if (this.s.players > 2) {
      this.alive.sort(ascending);
      for (const t of this.ties) if (t.entrants.length === 1) this.rested[t.entrants[0]]++;
    } else if (this.s.third_place && this.title === "semi-finals") this.losers = out;
  }
}
class Ladder {
  constructor(s, planning, peek, draw) {
    const n = s.entrants;
    Object.assign(this, { s, draw, lag: 1, at: 0, waiting: range(n), count: new Array(n).fill(0), mu: new Array(n).fill(MU) });
    this.fresh = range(s.placement).map((i) => (i ? [] : range(n))); // by matches played, as they came
    this.met = range(n).map(() => []);
    this.batch = Math.max(1, Math.min(16, Math.floor(n / (2 * s.players))));
  }
  next() {
    const last = this.s.matches === null ? this.at + this.batch : Math.min(this.at + this.batch, this.s.matches);
    const busy = new Set(), meetings = [];
    for (let m = this.at; m < last; m++) {
      const table = this.table(m, busy);
      table.forEach((x) => busy.add(x));
      meetings.push([table, m * this.s.deals]);
    }
    return meetings.length ? { deals: this.s.deals, meetings } : null;
  }
  table(m, busy) {
    const { s, mu } = this, random = generator(this.draw, m);
    const who = [...(m % 2 ? [] : this.fresh.flat()), ...this.waiting].find((x) => !busy.has(x));
    const taken = new Set([who, ...busy]), free = range(s.entrants).filter((x) => !taken.has(x)), drawn = new Set();
    if (free.length > s.sample)
      while (drawn.size < s.sample) {
        const x = Math.floor(random() * s.entrants);
        if (!taken.has(x)) drawn.add(x);
      }
    const others = free.length > s.sample ? [...drawn] : free;
    let likely = others.map(() => 1);
    if (random() >= s.random) {
      const lately = new Set(this.met[who].flat()), far = others.map((x) => (mu[x] - mu[who]) ** 2 / (4 * BETA ** 2));
      likely = others.map((x, i) => Math.exp(Math.min(...far) - far[i]) * (lately.has(x) ? 0.1 : 1));
    }
    const table = [who];
    while (table.length < s.players) {
      let left = random() * sum(likely), place = likely.findIndex((w) => (left -= w) < 0);
      if (place < 0) place = likely.length - 1;
      likely.splice(place, 1);
      table.push(...others.splice(place, 1));
    }
    return table;
  }
  plan(r) {
    for (const [table] of r.meetings) {
      this.at++;
      for (const x of table) {
        this.met[x] = [...this.met[x], table.filter((y) => y !== x)].slice(-this.s.repeat || Infinity);
        this.waiting = [...this.waiting.filter((y) => y !== x), x];
        this.fresh = this.fresh.map((group) => group.filter((y) => y !== x));
        if (++this.count[x] < this.fresh.length) this.fresh[this.count[x]].push(x);
      }
    }
  }
  note(results, mu) {
    if (this.s.players > 2) throw new NotChecked("running ratings of three and more");
    for (const m of results) for (const x of m.entrants) this.mu[x] = mu(x);
  }
}
class Adaptive {
  constructor(s) { Object.assign(this, { s, lag: 1, at: 0, deals: 0, planned: new Map(), rows: new Map(), evidence: new Map() }); }
  isOpen(a, b) {
    const e = this.evidence.get(String([a, b].sort(ascending)));
    return !e || e.verdict(this.s.alpha, this.s.delta, choose(this.s.entrants, 2)) === "open";
  }
  next() {
    const { s } = this, n = s.entrants, left = s.budget - this.deals;
    let batch = s.deals, tables;
    if (this.at < 2) tables = this.cover();
    else {
      const ratings = refit([...this.rows.values()], n, s.players).ratings.map((x) => round(x, 6));
      const order = range(n).sort((a, b) => ratings[b] - ratings[a] || a - b);
      const open = range(n - 1).map((i) => [order[i], order[i + 1]].sort(ascending)).filter(([a, b]) => this.isOpen(a, b));
      if (!open.length) return null;
      const planned = (pair) => this.planned.get(String(pair)) || 0, fewest = Math.min(...open.map(planned));
      batch = Math.max(batch, Math.floor(fewest / 10));
      tables = [];
      for (const pair of open.filter((p) => planned(p) < fewest + batch)) {
        if (tables.some((t) => pair.every((x) => t.includes(x)))) continue;
        const settled = (x) => +!pair.some((y) => this.isOpen(x, y)), far = (x) => Math.min(...pair.map((y) => Math.abs(ratings[x] - ratings[y])));
        const others = range(n).filter((x) => !pair.includes(x));
        if (s.players > 2) others.sort((a, b) => settled(a) - settled(b) || far(a) - far(b) || a - b);
        tables.push([...pair, ...others.slice(0, s.players - 2)].sort(ascending));
      }
    }
    tables = tables.slice(0, left);
    if (!tables.length) return null;
    batch = Math.min(batch, Math.floor(left / tables.length));
    return { deals: batch, meetings: tables.map((t, i) => [t, this.deals + i * batch]) };
  }
  cover() {
    const { entrants: n, players } = this.s, met = new Set(), tables = [];
    for (const pair of combinations(range(n), 2)) {
      if (met.has(String(pair))) continue;
      const table = [...pair], again = (x) => table.filter((y) => met.has(String([x, y].sort(ascending)))).length;
      while (table.length < players) table.push(range(n).filter((x) => !table.includes(x)).reduce((a, b) => (again(b) < again(a) ? b : a)));
      table.sort(ascending);
      combinations(table, 2).forEach((p) => met.add(String(p)));
      tables.push(table);
    }
    return tables;
  }
  plan(r) {
    this.at++;
    for (const [table] of r.meetings) {
      this.deals += r.deals;
      for (const p of combinations(table, 2)) this.planned.set(String(p), (this.planned.get(String(p)) || 0) + r.deals);
    }
  }
  note(results) {
    for (const row of results.flatMap((m) => m.rows)) {
      const key = String([row.one, row.other]);
      if (!this.evidence.has(key)) this.evidence.set(key, new Evidence());
      this.evidence.get(key).add(shareOf(row, row.one));
      this.rows.set(key, merged(this.rows.get(key), { ...row, deal: 0 }));
    }
  }
}
const FORMATS = { "round-robin": Fixed, gauntlet: Fixed, extension: Fixed, swiss: Swiss, knockout: Knockout, ladder: Ladder, adaptive: Adaptive };

module.exports = { FORMATS, NotChecked, permutations, combinations, turned, shareOf, merged };
