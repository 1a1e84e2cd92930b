// What the second verifier computes: evidence, running ratings, the refit, and draws of a ladder, by sections 4 to 7 of
// protocol/FORMATS.md.
"use strict";
const { createHash } = require("crypto");

const MU = 25, SIGMA = MU / 3, BETA = MU / 6, MARGIN = 0.1477195482178006;
const sum = (list) => list.reduce((a, b) => a + b, 0);
const range = (n, first = 0) => Array.from({ length: n }, (_, i) => first + i);
const round = (x, digits) => Number(x.toFixed(digits));
const ascending = (a, b) => a - b;

// ---- the normal distribution, Student's, evidence (FORMATS.md, 5) ----
function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2.5) {
    let term = x, total = x;
    for (let n = 1; Math.abs(term) > 1e-18; n++) total += (term *= (-x * x) / n) / (2 * n + 1);
    return 1 - (2 / Math.sqrt(Math.PI)) * total;
  }
  let f = x;
  for (let k = 120; k > 0; k--) f = x + k / 2 / f;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / f;
}
function twoSided(t, freedom) {
  if (freedom === null) return erfc(t / Math.SQRT2);
  if (freedom > 1000) return erfc((t * (1 - 1 / (4 * freedom))) / Math.sqrt(1 + (t * t) / (2 * freedom)) / Math.SQRT2);
  const angle = Math.atan(t / Math.sqrt(freedom)), square = Math.cos(angle) ** 2, odd = freedom % 2;
  let term = odd ? Math.cos(angle) : 1, total = 0;
  for (let k = 0; k < Math.floor(freedom / 2); k++) {
    total += term;
    term *= (square * (2 * k + 1 + odd)) / (2 * k + 2 + odd);
  }
  return 1 - (odd ? ((angle + Math.sin(angle) * total) * 2) / Math.PI : Math.sin(angle) * total);
}
function quantile(alpha, freedom) {
  let low = 0, high = 1;
  while (twoSided(high, freedom) > alpha) [low, high] = [high, 2 * high];
  while (high - low > 1e-12 * high) {
    const middle = (low + high) / 2;
    if (twoSided(middle, freedom) > alpha) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
let legendre = null;
function fractions() {
  if (legendre) return legendre;
  const n = 256;
  return (legendre = range(n).map((i) => {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5)), slope = 0;
    for (let step = 0; step < 100; step++) {
      let [p, before] = [1, 0];
      for (let k = 1; k <= n; k++) [p, before] = [((2 * k - 1) * x * p - (k - 1) * before) / k, p];
      slope = (n * (x * p - before)) / (x * x - 1);
      x -= p / slope;
      if (Math.abs(p / slope) < 1e-16) break;
    }
    return [(x + 1) / 2, Math.log(1 / ((1 - x * x) * slope * slope))];
  }));
}
class Evidence {
  constructor() { this.counts = new Map(); }
  add(share, deals = 1) {
    share = round(share, 12);
    this.counts.set(share, (this.counts.get(share) || 0) + deals);
  }
  bet(mean, swapped) {
    if (!this.counts.size) return 0;
    const gains = fractions().map(([stake, weight]) => {
      let gain = weight;
      for (const [share, count] of this.counts)
        gain += count * Math.log1p(stake * ((swapped ? 1 - share : share) / mean - 1));
      return gain;
    });
    const best = Math.max(...gains);
    return best + Math.log(sum(gains.map((gain) => Math.exp(gain - best))));
  }
  lowerEnd(alpha, swapped) {
    let deals = 0, total = 0;
    for (const [share, count] of this.counts) (deals += count), (total += count * (swapped ? 1 - share : share));
    let low = 0, high = deals ? total / deals : 0.5;
    while (high - low > 1e-9) {
      const middle = (low + high) / 2;
      if (this.bet(middle, swapped) >= Math.log(2 / alpha)) low = middle;
      else high = middle;
    }
    return low;
  }
  verdict(alpha, delta, comparisons = 1) {
    const each = alpha / comparisons;
    if (this.bet(0.5, false) >= Math.log(2 / each)) return "better";
    if (this.bet(0.5, true) >= Math.log(2 / each)) return "worse";
    return 0.5 - delta <= this.lowerEnd(each, false) && 1 - this.lowerEnd(each, true) <= 0.5 + delta ? "level" : "open";
  }
}

