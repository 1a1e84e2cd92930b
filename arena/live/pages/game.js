"use strict";
/* A game as it is played: its frames come a few at a time. After a lost connection, and when the board has to grow, all
   come once more: then the page begins anew. */
(() => {
const {make} = globalThis.arena.tools;
let viewer = null;
const source = new EventSource("events");
source.addEventListener("film", (event) => {
  if (viewer) { location.reload(); return; }
  const data = JSON.parse(event.data);
  viewer = globalThis.arena.mount(document.getElementById("arena"), data, {});
  viewer.go(data.frames.length - 1);
  globalThis.arena.viewer = viewer;
  document.documentElement.dataset.ready = "1";
});
source.addEventListener("frames", (event) => {
  const {frames, strings} = JSON.parse(event.data);
  frames.forEach((frame, index) => viewer.append(frame, index ? [] : strings));
});
source.addEventListener("over", (event) => {
  const {sentence, replay} = JSON.parse(event.data), over = document.getElementById("over");
  source.close();
  over.replaceChildren(sentence);
  if (replay) {
    const link = make("a", "", "replay, all hands open");
    link.href = "replay";
    link.target = "_blank";
    over.append(link);
  }
  over.hidden = false;
});
})();
