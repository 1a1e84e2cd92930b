"use strict";
/* A game as it is played: its frames come a few at a time. After a lost connection, when the board has to grow, and when
   a hidden page is seen again, all come once more: then the page shows the same moment of the new film.

   Law: while somebody reads a dialog or plays the game, the film stays as it is. The new one waits until they are done. */
(() => {
const {make} = globalThis.arena.tools;
const root = document.getElementById("arena");
const AGAIN_MS = 300;
let viewer = null, numbers = [], waiting = null, timer = 0;

const busy = () => viewer.main.querySelector("dialog[open]") || viewer.main.querySelector("[aria-label^='pause']");

/* Shows a whole film; the moment that was looked at, or what is new if that was the last. */
function show(data) {
  const before = viewer && viewer.at(), at = before && numbers[before.t];
  const label = viewer && root.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
  const pace = viewer && viewer.main.querySelector(".pace select").value;
  if (viewer) viewer.close();
  waiting = null;
  numbers = data.frames.map((frame) => frame.n);
  viewer = globalThis.arena.mount(root, data, {});
  globalThis.arena.viewer = viewer;
  if (before) {
    const chosen = viewer.main.querySelector(".pace select");
    chosen.value = pace;
    chosen.dispatchEvent(new Event("change"));
  }
  const there = before && before.t < before.frames - 1 ? numbers.findIndex((number) => number >= at) : -1;
  viewer.go(there < 0 ? Infinity : there, before ? before.eyes : undefined);
  if (label) for (const element of root.querySelectorAll("[aria-label]")) if (element.getAttribute("aria-label") === label) element.focus();
  document.documentElement.dataset.ready = "1";
}

function renew() {
  clearTimeout(timer);
  if (!waiting.frames.length) return; // the game has just begun: they come in a moment
  if (viewer && busy()) timer = setTimeout(renew, AGAIN_MS);
  else show(waiting);
}

const hangUp = globalThis.arena.listen({
  film(data) {
    waiting = data;
    renew();
  },
  frames({frames, strings}) {
    if (waiting) {
      waiting.frames.push(...frames);
      waiting.strings.push(...strings);
      renew();
      return;
    }
    frames.forEach((frame, index) => { numbers.push(frame.n); viewer.append(frame, index ? [] : strings); });
  },
  over({sentence, replay}) {
    const over = document.getElementById("over");
    hangUp();
    over.replaceChildren(sentence);
    if (replay) {
      const link = make("a", "", "replay, all hands open");
      link.href = "replay";
      link.target = "_blank";
      over.append(link);
    }
    over.hidden = false;
  },
});
})();
