"use strict";
/* The page at which a person plays. It shows what the seat was told with the viewer, and asks for what the rules ask.

   arena.sit(root)         connects to the server that sent this page, and plays.

   Laws:
   1. There are no rules here: the server lists what may be chosen, where it lies, and what the board would show.
   2. An action carries the request and the number of the state that somebody saw. The server refuses all others.
   3. What can be done by mouse can be done by keys, and by touch. */
(() => {
const {make, draw, button} = globalThis.arena.tools;
const NEAR = 26;  // pixels: a finger is not exact
const HABIT = 500;  // ms: an Enter so soon after a number that needed none belongs to that number

function sit(root) {
  let viewer = null, now = null, at = {last: true}, typed = "", busy = false, byKey = false, page = "", deadline = 0, rings = null, over = null, chosenAt = -HABIT;
  const ask = make("section", "ask"), dialog = make("dialog", "help");
  // These stay in the page: a screen reader tells what changes in a place, not that a place is new.
  const asks = make("p", "asked"), hints = make("p", "hint"), offers = make("div", "picks"), remarks = make("p", "remark"), does = make("div", "ways");
  for (const [place, role] of [[asks, "status"], [hints, "status"], [offers, "group"], [remarks, "alert"]]) place.setAttribute("role", role);
  asks.id = "arena-asked";
  for (const place of [ask, offers]) place.setAttribute("aria-labelledby", asks.id);
  ask.tabIndex = -1;  // so that the focus has where to stay between two requests
  ask.append(asks, hints, offers, remarks, does);
  document.body.append(dialog);

  // The server

  const stream = new EventSource("stream");
  stream.addEventListener("whole", (event) => { const told = JSON.parse(event.data); page = told.page; over = told.over; begin(told); });
  stream.addEventListener("news", (event) => {
    const told = JSON.parse(event.data), first = viewer.at().frames;
    const was = at.last;
    over = told.over;
    now = told.now;
    deadline = told.clock === null ? 0 : performance.now() + told.clock;
    for (const frame of told.frames) viewer.append(frame);
    show();
    if (told.frames.length > 1 && was && calm.matches) viewer.watch(first);
  });
  stream.addEventListener("other", () => { stream.close(); leave("This game is open in another window.", button("play here", "main", () => location.reload(), "play here")); });
  stream.addEventListener("end", (event) => { stream.close(); leave(JSON.parse(event.data).words); });
  stream.addEventListener("error", () => { if (stream.readyState !== EventSource.CLOSED) remark("The connection to arena is lost; trying again …"); else leave("The connection to arena has ended."); });
  const calm = matchMedia("(prefers-reduced-motion: no-preference)");

  function begin(told) {
    if (viewer) viewer.close();
    now = told.now;
    deadline = told.clock === null ? 0 : performance.now() + told.clock;
    at = {last: true};
    viewer = globalThis.arena.mount(root, told.data, {moved});
    viewer.main.classList.add("sitting", "playing");
    viewer.main.querySelector(".board").after(ask);
    if (viewer.board) {
      viewer.board.setAttribute("role", "group");
      rings = draw("g", {class: "rings", role: "group", "aria-labelledby": asks.id});
      viewer.board.append(rings);
      viewer.board.addEventListener("click", clicked);
    }
    globalThis.arena.viewer = viewer;
    viewer.go(Infinity);
    show();
    document.documentElement.dataset.ready = "1";
  }

  async function act(what, more = {}) {
    if (busy) return;
    busy = true;
    typed = "";
    try {
      const answer = await fetch("act", {method: "POST", headers: {"Content-Type": "application/json"},
        body: JSON.stringify({page, id: now.id, n: now.n, do: what, ...more})});
      if (answer.ok) return;  // until the new state is here, a click would come too late
      busy = false;
      remark(answer.status === 409 ? "That came too late: this is how it stands now." : await answer.text());
    } catch {
      busy = false;
      remark("The connection to arena is lost; trying again …");
    }
  }

  const choose = (place) => act("choose", {place});
  const undo = () => act("undo");
  const byChance = () => act("fill");
  const send = () => act("send");

  // What is asked

  const asked = () => now && now.phase === "asked" && at.last ? now.ask : null;

  function moved(to) {
    const before = at.last;
    at = to;
    if (viewer && before !== at.last) { showRings(); showAsk(); }
  }

  function show() {
    const keys = byKey;
    busy = byKey = false;
    viewer.draft(now.d || {}, now.w, now.turn);
    showRings();
    showAsk();
    if (keys) focusFirst();
    document.title = `${{asked: "your turn", waiting: "waiting", over: "over", gone: "over"}[now.phase]} · ${title}`;
  }

  const title = document.title;

  function showRings() {
    if (!rings) return;
    viewer.lay(null);
    const asking = asked();
    rings.replaceChildren(...(asking ? asking.items : []).flatMap((item, place) => {
      if (!item.at) return [];
      const [x, y] = item.at;
      const ring = draw("g", {class: "ring", role: "button", tabindex: 0, "aria-label": item.w, "data-place": place}, draw("use", {href: `#${item.r}`, x, y}));
      if (item.l) ring.append(draw("text", {x, y: y + 4, class: "ring-number"}, item.l));
      ring.append(draw("title", {}, item.w));
      ring.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") viewer.lay(item.p); });
      ring.addEventListener("pointerleave", () => viewer.lay(null));
      ring.addEventListener("focus", () => viewer.lay(item.p));
      ring.addEventListener("blur", () => viewer.lay(null));
      return [ring];
    }));
  }

  function pick(item, place) {
    const content = item.s ? [viewer.symbol(item.s, "item", "")] : [make("span", "", ...viewer.sentence(item.w))];
    const choice = button(`${item.w} (${item.k})`, `pick${item.s ? " pictured" : ""}`, () => choose(place), ...content, make("kbd", "", item.k));
    choice.dataset.place = place;
    if (item.p) {
      choice.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") viewer.lay(item.p); });
      choice.addEventListener("pointerleave", () => viewer.lay(null));
      choice.addEventListener("focus", () => viewer.lay(item.p));
      choice.addEventListener("blur", () => viewer.lay(null));
    }
    return choice;
  }

  function showAsk() {
    const line = make("p"), picks = make("div"), ways = make("div"), hint = make("p");
    ask.className = `ask is-${now.phase}`;
    const asking = asked();
    if (!at.last && now.phase !== "over") {
      line.append(now.phase === "asked" ? "This is what happened before your turn." : "You look at an earlier moment.");
      hint.append("Look as long as you like, with the arrow keys or the buttons below.");
      ways.append(button("to the present (Enter)", "main", () => viewer.go(Infinity), now.phase === "asked" ? "to your turn" : "to the present"));
    } else if (asking) {
      if (asking.done) line.append(make("span", "done", `${asking.done}: `));
      line.append(asking.line);
      const placed = asking.items.some((item) => item.at);
      hint.append([asking.hint, placed ? "Choose a marked place on the board, or type its number." : ""].filter(Boolean).join(" "));
      picks.append(...asking.items.flatMap((item, place) => item.at ? [] : [pick(item, place)]));
      if (picks.children.length) line.prepend(...asking.pictures.map((name) => viewer.symbol(name, "item taken", "")));
      else picks.append(...asking.pictures.map((name) => viewer.symbol(name, "item chosen", "")));
      if (asking.items.length) ways.append(button("choose by chance (*)", "", byChance, "by chance"));
      if (asking.undo) ways.append(button("take the last choice back (Backspace)", "", undo, "undo"));
      if (asking.end) {
        const whole = !asking.items.length;
        ways.append(button(`${whole ? "send your turn" : "end your turn here"} (Enter)`, "main", send, whole ? "send turn" : "end turn"));
      }
      if (deadline) ways.prepend(make("span", "clock", ""));
    } else if (now.phase === "waiting") line.append(make("span", "dots", "The others are deciding"));
    else showEnd(line, hint, ways);
    ways.append(button("how to play (?)", "", help, "? how to play"));
    offers.classList.toggle("few", !!asking && asking.items.length < 9);
    fill(line, hint, picks, ways, now.remark || "");
    showClock();
    showTyped();
  }

  /* Puts what was made into its lasting places. What says the same is left alone, so that it is not told again. */
  function fill(line, hint, picks, ways, words) {
    for (const [place, made] of [[asks, line], [hints, hint]]) if (place.textContent !== made.textContent) place.replaceChildren(...made.childNodes);
    offers.replaceChildren(...picks.childNodes);
    does.replaceChildren(...ways.childNodes);
    remark(words);
  }

  function showEnd(line, hint, ways) {
    const place = now.place;
    line.append(now.phase === "gone" ? now.end : place === 1 ? "You have won!" : place ? `The game is over: you are number ${place}.` : "The game is over.");
    if (!over) { hint.append("The others play on …"); return; }
    hint.append(make("span", "", "The log: "), make("span", "path", over.log));
    if (over.error) { hint.replaceChildren(over.error); return; }
    if (!over.seen) ways.append(button("look at the game with all hands open", "main", look, "look at the game"));
    ways.append(button("a new game at this table", "", () => act("again"), "play again"), button("end `arena play`", "", () => act("leave"), "leave"));
  }

  async function look() {
    const answer = await fetch("replay");
    if (!answer.ok) { remark(await answer.text()); return; }
    viewer.close();
    viewer = globalThis.arena.mount(root, await answer.json(), {address: true});
    viewer.main.classList.add("sitting");
    viewer.main.querySelector(".board").after(ask);
    rings = null;
    at = {last: true};
    over = {...over, seen: true};
    showAsk();
    globalThis.arena.viewer = viewer;
  }

  function leave(words, ...ways) {
    fill(make("p", "", words), make("p"), make("div"), make("div", "", ...ways), "");
    if (rings) rings.replaceChildren();
    now = null;
    if (!viewer) root.replaceChildren(ask);
  }

  function remark(words) {
    if (remarks.textContent !== words) remarks.textContent = words;
  }

  function showClock() {
    const place = ask.querySelector(".clock");
    clearTimeout(showClock.timer);
    if (!place) return;
    const left = Math.max(0, Math.ceil((deadline - performance.now()) / 1000));
    place.textContent = `${Math.floor(left / 60)}:${`${left % 60}`.padStart(2, "0")}`;
    place.classList.toggle("short", left <= 10);
    showClock.timer = setTimeout(showClock, 250);
  }

  // Mouse and touch

  function clicked(event) {
    const ring = event.target.closest(".ring");
    if (ring) return choose(+ring.dataset.place);
    let best = NEAR, found = null;
    for (const other of rings.children) {
      const box = other.firstChild.getBoundingClientRect();
      const far = Math.hypot(event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2);
      if (far < best) [best, found] = [far, other];
    }
    if (found) return choose(+found.dataset.place);
    remark(whyNot(event.target));
  }

  /* Why a click on the board does nothing. */
  function whyNot(target) {
    if (!now) return "";
    if (now.phase !== "asked") return now.phase === "waiting" ? "It is not your turn: the others are deciding." : "The game is over.";
    const asking = asked();
    if (!asking) return "This is an earlier moment: go to your turn first.";
    if (!asking.items.length) return "Your turn is whole: send it, or undo.";
    if (!rings.children.length) return `First choose below: ${asking.line}`;
    const named = target.querySelector && target.querySelector("title"), there = named && target.tagName === "use" ? named.textContent : "";
    return `${asking.done ? `${asking.done} cannot go there` : "That cannot be chosen"}${there ? ` (there lies ${there})` : ""}: choose a marked place.`;
  }

  // Keys

  const choices = () => [...ask.querySelectorAll(".pick"), ...(rings ? rings.children : [])];

  function focusFirst() {
    const first = choices()[0] || ask.querySelector(".main") || ask;
    first.focus({preventScroll: first === ask});
  }

  function showTyped() {
    if (typed) hints.textContent = `${typed}▏ Enter chooses it.`;
  }

  function type(char) {
    const asking = asked();
    if (!asking) return;
    typed += char;
    const found = asking.items.map((item, place) => [item.k, place]).filter(([key]) => key.startsWith(typed));
    if (found.length === 1 && found[0][0] === typed) { byKey = true; chosenAt = performance.now(); return choose(found[0][1]); }
    if (!found.length) { remark(`expected one of the numbers shown, got: ${typed}`); typed = ""; }
    showAskTyped();
  }

  function showAskTyped() {
    const words = remarks.textContent;
    showAsk();
    remark(words);
  }

  function enter() {
    const asking = asked();

    if (!asking) { if (now && !at.last) viewer.go(Infinity); return; }
    if (typed) {
      const starting = asking.items.filter((item) => item.k.startsWith(typed));
      const found = asking.items.find((item) => item.k === typed) || (starting.length === 1 ? starting[0] : null);
      if (!found) return remark(`expected one number, got the beginning of several: ${typed}`);
      byKey = true;
      choose(asking.items.indexOf(found));
    } else if (asking.end) { byKey = true; send(); }
    else focusFirst();
  }

  /* The choice that lies next in a direction, or the next of the list. */
  function beside(from, right, down) {
    const all = choices(), here = middle(from);
    let best = Infinity, found = null;
    for (const other of all) {
      const there = middle(other), across = there[0] - here[0], along = there[1] - here[1];
      const ahead = across * right + along * down, aside = Math.abs(across * down) + Math.abs(along * right);
      if (ahead > 1 && ahead + 2 * aside < best) [best, found] = [ahead + 2 * aside, other];
    }
    return found || from;
  }

  function middle(element) {
    const box = (element.classList.contains("ring") ? element.firstChild : element).getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }

  const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !now || document.querySelector("dialog[open]") || event.target.tagName === "SELECT") return;
    const {key, target} = event, choice = target.closest && target.closest(".ring, .pick");
    if (over && over.seen && key !== "?") return;
    if (key in ARROWS && choice) choice.blur(), beside(choice, ...ARROWS[key]).focus();
    else if (/^\d$/.test(key)) type(key);
    else if (key === "Enter" && performance.now() - chosenAt < HABIT) chosenAt = -HABIT;
    else if (key === "Enter" && choice && !typed) { byKey = true; choose(+choice.dataset.place); }
    else if (key === "Enter" && target.tagName === "BUTTON" && !typed) { byKey = true; return; }
    else if (key === "Enter") enter();
    else if (key === " " && choice) { byKey = true; choose(+choice.dataset.place); }
    else if (key === "Backspace" && typed) { typed = typed.slice(0, -1); showAskTyped(); }
    else if (key === "Backspace") { if (asked()) { byKey = true; if (now.ask.undo) undo(); else remark("There is nothing to undo."); } }
    else if (key === "Escape" && typed) { typed = ""; showAskTyped(); }
    else if (key === "*" && asked() && now.ask.items.length) { byKey = true; byChance(); }
    else if (key === "?") help();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  document.addEventListener("keydown", onKey, true);

  // Help

  const KEYS = [["1 … 9", "choose by number: of a button, a space, a card; Enter, if it could be several"], ["Tab", "to the choices; arrow keys go from one to the next, Enter chooses"],
    ["Backspace", "take the last choice back, until the turn is sent"], ["*", "choose by chance: the rest of your hand, where a piece goes, a whole play"], ["Enter", "send the turn, or end it"], ["← →", "look back, step by step; End: to the present"],
    ["w", "the board in words"], ["d", "dark or light"], ["?", "this help"]];

  function help() {
    const rows = KEYS.map(([keys, what]) => make("tr", "", make("td", "", make("kbd", "", keys)), make("td", "", what)));
    const close = button("close (Esc)", "close", () => dialog.close(), "close");
    const resign = now && (now.phase === "asked" || now.phase === "waiting") ? [button("resign: the others play on", "", giveUp, "resign …")] : [];
    dialog.replaceChildren(make("div", "bar", make("h2", "", "How to play"), close), ...(now ? now.help : []).map((line) => make("p", "", line)),
      make("h2", "", "Keys"), make("table", "", make("tbody", "", ...rows)), ...resign);
    dialog.showModal();
  }

  function giveUp() {
    const sure = button("yes, resign", "main", () => { dialog.close(); act("resign"); }, "yes, resign");
    const stay = button("no, play on", "", () => dialog.close(), "no, play on");
    dialog.replaceChildren(make("div", "bar", make("h2", "", "Resign?")), make("p", "", "Your seat forfeits, and the others play on."), make("div", "ways", sure, stay));
  }
}

globalThis.arena.sit = sit;
const root = document.getElementById("arena-table");
if (root) sit(root);
})();
