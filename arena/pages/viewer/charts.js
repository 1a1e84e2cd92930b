"use strict";
/* The charts beside the board: what the seats have gained, a seat's chance to be first, and the time of each decision.

   const charts = arena.charts({data, frames, side, line, odds, bars, mark, seek})
   charts.draw(room)       draws them into the figures `line`, `odds` and `bars`, together `room` pixels high.
   charts.move(t)          moves the cursors to frame t. A click calls `seek` with the frame it points at. */
(() => {
const {make, draw, path, time} = globalThis.arena.tools;

globalThis.arena.charts = ({data, frames, side, line, odds, bars, mark, seek}) => {
  const LEFT = 30, RIGHT = 22, {seats} = data, cursors = [];

  function chart(figure, height, caption, aside, paintInto) {
    const width = Math.max(200, side.clientWidth - 6);
    const x = (index) => LEFT + (width - LEFT - RIGHT) * index / Math.max(1, frames.length - 1);
    const picture = draw("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img"});
    paintInto(picture, x, width, height);
    const cursor = path("cursor", "");
    picture.append(cursor);
    cursors.push((at) => cursor.setAttribute("d", `M${x(at).toFixed(1)},3V${height - 3}`));
    const follow = (event) => {
      const box = picture.getBoundingClientRect();
      seek(Math.round(((event.clientX - box.left) * width / box.width - LEFT) / (width - LEFT - RIGHT) * (frames.length - 1)));
    };
    picture.addEventListener("pointerdown", (event) => { picture.setPointerCapture(event.pointerId); follow(event); });
    picture.addEventListener("pointermove", (event) => { if (event.buttons) follow(event); });
    figure.replaceChildren(make("figcaption", "", make("span", "", caption), make("span", "totals", ...aside)), picture);
  }

  function paintLine(picture, x, width, height) {
    const most = Math.max(1, ...frames.flatMap((frame) => frame.v)), least = Math.min(0, ...frames.flatMap((frame) => frame.v));
    const y = (value) => height - 8 - (height - 18) * (value - least) / (most - least);
    for (const value of new Set([least, most])) picture.append(path("grid", `M${LEFT},${y(value)}H${width - RIGHT}`),
      draw("text", {class: "axis", x: LEFT - 6, y: y(value) + 4}, `${value}`));
    const ends = [];
    seats.forEach((_, seat) => {
      // Lines of equal value would hide each other.
      const shift = (seat - (seats.length - 1) / 2) * 2;
      const d = frames.map((frame, index) => `${index ? `H${x(index).toFixed(1)}V` : `M${x(0)},`}${(y(frame.v[seat]) + shift).toFixed(1)}`).join("");
      picture.append(draw("g", {class: `o${seat}`}, path("under", d), path("step", d)));
      ends.push([y(frames[frames.length - 1].v[seat]) + shift, seat]);
    });
    ends.sort((one, other) => one[0] - other[0]);
    let free = 7;
    const room = ends.map(([end], index) => free = Math.max(free + (index ? 13 : 0), Math.min(end, height - 8 - 13 * (ends.length - 1 - index))));
    ends.forEach(([, seat], index) => picture.append(draw("use", {href: `#M${seat}`, transform: `translate(${width - 11} ${room[index]}) scale(.58)`})));
    picture.setAttribute("aria-label", `${data.gained}: ${seats.map((seat, number) => `${seat.name} ${frames[frames.length - 1].v[number]}`).join(", ")}`);
  }

  function paintOdds(picture, x, width, height) {
    const y = (chance) => height - 8 - (height - 16) * chance;
    for (const [chance, label] of [[0, "0"], [1, "1"]]) picture.append(path("grid", `M${LEFT},${y(chance)}H${width - RIGHT}`),
      draw("text", {class: "axis", x: LEFT - 6, y: y(chance) + 4}, label));
    const judged = frames.flatMap((frame, index) => frame.p === undefined ? [] : [[frame, index]]);
    const d = judged.map(([frame, index], number) => `${number ? "L" : "M"}${x(index).toFixed(1)},${y(frame.p).toFixed(1)}`).join("");
    picture.append(draw("g", {class: `o${judged[0][0].s}`}, path("under", d), path("step", d)));
    for (const [frame, index] of judged) if ((frame.m || "").includes("k")) picture.append(draw("circle", {class: "costly", cx: x(index).toFixed(1), cy: y(frame.p).toFixed(1), r: 4.5}));
    picture.setAttribute("aria-label", `chance of ${seats[judged[0][0].s].name} to be first: ${judged.map(([frame]) => `${Math.round(100 * frame.p)} %`).join(", ")}`);
  }

  function paintBars(picture, x, width, height) {
    const slowest = Math.max(1, ...frames.map((frame) => frame.ms || 0)), floor = height - 6;
    const tall = (ms) => (height - 16) * Math.log1p(ms) / Math.log1p(slowest);
    const thick = Math.max(1.3, (width - LEFT - RIGHT) / frames.length * 0.72);
    for (const [ms, label] of [[0, "0"], [slowest, slowest >= 1000 ? `${(slowest / 1000).toFixed(0)} s` : slowest.toFixed(0)]])
      picture.append(path("grid", `M${LEFT},${floor - tall(ms)}H${width - RIGHT}`), draw("text", {class: "axis", x: LEFT - 6, y: floor - tall(ms) + 4}, label));
    frames.forEach((frame, index) => {
      if (frame.ms === undefined) return;
      const length = Math.max(1, tall(frame.ms));
      picture.append(draw("rect", {class: `bar o${frame.s}`, x: (x(index) - thick / 2).toFixed(1), y: (floor - length).toFixed(1), width: thick.toFixed(1), height: length.toFixed(1)},
        draw("title", {}, `${seats[frame.s].name}: ${time(frame.ms)}`)));
    });
    picture.setAttribute("aria-label", `time used: ${seats.map((seat, number) => `${seat.name} ${time(used(number))}`).join(", ")}`);
  }

  const used = (seat) => frames.reduce((sum, frame) => sum + (frame.s === seat ? frame.ms || 0 : 0), 0);

  return {
    draw(room) {
      const judged = frames.find((frame) => frame.p !== undefined), share = judged ? [0.42, 0.26] : [0.62, 0.38];
      const tall = Math.max(56, Math.min(190, room * share[0])), low = Math.max(44, Math.min(110, room * share[1]));
      cursors.length = 0;
      if (data.gained) chart(line, tall, data.gained, ["click to go there"], paintLine);
      if (judged) chart(odds, Math.max(56, low), "chance to be first", [mark(judged.s)], paintOdds);
      if (frames.some((frame) => frame.ms !== undefined)) chart(bars, low, "time (log)",
        seats.flatMap((_, number) => [make("span", "total", mark(number), time(used(number)))]), paintBars);
    },
    move(at) { for (const cursor of cursors) cursor(at); },
  };
};
})();