// ---- running rating of games of two (FORMATS.md, 6) ----
const density = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
function below(x) { // the approximation is part of the page: draws of a ladder depend on its digits
  const y = -x / Math.SQRT2, t = 1 / (1 + Math.abs(y) / 2);
  const c = [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368];
  const r = t * Math.exp(-y * y - 1.26551223 + t * c.reduce((a, b) => b + t * a));
  return (y < 0 ? 2 - r : r) / 2;
}
function rateTwo(one, other, rank, otherRank) {
  if (rank > otherRank) return rateTwo(other, one, otherRank, rank).reverse();
  const c = Math.sqrt(one.sigma ** 2 + other.sigma ** 2 + 2 * BETA ** 2), t = (one.mu - other.mu) / c, e = MARGIN / c;
  let v, w;
  if (rank < otherRank) {
    v = density(t - e) / below(t - e);
    w = v * (v + t - e);
  } else {
    const a = e - Math.abs(t), b = -e - Math.abs(t), d = below(a) - below(b);
    v = (density(b) - density(a)) / d;
    w = v * v + (a * density(a) - b * density(b)) / d;
    if (t < 0) v = -v;
  }
  const after = (r, sign) => ({
    mu: r.mu + (sign * r.sigma ** 2 * v) / c,
    sigma: Math.sqrt(r.sigma ** 2 * (1 - (r.sigma ** 2 * w) / c ** 2)),
  });
  return [after(one, 1), after(other, -1)];
}

// ---- the refit (FORMATS.md, 7) ----
function solve(matrix, right) { // columns of `right`, by Gauss with pivots
  const n = matrix.length, a = matrix.map((row, i) => [...row, ...right[i]]);
  for (let i = 0; i < n; i++) {
    let p = i;
    for (let k = i; k < n; k++) if (Math.abs(a[k][i]) > Math.abs(a[p][i])) p = k;
    [a[i], a[p]] = [a[p], a[i]];
    for (let k = 0; k < n; k++) {
      const factor = k === i ? 0 : a[k][i] / a[i][i];
      if (factor) for (let j = i; j < a[k].length; j++) a[k][j] -= factor * a[i][j];
    }
  }
  return a.map((row, i) => row.slice(n).map((x) => x / row[i]));
}
function pull(eta) { // phi / Phi at eta
  if (eta > -30) return density(eta) / (erfc(-eta / Math.SQRT2) / 2);
  return -eta - 1 / eta + 2 / eta ** 3;
}
function refit(rows, entrants, players) {
  const who = [...new Set(rows.flatMap((r) => [r.one, r.other]))].sort(ascending), n = who.length;
  const at = new Map(who.map((x, i) => [x, i])), noise = Math.SQRT2 * BETA, prior = SIGMA ** -2;
  const pairs = new Map();
  for (const r of rows) {
    const key = r.one * entrants + r.other, p = pairs.get(key) || { i: at.get(r.one), j: at.get(r.other), won: 0, lost: 0 };
    p.won += r.better + r.equal / 2;
    p.lost += r.worse + r.equal / 2;
    pairs.set(key, p);
  }
  let s = new Array(n).fill(0), information = null;
  for (let step = 0; step < 200; step++) {
    const gradient = s.map((x) => -prior * x);
    information = range(n).map((i) => range(n).map((j) => (i === j ? prior : 0)));
    for (const p of pairs.values()) {
      const eta = (s[p.i] - s[p.j]) / noise, up = pull(eta), down = pull(-eta);
      const g = (p.won * up - p.lost * down) / noise, c = (p.won * up * (up + eta) + p.lost * down * (down - eta)) / noise ** 2;
      gradient[p.i] += g;
      gradient[p.j] -= g;
      information[p.i][p.i] += c;
      information[p.j][p.j] += c;
      information[p.i][p.j] -= c;
      information[p.j][p.i] -= c;
    }
    const move = solve(information, gradient.map((x) => [x])).map((row) => row[0]);
    const most = Math.max(0, ...move.map(Math.abs));
    s = s.map((x, i) => x + (move[i] * Math.min(1, 10 / most || 1)));
    if (most < 1e-10) break;
  }
  const deals = new Map();
  for (const r of rows) {
    const eta = (s[at.get(r.one)] - s[at.get(r.other)]) / noise;
    const move = ((r.better + r.equal / 2) * pull(eta) - (r.worse + r.equal / 2) * pull(-eta)) / noise;
    const of = deals.get(r.deal) || deals.set(r.deal, new Map()).get(r.deal);
    for (const [x, m] of [[r.one, move], [r.other, -move]]) of.set(at.get(x), (of.get(at.get(x)) || 0) + m);
  }
  const count = new Array(n).fill(0), better = new Array(n).fill(0), worse = new Array(n).fill(0), mean = new Array(n).fill(0);
  for (const of of deals.values()) for (const i of of.keys()) count[i]++;
  const product = range(n).map(() => new Array(n).fill(0));
  for (const of of deals.values()) {
    for (const [i, m] of of) {
      of.set(i, m * Math.sqrt(count[i] / Math.max(1, count[i] - 1)));
      better[i] += of.get(i) > 1e-9;
      worse[i] += of.get(i) < -1e-9;
      mean[i] += of.get(i) / deals.size;
    }
    for (const [i, a] of of) for (const [j, b] of of) product[i][j] += a * b;
  }
  const surprises = Math.min(...range(n).map((i) => Math.min(better[i], worse[i])));
  const unit = range(n).map((i) => range(n).map((j) => +(i === j)));
  const naive = n ? solve(information, unit) : [];
  const middle = product.map((row, i) => row.map((x, j) => x - deals.size * mean[i] * mean[j] + (i === j ? prior : 0)));
  const half = n ? solve(information, middle) : [];
  const clustered = n ? solve(information, range(n).map((i) => range(n).map((j) => half[j][i]))) : [];
  const error = (c, i) => Math.sqrt(Math.max(0, c[i][i] - (2 * sum(c[i])) / n + sum(c.map(sum)) / n ** 2));
  const ratings = new Array(entrants).fill(MU), widths = new Array(entrants).fill(null);
  who.forEach((x, i) => {
    ratings[x] = MU + s[i] - sum(s) / n;
    const plain = error(naive, i), few = count[i] < 10;
    const se = few ? (players === 2 ? plain : 2 * plain)
      : Math.max(error(clustered, i), plain * Math.sqrt(Math.min(1, 8 / Math.max(1, surprises))));
    widths[x] = se * quantile(0.05, few ? null : count[i] - 1);
  });
  return { ratings, widths };
}

