"use strict";
/* The viewer of arena: shows a game from its frames. It knows no game: `docs/pages.md` has the form of the data.

   const viewer = arena.mount(root, data, {address: true, moved})
       Draws the game into an empty element. With `address`, the part of the address after # names the moment.
       `moved` is called whenever another moment is shown, with {at, last: whether it is the last}.
   viewer.append(frame, strings)    adds a frame, with the strings that it is the first to use; if the last one was
                           shown, the new one is.
   viewer.go(t, eyes)      shows frame t with somebody's eyes; without `eyes`, with the same as before.
   viewer.at()             returns {t, eyes, frames}.
   viewer.draft(d, words, turn)  lays changes over the last frame, with words and a turn in the place of its own: a turn
                           in the making. Without them, shows the last frame as it is. It stays until the next frame.
   viewer.lay(d)           paints such changes and touches no words: a choice that somebody points at. Without them,
                           paints what was there before.
   viewer.watch(t)         goes to frame t and plays on from there, in some seconds.
   viewer.board            the board's SVG, or null; viewer.symbol and viewer.sentence make parts as the viewer does.
   viewer.close()          takes the viewer out of its page.

   Laws:
   1. Text becomes part of the page by textContent and setAttribute alone. Symbols and grounds are SVG that arena drew;
      they are parsed as XML, and the page's policy lets no script in them run.
   2. What comes from the address is looked up in lists, never used as a key of an object.
   3. Nothing is loaded, and nothing runs unless somebody presses something. */
