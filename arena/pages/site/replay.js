"use strict";
/* The page of a game in a site: `game.html?n=42#t=12&seat=1` loads the replay of game 42 and shows it.

   A replay calls arena.frames(scenery, drawing, packed): the names of two assets, and its data as gzip in base64.
   The scenery calls arena.scenery(shared) with what games share.

   Laws: a number is the only thing taken from the address; names of assets are checked; everything is loaded by
   <script src> and <link>, which work from disk. */
(() => {
const {make} = globalThis.arena.tools;
const root = document.getElementById("arena");
const number = new URLSearchParams(location.search).get("n") || "";
const ASSET = /^(scenery|drawing)-[0-9a-f]{12}\.(js|css)$/;
let scenery;

function fail(text) {
  root.replaceChildren(make("main", "message", make("h1", "", text), links()));
  document.documentElement.dataset.ready = "1";
}

const link = (address, text) => { const anchor = make("a", "", text); anchor.href = address; return anchor; };

function links() {
  const at = +number, box = make("nav", "way");
  box.setAttribute("aria-label", "games");
  if (at > 0) box.append(link(`game.html?n=${at - 1}`, `‹ game ${at - 1}`));
  box.append(link(`games-${Math.floor(at / 500)}.html`, "all games"), link("index.html", "standings"));
  if (at < +root.dataset.last) box.append(link(`game.html?n=${at + 1}`, `game ${at + 1} ›`));
  return box;
}

const load = (tag, given) => new Promise((done, failed) => {
  document.head.append(Object.assign(make(tag), given, {onload: done, onerror: () => failed(new Error("missing"))}));
});
const script = (src) => load("script", {src});
const style = (href) => load("link", {rel: "stylesheet", href});

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

globalThis.arena.scenery = (shared) => { scenery = shared; };
globalThis.arena.frames = async (sceneryName, drawing, packed) => {
  try {
    if (![sceneryName, drawing].every((name) => ASSET.test(name))) throw new Error("unknown");
    const [data] = await Promise.all([unpack(packed), script(`../assets/${sceneryName}`), style(`../assets/${drawing}`)]);
    document.title = `${data.seats.map((seat) => seat.name).join(` ${data.between} `)} · game ${number}`;
    globalThis.arena.viewer = globalThis.arena.mount(root, {...data, ...scenery}, {address: true});
    root.querySelector("header").append(links());
    document.documentElement.dataset.ready = "1";
  } catch {
    fail(`The replay of game ${number} cannot be shown.`);
  }
};

if (!/^[0-9]{1,7}$/.test(number)) fail("No game is named: game.html?n=42 shows game 42.");
else {
  const name = number.padStart(6, "0"), folder = `${Math.floor(+number / 1000)}`.padStart(3, "0");
  script(`replays-1/${folder}/${name}.js`).catch(() => fail(`There is no replay of game ${number} here: it was not played, or not made yet, or its log is gone.`));
}
})();
