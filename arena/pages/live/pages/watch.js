"use strict";
/* The page of what runs now: standings, running and finished games, and the game that is followed, in a frame.

   Laws: text becomes part of the page by textContent alone; what comes from the server is data. */
(() => {
const {make} = globalThis.arena.tools;
const DWELL_MS = 4000;
const by = (id) => document.getElementById(id);
const stage = document.querySelector(".stage"), root = document.documentElement;
let games = {running: [], finished: [], none: ""}, followed = null, since = 0, auto = true, places = new Map(), timer = 0;

const number = (value, digits) => value === null ? "–" : value.toFixed(digits).replace("-", "−");

function showScores(scores) {
  if (scores.title) by("title").textContent = scores.title;
  document.title = `${scores.title || "arena"} · live`;
  const count = scores.games === null ? `${scores.done} games` : `${scores.done} of ${scores.games} games`;
  const state = scores.finished ? "finished" : scores.running ? "running" : "nobody plays now";
  const after = scores.rows.length && scores.rated < scores.done ? ` · standings after ${scores.rated}` : "";
  by("facts").textContent = scores.id ? `${count} · ${state}${after}` : scores.error ? "There are no standings." : "Nothing has been played yet.";
  by("trouble").textContent = scores.error;
  by("trouble").hidden = !scores.error;
  if (!scores.rows.length) return;
  const [value, counts] = scores.cooperative ? ["score", []] : ["rating", [["W D L", "wdl"]]];
  const head = make("tr", "", ...[["#", ""], ["bot", "bot"], [value, ""], ["± 95 %", ""], ["games", ""], ...counts, ["forf.", ""]]
    .map(([word, style]) => { const cell = make("th", style, word); cell.scope = "col"; return cell; }));
  const now = new Map();
  const rows = scores.rows.map((row, place) => {
    const rank = scores.ranks[place];
    now.set(row.bot, rank);
    const moved = places.has(row.bot) && places.get(row.bot) !== rank;
    return make("tr", moved ? "moved" : "", make("td", "", rank), make("td", "bot", row.bot, ...(row.display_name ? [" ", make("bdi", "range", row.display_name)] : [])),
      make("td", "", number(row.rating, 1)), make("td", "range", number(row.half_width, 1)), make("td", "", `${row.games}`),
      ...(scores.cooperative ? [] : [make("td", "wdl", `${row.wins} ${row.draws} ${row.losses}`)]), make("td", "", `${row.forfeits}`));
  });
  places = now;
  const more = scores.left_out ? [make("p", "facts", `and ${scores.left_out} more`)] : [];
  by("standings").replaceChildren(make("table", "", make("thead", "", head), make("tbody", "", ...rows)), ...more);
}

function names(game) {
  const who = make("span", "who");
  game.names.forEach((name, seat) => {
    if (seat) who.append(` ${game.between} `);
    who.append(make("span", game.ranks && game.ranks[seat] === 1 ? "first" : "", name));
  });
  return who;
}

function entry(game) {
  const when = game.how || (game.whole ? game.turn || "set-up" : "incomplete");
  const row = make("button", "row", names(game), make("span", "when", when));
  row.type = "button";
  row.setAttribute("aria-pressed", `${game.id === followed}`);
  row.addEventListener("click", () => { setAuto(false); follow(game.id); });
  return row;
}

function showGames() {
  const focused = document.activeElement && document.activeElement.dataset.game;
  for (const [id, list, none] of [["running", games.running, games.none], ["finished", games.finished, "None since the watch began."]]) {
    const rows = list.map((game) => { const row = entry(game); row.dataset.game = game.id; return row; });
    by(id).replaceChildren(...(rows.length ? rows : [make("p", "facts", none)]));
  }
  if (focused) for (const row of document.querySelectorAll(".row")) if (row.dataset.game === focused) row.focus();
}

/* The last position stays until the next game has one: bots may take seconds to start. */
function follow(id) {
  if (id === followed) return;
  followed = id;
  since = performance.now();
  const frame = make("iframe", "next"), game = [...games.running, ...games.finished].find((one) => one.id === id);
  frame.src = `game/${encodeURIComponent(id)}/`;
  frame.title = "the game that is followed";
  for (const other of stage.querySelectorAll(".next, #waiting")) other.remove();
  stage.append(frame, make("p", "next", "next: ", names(game), " …"));
  const looked = setInterval(() => {
    if (frame.isConnected && !frame.contentDocument?.documentElement?.dataset.ready) return;
    clearInterval(looked);
    if (!frame.isConnected) return;
    frame.className = "";
    since = performance.now();
    for (const other of [...stage.children]) if (other !== frame) other.remove(); // a frame that is moved loads anew
  }, 100);
  showGames();
}

function setAuto(on) {
  auto = on;
  box.checked = on;
  if (on) choose();
}

/* Follows a running game to its end, stays there for a moment, and goes on to the one that began last. */
function choose() {
  clearTimeout(timer);
  if (!auto) return;
  const shown = games.running.find((game) => game.id === followed);
  const next = games.running.find((game) => game.whole) || games.finished[0];
  if ((shown && shown.whole) || !next) return;
  const left = followed === null ? 0 : since + DWELL_MS - performance.now();
  if (left > 0) timer = setTimeout(choose, left);
  else follow(next.id);
}

const box = make("input");
box.type = "checkbox";
box.checked = true;
box.addEventListener("change", () => setAuto(box.checked));
by("running").before(make("label", "", box, "go on to the next game"));

globalThis.arena.listen({
  scores(told) { showScores(told); root.dataset.ready = "1"; },
  games(told) {
    const before = games.running.some((game) => game.id === followed);
    games = told;
    if (before && !games.running.some((game) => game.id === followed)) since = performance.now();
    showGames();
    choose();
  },
  error() { by("facts").textContent = "The connection is lost; trying again …"; },
});
})();