// ---- draws of the ladder: MT19937 (FORMATS.md, 4) ----
function generator(draw, match) {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(match));
  const digest = createHash("sha256").update(draw).update(number).digest();
  let key = range(8).map((i) => digest.readUInt32BE(28 - 4 * i)); // the least significant word first
  while (key.length > 1 && key[key.length - 1] === 0) key.pop();
  const mt = new Array(624);
  mt[0] = 19650218;
  for (let i = 1; i < 624; i++) mt[i] = (Math.imul(1812433253, mt[i - 1] ^ (mt[i - 1] >>> 30)) + i) >>> 0;
  let i = 1, j = 0;
  const next = () => { if (++i >= 624) { mt[0] = mt[623]; i = 1; } };
  for (let k = 624; k; k--) {
    mt[i] = ((mt[i] ^ Math.imul(mt[i - 1] ^ (mt[i - 1] >>> 30), 1664525)) + key[j] + j) >>> 0;
    next();
    j = (j + 1) % key.length;
  }
  for (let k = 623; k; k--) {
    mt[i] = ((mt[i] ^ Math.imul(mt[i - 1] ^ (mt[i - 1] >>> 30), 1566083941)) - i) >>> 0;
    next();
  }
  mt[0] = 0x80000000;
  let at = 624;
  const word = () => {
    if (at === 624) {
      for (let k = 0; k < 624; k++) {
        const y = (mt[k] & 0x80000000) | (mt[(k + 1) % 624] & 0x7fffffff);
        mt[k] = (mt[(k + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)) >>> 0;
      }
      at = 0;
    }
    let y = mt[at++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
  return () => ((word() >>> 5) * 67108864 + (word() >>> 6)) / 9007199254740992;
}

module.exports = { MU, SIGMA, BETA, sum, range, round, ascending, Evidence, rateTwo, refit, generator };