(() => {
const {make, draw, parse, path, icon, button} = globalThis.arena.tools;
const MARKS = "▲■●◆★";
const MARK = new RegExp(`([${MARKS}])`);
const STATE = "state";
const LAYERS = 5;
const MOMENTS = {c: "M0,-5L5,4H-5Z", k: "M-4,-3L0,4L4,-3", f: "M-4,-4L4,4M4,-4L-4,4", t: "M0,-4.6A4.6,4.6 0 1 0 .01,-4.6ZM0,-2.6V0L2.2,1.4"};

function mount(root, data, options = {}) {
  const {seats, strings} = data, frames = [], scenes = new Map(data.eyes.map((eye) => [eye, []])), last = new Map();
  const closing = new AbortController(), {signal} = closing;
  let at = 0, eyes = data.eyes[0], timer = 0, speed = 1, shown = false, tallest = 0, draft = null;

  // Frames: each is what changed since the one before. Whole scenes are made once, so that every jump is quick.

  function changed(scene, changes) {
    if (!changes) return scene;
    const after = new Map(scene);
    for (const [key, value] of Object.entries(changes)) if (value === null) after.delete(key); else after.set(key, value);
    return after;
  }

  function fold(frame) {
    for (const eye of data.eyes) {
      const [common, own] = last.get(eye) || [new Map(), new Map()];
      const now = [changed(common, frame.d), changed(own, frame.e && frame.e[eye])];
      last.set(eye, now);
      scenes.get(eye).push(new Map([...now[0], ...now[1]]));
    }
    frames.push(frame);
  }

  const drafted = () => draft && at === frames.length - 1;
  const words = () => (drafted() && draft.words) || (frames[at].x && frames[at].x[eyes]) || frames[at].w;
  const turnNow = () => drafted() && draft.turn !== undefined ? draft.turn : frames[at].t;
  const text = (said) => typeof said === "string" ? said : strings[said];
  const has = (frame, moment) => (frame.m || "").includes(moment);

  // Parts

  function symbol(name, style, label) {
    const [, width, height, called] = data.symbols[name];
    const picture = draw("svg", {class: style, viewBox: `${-width / 2} ${-height / 2} ${width} ${height}`});
    label = label === undefined ? called : label;
    if (label) {
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", label);
      picture.append(draw("title", {}, label));
    } else picture.setAttribute("aria-hidden", "true");
    picture.append(draw("use", {href: `#${name}`}));
    return picture;
  }

  const mark = (seat, label = "") => symbol(`M${seat}`, "mark-icon", label);

  /* A sentence, in which each seat's mark is drawn: fonts lack some of them. */
  const sentence = (text) => text.split(MARK).map((part) => {
    const seat = part ? MARKS.indexOf(part) : -1;
    return seat >= 0 && seat < seats.length ? mark(seat, `seat ${seat}`) : part;
  });
  const spoken = (text) => text.split(MARK).map((part) => {
    const seat = part ? MARKS.indexOf(part) : -1;
    return seat >= 0 && seat < seats.length ? `seat ${seat}` : part;
  }).join("");

  const title = make("h1");
  seats.forEach((seat, number) => {
    if (number) title.append(make("span", "versus", data.between));
    const name = make("span", "name", mark(number), seat.name);
    name.title = [seat.name, seat.display, seat.version].filter(Boolean).join(" ");
    title.append(name);
  });
  const header = make("header", "", title, make("p", "facts", data.facts.join(" · ")));

  const board = make("section", "board");
  const say = make("section", "say");
  const live = make("p", "unseen");
  const cards = make("div", "seats");
  const line = make("figure", "chart line"), odds = make("figure", "chart odds"), bars = make("figure", "chart bars");
  const side = make("aside", "", cards, line, odds, bars);
  board.setAttribute("aria-label", "board");
  say.setAttribute("aria-label", "what happened");
  side.setAttribute("aria-label", "seats");
  live.setAttribute("aria-live", "polite");

  const slider = make("input", "slider");
  slider.type = "range";
  slider.min = 0;
  slider.setAttribute("aria-label", "decision");
  slider.addEventListener("input", () => { stop(); go(+slider.value); });
  const moments = make("div", "moments");
  const place = make("span", "place");
  const playing = button("play (space)", "", play, icon("play"));
  const pace = speeds();
  const whose = make("div", "whose");
  whose.setAttribute("role", "group");
  whose.setAttribute("aria-label", "whose eyes");
  if (data.eyes.length > 1) {
    whose.classList.add("wide");
    whose.append(make("span", "facts wide", "whose eyes"));
    for (const eye of data.eyes) {
      const label = eye === "all" ? "all hands open (a)" : `with the eyes of seat ${eye}, ${seats[eye].name} (${eye})`;
      const choose = button(label, "eye", () => go(at, eye), ...(eye === "all" ? ["all"] : [mark(+eye), eye]));
      choose.dataset.eye = eye;
      whose.append(choose);
    }
  } else if (data.eyes[0] === "public") whose.append(make("span", "facts", "only what everybody knows"));
  else if (data.eyes[0] !== "all") whose.append(make("span", "facts", "only what ", mark(+data.eyes[0]), ` ${seats[data.eyes[0]].name} could know`));
  const share = button("copy the address of this moment (s)", "wide away", copy, "share");
  const gain = data.gain ? [
    button(`previous ${data.gain} (C)`, "", () => jump(-1, (frame) => has(frame, "c")), icon("before")),
    button(`next ${data.gain} (c)`, "", () => jump(1, (frame) => has(frame, "c")), icon("after")),
  ] : [];
  const controls = make("div", "controls",
    button("first (Home)", "wide", () => step(-Infinity), icon("first")), button("back (←)", "", () => step(-1), icon("prev")),
    playing, button("on (→)", "", () => step(1), icon("next")), button("last (End)", "wide", () => step(Infinity), icon("last")),
    ...gain, make("label", "pace wide", "speed ", pace), place,
    button("list of moves (L)", "wide", showMoves, "moves"), button("this moment in words (w)", "wide", showWords, "in words"),
    share, button("keys (?)", "wide away", showKeys, "?"), button("more: moves, words, speed", "narrow", showMore, icon("more")), whose);
  const footer = make("footer", "", make("div", "track", moments, slider), controls);
  const dialog = make("dialog");
  const main = make("main", `viewer ${data.corner ? `corner ${data.corner}` : "plain"}${seats.length > 3 ? " many" : ""}`,
    header, board, say, side, footer, dialog, live);

  // The board: sprites are kept by key, and only what differs is touched.

  const layers = [], sprites = new Map();
  const [wide, high] = data.size;
  const definitions = Object.entries(data.symbols).map(([name, [markup]]) => `<g id="${name}">${markup}</g>`).join("");
  if (wide) {
    const picture = draw("svg", {viewBox: `0 0 ${wide} ${high}`, role: "img", preserveAspectRatio: data.corner ? "xMidYMid" : "xMidYMin",
      "aria-label": "the board; what lies on it is told in words (key w)"});
    picture.append(...parse(`<defs>${definitions}</defs><g class="ground">${data.ground}</g>`));
    for (let layer = 0; layer < LAYERS; layer++) picture.append(layers[layer] = draw("g", {class: `layer${layer}`}));
    board.append(picture);
  } else {
    board.append(draw("svg", {class: "unseen"}, ...parse(`<defs>${definitions}</defs>`)));
    main.classList.add("boardless");
  }
  const table = make("div", "fields");
  if (!wide) board.append(table);

  function node([, name, x, y, label, text, style]) {
    const placed = name ? draw("use", {href: `#${name}`, x, y}) : draw("text", {class: style, x, y}, text);
    if (label) placed.append(draw("title", {}, label));
    return placed;
  }

  function paint(scene) {
    for (const [key, sprite] of sprites) if (!scene.has(key)) { sprite.node.remove(); sprites.delete(key); }
    for (const [key, value] of scene) {
      if (key[0] === "#") continue;
      const sprite = sprites.get(key);
      if (sprite && sprite.value === value) continue;
      const placed = node(value);
      if (shown && !sprite) placed.classList.add("fresh");
      if (sprite && sprite.value[0] === value[0]) sprite.node.replaceWith(placed);
      else { if (sprite) sprite.node.remove(); layers[value[0]].append(placed); }
      sprites.set(key, {node: placed, value});
    }
  }

  // Beside the board

  function items(value) {
    if (typeof value === "string") return [make("span", "value", ...sentence(value))];
    return value.map((item) => typeof item === "string" ? symbol(item, "item")
      : make("span", "counted", symbol(item[0], "item small"), make("span", "value", `${item[1]}`)));
  }

  function cell(name, value) {
    const box = make("div", `cell ${typeof value === "string" ? "plain-cell" : "listed"}`, make("b", "", data.labels[name]), ...items(value));
    box.title = data.labels[name];
    return box;
  }

  function showSeats(scene) {
    const over = at === frames.length - 1 && data.end === "finished";
    const names = wide ? Object.keys(data.labels) : [];
    cards.replaceChildren(...seats.map((seat, number) => {
      const card = make("section", `seat o${number}${eyes === `${number}` ? " own-eyes" : ""}`);
      const state = over && seat.rank ? `${seat.rank === 1 ? "★ " : ""}rank ${seat.rank}` : scene.get(`#${number}.${STATE}`) || "";
      const score = over && seat.score !== undefined && !scene.has(`#${number}.score`) ? make("span", "state", `${seat.score} points`) : "";
      card.append(make("h2", "", mark(number, `seat ${number}`), make("span", "name", seat.name), seat.display ? make("bdi", "name facts", seat.display) : "", score, make("span", `state${over && seat.rank === 1 ? " winner" : ""}`, state)));
      const cells = names.filter((name) => scene.has(`#${number}.${name}`)).map((name) => cell(name, scene.get(`#${number}.${name}`)));
      if (cells.length) card.append(make("div", "cells", ...cells));
      if (state === "to move") card.classList.add("to-move");
      return card;
    }), make("div", "cells general", ...names.filter((name) => scene.has(`#.${name}`)).map((name) => cell(name, scene.get(`#.${name}`)))));
  }

  /* Without a board: what each seat knows, as a table in which changes are marked. */
  function showFields(scene) {
    if (wide) return;
    const before = scenes.get(eyes)[Math.max(0, at - 1)], numbers = [...seats.keys(), ""]
      .filter((number) => Object.keys(data.labels).some((name) => scene.has(`#${number}.${name}`)));
    const head = make("tr", "", make("th"), ...numbers.map((number) => number === "" ? make("th", "", "everybody knows") : make("th", "", mark(number), ` ${seats[number].name}`)));
    const rows = Object.entries(data.labels).map(([name, label]) => make("tr", "", make("th", "", label), ...numbers.map((number) => {
      const key = `#${number}.${name}`, value = scene.has(key) ? scene.get(key) : "";
      return make("td", before.get(key) === value || !at ? "" : "changed", ...items(value));
    })));
    table.replaceChildren(make("table", "", make("thead", "", head), make("tbody", "", ...rows)));
  }

  function showSaid() {
    const told = words(), said = (list) => (list || []).map(text);
    const note = (text) => { const box = make("p", "note", text); box.tabIndex = text.length > 300 ? 0 : -1; return box; };
    say.replaceChildren(make("h2", "", ...sentence(text(told.h))),
      ...said(told.f).map((text) => make("p", "fault", ...sentence(text))),
      ...said(told.r).map((text) => make("p", has(frames[at], "k") ? "costly" : "remark", ...sentence(text))),
      ...said(told.l).map((text) => make("p", "", ...sentence(text))),
      ...said(told.y).map((text) => make("p", "why", ...sentence(text))), ...said(told.n).map(note));
    clearTimeout(showSaid.timer);
    showSaid.timer = setTimeout(() => {
      const notes = said(told.n).map((text) => `note: ${text.slice(0, 200)}`);
      live.textContent = [text(told.h), ...said(told.f), ...said(told.r), ...said(told.l), ...said(told.y), ...notes].map(spoken).join(". ");
    }, 150);
  }

  function showMoments() {
    const end = Math.max(1, frames.length - 1);
    moments.replaceChildren(...frames.flatMap((frame, index) => {
      if (!frame.m) return [];
      const kind = ["f", "k", "t", "c"].find((moment) => has(frame, moment));
      const what = {f: "forfeit", k: "costly decision", t: "slow decision", c: data.gain || "gain"}[kind];
      const jumpThere = button(`${what}, ${data.turn.toLowerCase()} ${frame.t}`, `moment ${kind}`, () => { stop(); go(index); },
        draw("svg", {viewBox: "-6 -6 12 12", "aria-hidden": "true"}, path("", MOMENTS[kind])));
      jumpThere.tabIndex = -1;
      jumpThere.style.left = `${100 * index / end}%`;
      return [jumpThere];
    }));
  }

  const charts = globalThis.arena.charts({data, frames, side, line, odds, bars, mark, seek(to) { stop(); go(to); }});

  function showCharts() {
    // They take the height that the seats leave; where all is one column, they have a usual one.
    tallest = Math.max(tallest, cards.offsetHeight);
    charts.draw(getComputedStyle(footer).position === "fixed" ? 190 : side.clientHeight - tallest - 86);
    charts.move(at);
  }

  const sceneNow = () => drafted() ? changed(scenes.get(eyes)[at], draft.changes) : scenes.get(eyes)[at];

  // Going about

  function go(to, with_ = eyes) {
    at = Math.max(0, Math.min(frames.length - 1, to));
    if (data.eyes.includes(with_)) eyes = with_;
    const scene = sceneNow();
    paint(scene);
    shown = true;
    showSeats(scene);
    showFields(scene);
    showSaid();
    slider.value = at;
    slider.setAttribute("aria-valuetext", spoken(text(words().h)));
    place.textContent = `${at + 1}/${frames.length} · ${data.turn} ${turnNow()}`;
    if (cards.offsetHeight > tallest) showCharts();
    else charts.move(at);
    for (const choice of whose.querySelectorAll("button")) choice.setAttribute("aria-pressed", `${choice.dataset.eye === eyes}`);
    clearTimeout(go.timer);
    if (options.address) go.timer = setTimeout(writeAddress, 100);
    if (options.moved) options.moved({at, last: at === frames.length - 1});
  }

  function step(by) { stop(); go(at + by); }

  function jump(direction, wanted) {
    stop();
    for (let index = at + direction; index >= 0 && index < frames.length; index += direction)
      if (wanted(frames[index], index)) return go(index);
  }

  const turn = (direction) => jump(direction, (frame, index) =>
    frame.t !== frames[at].t && (direction > 0 || !index || frames[index - 1].t !== frame.t));
  const mistake = (frame) => ["f", "k", "t"].some((moment) => has(frame, moment));

  function stop() {
    clearTimeout(timer);
    timer = 0;
    playing.replaceChildren(icon("play"));
    playing.setAttribute("aria-label", "play (space)");
  }

  function play(event, beat = 900) {
    if (timer) return stop();
    if (at === frames.length - 1) go(0);
    playing.replaceChildren(icon("pause"));
    playing.setAttribute("aria-label", "pause (space)");
    const next = () => {
      if (at === frames.length - 1) return stop();
      go(at + 1);
      timer = setTimeout(next, beat / speed);
    };
    timer = setTimeout(next, beat / speed);
  }

  function speeds() {
    const choice = make("select");
    for (const times of [0.25, 0.5, 1, 2, 4, 8, 16]) choice.append(new Option(`${times}×`, times, times === 1, times === speed));
    choice.setAttribute("aria-label", "speed");
    choice.addEventListener("change", () => setSpeed(+choice.value));
    return choice;
  }

  function setSpeed(times) {
    speed = Math.min(16, Math.max(0.25, times));
    pace.value = `${speed}`;
  }

  function writeAddress() {
    const wanted = `#t=${at}${eyes === data.eyes[0] ? "" : `&seat=${eyes}`}`;
    if (location.hash === wanted) return;
    try {
      history.replaceState(null, "", wanted);
    } catch { /* Some browsers refuse when it happens too often: the next step writes it. */ }
  }

  function readAddress() {
    const named = new URLSearchParams(location.hash.slice(1)), to = named.get("t"), eye = named.get("seat");
    go(/^\d{1,9}$/.test(to || "") ? +to : at, data.eyes.includes(eye) ? eye : eye === null ? data.eyes[0] : eyes);
  }

  async function copy() {
    if (options.address) writeAddress();
    try {
      await navigator.clipboard.writeText(location.href);
      share.textContent = "copied";
      live.textContent = "the address of this moment was copied";
    } catch {
      share.textContent = "see address";
    }
    setTimeout(() => { share.textContent = "share"; }, 1500);
  }

  // In words

  function open(heading, ...content) {
    stop();
    const close = button("close (Esc)", "close", () => dialog.close(), "close");
    dialog.replaceChildren(make("div", "bar", make("h2", "", heading), close), ...content);
    dialog.setAttribute("aria-label", heading);
    dialog.showModal();
  }

  /* What a narrow bar has no room for: there all of it would else be keys alone, and a phone has none. */
  function showMore() {
    const way = (what, style, action) => button(what, style, () => { dialog.close(); action(); }, what);
    open("More",
      make("div", "more", way("list of moves", "", showMoves), way("this moment in words", "", showWords),
        way("to the first", "", () => step(-Infinity)), way("to the last", "", () => step(Infinity)),
        way("copy the address", "away", copy), way("dark or light", "", darken), way("all keys", "away", showKeys),
        ...(data.eyes.length > 1 ? data.eyes.map((eye) => way(eye === "all" ? "all hands" : `eyes of ${seats[eye].name}`, "", () => go(at, eye))) : [])),
      make("label", "pace", "speed ", speeds()));
  }

  function showMoves() {
    const list = make("ol", "moves");
    list.start = 1;
    frames.forEach((frame, index) => {
      const told = (frame.x && frame.x[eyes]) || frame.w;
      const link = make("a", index === at ? "here" : "", ...sentence(text(told.h)));
      link.href = `#t=${index}`;
      link.addEventListener("click", (event) => { event.preventDefault(); dialog.close(); go(index); });
      list.append(make("li", "", link, ...(told.l || []).map((said) => make("p", "", ...sentence(text(said))))));
    });
    open("Moves", list);
    list.querySelector(".here").scrollIntoView({block: "center"});
  }

  function showWords() {
    const scene = sceneNow(), lines = [];
    for (const [key, value] of scene) if (key[0] !== "#" && (value[4] || value[5])) lines.push([value[0], value[4] || value[5]]);
    const rows = [];
    const text = (value) => typeof value === "string" ? value : value.map((item) => typeof item === "string"
      ? data.symbols[item][3] : `${data.symbols[item[0]][3]} ${item[1]}`).join(", ");
    for (const [name, label] of Object.entries(data.labels)) for (const number of [...seats.keys(), ""]) {
      const value = scene.get(`#${number}.${name}`);
      if (value !== undefined) rows.push(make("tr", "", make("td", "", label), make("td", "", ...(number === "" ? [] : [mark(number, `seat ${number}`), ` ${seats[number].name}`])), make("td", "", text(value) || "none")));
    }
    const list = lines.sort((one, other) => one[0] - other[0]).map(([, label]) => make("li", "", ...sentence(label)));
    open(`${data.turn} ${turnNow()} in words`, make("table", "", make("tbody", "", ...rows)), make("ul", "", ...list));
  }

  const KEYS = [
    ["→ ←", "next, previous decision (l, h too)", () => step(1), ["ArrowRight", "l"]], ["", "", () => step(-1), ["ArrowLeft", "h"]],
    ["↓ ↑", "next, previous turn", () => turn(1), ["ArrowDown"]], ["", "", () => turn(-1), ["ArrowUp"]],
    ["PgDn PgUp", "ten decisions on, back", () => step(10), ["PageDown"]], ["", "", () => step(-10), ["PageUp"]],
    ["Home End", "first, last", () => step(-Infinity), ["Home"]], ["", "", () => step(Infinity), ["End"]],
    ["Space", "play, pause (k too)", play, [" ", "k"]],
    ["+ −", "faster, slower", () => setSpeed(speed * 2), ["+", "="]], ["", "", () => setSpeed(speed / 2), ["-"]],
    ...(data.gain ? [["c C", `next, previous ${data.gain}`, () => jump(1, (frame) => has(frame, "c")), ["c"]],
      ["", "", () => jump(-1, (frame) => has(frame, "c")), ["C"]]] : []),
    ["m M", data.frames.some((frame) => "p" in frame) ? "next, previous forfeit, costly or slow decision" : "next, previous forfeit or slow decision", () => jump(1, mistake), ["m"]], ["", "", () => jump(-1, mistake), ["M"]],
    ...(data.eyes.length > 1 ? [["a", "all hands open", () => go(at, "all"), ["a"]],
      [`0 – ${seats.length - 1}`, "with the eyes of that seat", () => {}, []]] : []),
    ["L", "list of moves", showMoves, ["L"]], ["w", "this moment in words", showWords, ["w"]],
    ["s", "copy the address of this moment", copy, ["s"]],
    ["d", "dark or light", darken, ["d"]], ["?", "these keys", showKeys, ["?"]],
  ];
  const actions = new Map(KEYS.flatMap(([, , action, keys]) => keys.map((key) => [key, action])));
  if (data.eyes.length > 1) seats.forEach((_, number) => actions.set(`${number}`, () => go(at, `${number}`)));

  function showKeys() {
    const rows = KEYS.filter(([keys]) => keys).map(([keys, what]) =>
      make("tr", "", make("td", "", ...keys.split(" ").flatMap((key) => key === "–" ? [" – "] : [make("kbd", "", key), " "])), make("td", "", what)));
    open("Keys", make("table", "", make("tbody", "", ...rows)));
  }

  function darken() {
    const page = document.documentElement, dark = page.classList.contains("dark") ||
      (!page.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
    page.classList.toggle("dark", !dark);
    page.classList.toggle("light", dark);
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || event.target.tagName === "SELECT") return;
    if (event.target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    const action = actions.get(event.key);
    if (action) { event.preventDefault(); action(); }
  }

  function arrange() {
    slider.max = frames.length - 1;
    showMoments();
  }

  data.frames.forEach(fold);
  root.replaceChildren(main);
  arrange();
  document.addEventListener("keydown", onKey, {signal});
  let room = "";
  const resized = new ResizeObserver(() => {
    const now = `${side.clientWidth} ${innerHeight}`;
    if (now !== room) { room = now; tallest = 0; showCharts(); }
  });
  resized.observe(side);
  if (options.address) {
    addEventListener("hashchange", readAddress, {signal});
    readAddress();
  } else go(0);
  showCharts();

  return {
    go,
    draft(changes, told, turn) {
      draft = changes || told ? {changes, words: told, turn} : null;
      if (at === frames.length - 1) go(at);
    },
    lay(changes) { paint(changes ? changed(sceneNow(), changes) : sceneNow()); },
    watch(from) {
      stop();
      go(from);
      if (at < frames.length - 1) play(null, Math.min(900, 4500 / (frames.length - 1 - at)));
    },
    board: board.querySelector("svg:not(.unseen)"),
    main,
    symbol,
    sentence,
    close() {
      stop();
      clearTimeout(go.timer);
      clearTimeout(showSaid.timer);
      closing.abort();
      resized.disconnect();
      main.remove();
    },
    at: () => ({t: at, eyes, frames: frames.length}),
    append(frame, more = []) {
      const follow = at === frames.length - 1;
      draft = null;
      strings.push(...more);
      fold(frame);
      arrange();
      showCharts();
      go(follow ? frames.length - 1 : at);
    },
  };
}

globalThis.arena.mount = mount;

if (new URLSearchParams(location.search).has("embed")) document.documentElement.classList.add("embed");
const data = document.getElementById("arena-data");
if (data) {
  globalThis.arena.viewer = mount(document.getElementById("arena"), JSON.parse(data.textContent), {address: true});
  document.documentElement.dataset.ready = "1";
}
})();
