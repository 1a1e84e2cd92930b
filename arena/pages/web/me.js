/* The author's page of a league: submits bots, follows versions, shows reports and games.

   Laws:
   1. The token is in this tab's session storage and in the header of requests to this origin, and nowhere else: there
      is no cookie that another site could have sent along.
   2. Text of others becomes part of the page by textContent alone; the page's policy lets nothing else in.
   3. What the league knows is asked for again; nothing of it is kept here. */
(() => {
const {make} = globalThis.arena.tools;
const TRIED = ["received", "building", "checking", "qualifying"], AWAY_S = 2;
const ENDED = ["rejected", "retired"];
const STEPS = ["qualify", "check", "build"];
const SKIPPED = [".git", "__pycache__"];
const LIMITS = {
  bots: "bots", pending: "versions that wait or are tried", submissions: "submissions in 24 hours", built_mib: "MiB that builds leave",
  matches: "unrated matches in 24 hours", seats: "games that you play yourself in 24 hours", orders: "orders at once", requests: "requests at once", remote: "bots that play from home",
};
const $ = (id) => document.getElementById(id);
const path = (...names) => names.map((name) => `/${encodeURIComponent(name)}`).join("");
/* A time of the league in the reader's zone. */
function moment(at) {
  const date = new Date(at), told = make("time", "", isNaN(date) ? at || "" : date.toLocaleString([], {dateStyle: "medium", timeStyle: "short"}));
  told.dateTime = at || "";
  return told;
}
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
let seasons = [], next = "", asked = 0;

// Asking the league

/* Raises an Error with what is to be told, the `status`, and after how many seconds to come again. */
async function answer(address, options = {}) {
  let got;
  try {
    got = await fetch(`api/v1${address}`, {...options, headers: {authorization: `Bearer ${sessionStorage.token}`}, cache: "no-store", credentials: "omit"});
  } catch { throw Object.assign(new Error("The league cannot be reached: try again later."), {wait: AWAY_S}); }
  if (got.ok) return got;
  const said = await got.json().catch(() => ({}));
  const text = got.status === 401 ? "expected a token that the league knows, got: another; its operator has to add yours first, by the file me.hash" : said.detail ? `${said.detail}; ${said.remedy}` : `expected an answer of the league, got: ${`${got.status} ${got.statusText}`.trim()}; try again later, or tell its operator`;
  if (got.status === 401 && sessionStorage.token) leave();
  throw Object.assign(new Error(text), {status: got.status, wait: said.retry_after_s || (got.status >= 502 && AWAY_S)}); // a proxy's: its door is opened again
}
const ask = async (address, options) => (await answer(address, options)).json();

function say(text, bad = false) {
  $("said").textContent = text;
  $("said").classList.toggle("fault", bad);
}

/* Does something on somebody's wish; what goes wrong is told. */
const doing = (action) => async (event) => {
  if (event) event.preventDefault();
  try { await action(event); } catch (error) { say(error.message, true); }
};
const button = (text, action, style = "") => { const made = make("button", style, text); made.type = "button"; made.addEventListener("click", doing(action)); return made; };
const link = (text, address) => { const made = make("a", "", text); made.href = address; return made; };
const folded = (summary, ...content) => make("details", "", make("summary", "", summary), ...content);

/* A table that scrolls for itself where it is too wide. */
function table(caption, titles, rows, none) {
  if (!rows.length) return [make("p", "facts", none)];
  const head = make("thead", "", make("tr", "", ...titles.map((title) => { const cell = make("th", "", title); cell.scope = "col"; return cell; })));
  const body = make("tbody", "", ...rows.map((cells) => make("tr", "", ...cells.map((cell, at) => {
    const made = make(at ? "td" : "th", "", ...[cell].flat());
    if (!at) made.scope = "row";
    made.dataset.title = titles[at];
    return made;
  }))));
  return [make("div", "wide-table", make("table", "", make("caption", "unseen", caption), head, body))];
}
const pairs = (rows) => make("table", "settings", make("tbody", "", ...rows.map(([name, value]) => {
  const head = make("th", "", name);
  head.scope = "row";
  return make("tr", "", head, make("td", "", value));
})));

// Coming and going

function leave() {
  delete sessionStorage.token;
  asked++;
  for (const id of ["versions", "games", "seat", "notices", "about", "limits", "report"]) $(id).replaceChildren();
  for (const [id, hidden] of [["inside", true], ["report", true], ["leave", true], ["door", false]]) $(id).hidden = hidden;
  $("who").textContent = $("token").value = "";
}

async function enter() {
  const {author, league, limits} = await ask("/");
  for (const [id, hidden] of [["inside", false], ["leave", false], ["door", true]]) $(id).hidden = hidden;
  $("who").textContent = `${author} in ${league.name}`;
  $("league").textContent = league.name || "league";
  seasons = (league.seasons || []).map((season) => season.tournament);
  const dates = Object.entries(league.dates || {}).filter(([, at]) => at);
  $("about").replaceChildren(pairs([...league.told || [], ...dates.map(([name, at]) => [`season ${name}`, moment(at)])]));
  $("limits").replaceChildren(pairs(Object.entries(LIMITS).filter(([name]) => name in limits).map(([name, label]) => [label, limits[name].toLocaleString()])));
  const [versions] = await Promise.all([look(), games()]), tried = versions.find(({state}) => TRIED.includes(state));
  if (tried) doing(() => follow(tried.version, tried.state))();
}

/* Who cannot sign in yet, because the operator has to add them first, need not give their token again. */
async function signIn(token) {
  sessionStorage.token = token;
  say("");
  try { await enter(); } catch (error) { leave(); $("token").value = token; throw error; }
}

/* A token is 256 random bits; the league is given its hash. */
async function makeToken() {
  const random = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
  const token = `arena_${random.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  $("new").value = $("token").value = token;
  $("hash").href = URL.createObjectURL(new Blob([`# The hash of a token, for the operator of a league.\n${hex}\n`]));
  $("made").hidden = false;
  $("new").select();
}

// Versions

const rating = (version) => version.rating === null || version.rating === undefined ? "" : `${version.rating.toFixed(1)} ± ${(version.half_width ?? 0).toFixed(1)}`;

async function look(bot = "", wait = 0) {
  const {versions, notices, seat} = await ask(`/versions?wait=${wait}${bot && `&bot=${encodeURIComponent(bot)}`}`);
  if (!bot) {
    show(versions);
    $("seat").replaceChildren(...seat ? [`You have a seat in ${seat}, or wait for it. It is played by a program, or by arena league play. `, button("resign", resign)] : []);
    $("notices").replaceChildren(...table("Notices", ["when", "what"], [...notices].reverse().map((notice) => [moment(notice.at), [notice.text, ...[...(notice.kind === "match" ? notice.text.matchAll(/ in (match-[0-9a-f]{32}-[0-9]+)/g) : [])].flatMap(([, game]) => [" ", button("log", () => saved(game))])]]), "None."));
  }
  return versions;
}

function show(versions) {
  $("versions").replaceChildren(...table("Versions", ["version", "state", "rating", "games", "forfeits", "since", ""], versions.map((version) => [
    version.version, version.provisional ? `${version.state}, provisional` : version.state, rating(version),
    `${version.games ?? ""}`, `${version.forfeits ?? ""}`, moment(version.since),
    [button("report", () => report(version.version)), " ", ...version.state === "active" ? [button("match", () => give("POST", `Against which bot shall ${version.bot} play, unrated?`, (name) => `${path("bots", version.bot, "matches")}?against=${name}`)), " "] : [], ...(version === versions.find(({bot, state}) => bot === version.bot && !ENDED.includes(state)) ? [button("retire", () => retire(version.bot)), " ", button("hand over", () => give("PUT", `Which author shall have ${version.bot}? A notice tells them how they take it. Your own name takes the offer back.`, (name) => `${path("bots", version.bot, "author")}?author=${name}`)), " ", button("rename", () => give("PUT", `What shall stand beside the name ${version.bot}?`, (name) => `${path("bots", version.bot, "display")}?display_name=${name}`))] : [])],
  ]), "No bot of yours is here yet."));
  const bots = [...new Set(versions.map((version) => version.bot))], chosen = $("bot").value;
  $("bot").replaceChildren(...["", ...bots].map((name) => { const option = make("option", "", name || "every bot"); option.value = name; return option; }));
  $("bot").value = bots.includes(chosen) ? chosen : "";
}

/* Says how a version stands until it was tried. A league publishes a new one in a moment. */
async function follow(name, state = "") {
  const mine = ++asked, tell = () => say(`${name}: ${state}${TRIED.includes(state) ? " …" : ""}`, state === "rejected");
  tell();
  while (mine === asked) {
    try {
      const found = (await look(name.split("/")[0], 5)).find((version) => version.version === name);
      if (mine !== asked) return;
      if (!found) await pause(1);
      else if (found.state !== state) {
        state = found.state;
        tell();
        await look();
      }
      if (!TRIED.includes(state)) return state === "rejected" && await report(name);
    } catch (error) {
      if (!error.wait) throw error;
      await pause(error.wait);
    }
  }
}

/* Asks for the one word that an order needs, and gives it. */
async function give(method, question, address) {
  const word = prompt(question);
  if (!word) return;
  await ask(address(encodeURIComponent(word)), {method});
  say("The league has it. The notices say what comes of it.");
  await look();
}

async function resign() {
  if (!confirm("Give this game up?")) return;
  await ask("/seat", {method: "POST", body: '{"do": "resign"}'});
  say("You have resigned.");
}

async function retire(bot) {
  if (!confirm(`Take ${bot} out of the league, in all its versions? Its games and its name stay.`)) return;
  const said = await ask(path("bots", bot), {method: "DELETE"});
  say(said.retired ? `${said.retired.join(", ")}: retired` : "The league has it, and has not answered yet.");
  await look();
}

// Submitting

async function submit(name, data, size) {
  say(`${name}: sending ${Math.ceil(size / 1024).toLocaleString()} KiB …`);
  const said = await ask(path("bots", name), {method: "PUT", body: data});
  await look();
  if (!said.version) say("The league has it, and has not answered yet; its service may be stopped. Look again later.");
  else if (said.same) say(`${said.version} has these files already: ${said.state}`);
  else await follow(said.version, said.state);
}

async function submitArchive(file) {
  const name = await globalThis.arena.zip.named(file).catch(() => undefined);
  await submit(name || file.name.replace(/(\.tar)?\.[a-z0-9]+$/i, ""), file, file.size);
}

async function submitFolder(files) {
  const sent = files.filter(([name]) => !name.split("/").some((part) => SKIPPED.includes(part)));
  const {name, data} = await globalThis.arena.zip.pack(sent);
  if (!name) throw new Error("expected a bot's folder, got: one without a bot.toml that names the bot; drop the folder in which it is");
  await submit(name, data, data.size);
}

/* Yields the files of a folder that was dropped, as [path, File]. */
async function* filesIn(entry, above = "") {
  const name = above + entry.name;
  if (entry.isFile) yield [name, await new Promise((done, failed) => entry.file(done, failed))];
  else if (!SKIPPED.includes(entry.name)) {
    const reader = entry.createReader();
    for (let some; (some = await new Promise((done, failed) => reader.readEntries(done, failed))).length;)
      for (const one of some) yield* filesIn(one, `${name}/`);
  }
}

async function dropped(event) {
  $("drop").classList.remove("over");
  const [item] = event.dataTransfer.items, entry = item && item.webkitGetAsEntry(), file = event.dataTransfer.files[0];
  if (!entry) throw new Error("expected a bot's folder or archive, got: something else");
  if (entry.isFile) return submitArchive(file);
  const files = [];
  for await (const one of filesIn(entry)) files.push(one);
  return submitFolder(files);
}

// Reports

const words = (label, text) => text ? [make("h4", "", label), make("pre", "", text)] : [];

function checks(detail) {
  const failed = (detail.results || []).filter((result) => result.verdict && result.verdict !== "ok");
  return failed.map((result) => make("li", "", make("b", "", `${result.id}: `), `${result.title}: ${result.verdict}. ${result.detail} ${result.remedy}`,
    ...(result.evidence && result.evidence.stderr.length ? words("what the bot wrote", result.evidence.stderr.join("\n")) : [])));
}

/* What a step found; that it passed is one line until somebody opens it. */
function told(found) {
  const detail = found.detail || {}, games = (detail.games || []).filter((game) => game.forfeit), failed = checks(detail);
  const head = `${found.kind}: ${found.verdict}, in ${(found.seconds || 0).toFixed(1)} s`, passed = found.verdict === "passed";
  const content = [...(found.finding ? [make("p", "", found.finding)] : []),
    ...games.map((game) => make("p", "", `${game.game}: ${game.forfeit.sentence}, turn ${game.forfeit.turn}`)),
    ...(failed.length ? [make("ul", "", ...failed)] : words("what the bot wrote", found.output)), ...words("at home", found.command_to_repeat)];
  return passed ? folded(head, ...content) : make("article", "forfeit", make("h3", "", head), ...content);
}

async function report(name) {
  const [bot, number] = name.split("/"), found = [];
  for (const step of STEPS) {
    try { found.push(await ask(path("versions", bot, number, "reports", step))); } catch (error) { if (error.status !== 404) throw error; }
  }
  $("report").replaceChildren(make("h2", "", `Report of ${name}`), ...(found.length ? found.map(told) : [make("p", "facts", "No step of it has come to its end yet.")]));
  $("report").hidden = false;
  $("report").focus();
}

// Games

function replay(game) {
  const at = game.game.lastIndexOf("-"), season = game.game.slice(0, at), number = +game.game.slice(at + 1);
  return game.published && seasons.includes(season) ? link("watch", `${encodeURIComponent(season)}/game.html?n=${number}#seat=${game.seat}`) : "";
}

async function saved(game) {
  const data = await (await answer(`${path("games", game, "log")}`)).blob(), file = link("", URL.createObjectURL(data));
  file.download = `${game}.jsonl.zst`;
  file.click();
  setTimeout(() => URL.revokeObjectURL(file.href), 60_000); // some browsers begin to save it later
}

const row = (game) => [
  game.game, game.version, (game.opponents || []).join(", "), game.forfeit ? `forfeit: ${game.forfeit.replaceAll("_", " ")}` : game.outcome, moment(game.finished),
  [replay(game), " ", ...(game.published ? [button("log", () => saved(game.game))] : [make("span", "facts", "its match goes on")]),
    ...(game.forfeit ? [folded("why", make("p", "", `${game.sentence || ""}, turn ${game.turn}`), ...words("the bot's last words", (game.last_words || []).join("\n")), ...words("asks it again at home", game.rerun))] : [])],
];
let rows = [];

async function games(more = false) {
  const found = await ask(`/games?limit=20&only=${$("only").value}&bot=${encodeURIComponent($("bot").value)}&after=${encodeURIComponent(more ? next : "")}`);
  rows = [...more ? rows : [], ...found.games.map(row)];
  next = found.next;
  $("more").hidden = !next;
  $("games").replaceChildren(...table("Games", ["game", "version", "against", "result", "ended", ""], rows, next ? "None among the latest." : "None."));
}

$("enter").addEventListener("submit", doing(() => signIn($("token").value.trim())));
$("leave").addEventListener("click", doing(() => { leave(); say("Signed out."); }));
$("quit").addEventListener("click", doing(() => give("DELETE", "This cannot be undone: your tokens are revoked, your bots retired, your name is removed. To leave the league, type your name.", (name) => `/authors/${name}`)));
$("make").addEventListener("click", doing(makeToken));
$("more").addEventListener("click", doing(() => games(true)));
for (const id of ["only", "bot"]) $(id).addEventListener("change", doing(() => games()));
for (const open of document.querySelectorAll("[data-for]")) open.addEventListener("click", () => $(open.dataset.for).click());
const chosen = (id, use) => $(id).addEventListener("change", doing(async () => { const files = [...$(id).files]; $(id).value = ""; if (files.length) await use(files); }));
chosen("file", ([file]) => submitArchive(file));
chosen("folder", (files) => submitFolder(files.map((file) => [file.webkitRelativePath, file])));
addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) $("drop").classList.remove("over"); });
addEventListener("drop", doing(dropped));
if (sessionStorage.token) doing(() => signIn(sessionStorage.token))(); else leave();
})();
