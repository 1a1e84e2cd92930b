"use strict";
/* What the other parts of the viewer are made with: elements of HTML and SVG, built without markup. */
globalThis.arena = {};
(() => {
const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  first: "M3,2H5.4V14H3ZM14,2V14L6,8Z", prev: "M12.5,2V14L4,8Z", play: "M4,1.5V14.5L14.5,8Z", next: "M3.5,2V14L12,8Z",
  last: "M10.6,2H13V14H10.6ZM2,2V14L10,8Z", pause: "M3.5,2H6.8V14H3.5ZM9.2,2H12.5V14H9.2Z",
  more: "M1,6.4H4.2V9.6H1ZM6.4,6.4H9.6V9.6H6.4ZM11.8,6.4H15V9.6H11.8Z",
  before: "M6,3V13L.6,8ZM11.4,3.6L16,12.4H6.8Z", after: "M10,3V13L15.4,8ZM4.6,3.6L9.2,12.4H0Z",
};

function make(tag, style, ...content) {
  const element = document.createElement(tag);
  if (style) element.className = style;
  element.append(...content);
  return element;
}

function draw(tag, attributes, ...content) {
  const element = document.createElementNS(SVG, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  element.append(...content);
  return element;
}

function parse(markup) {
  const root = new DOMParser().parseFromString(`<svg xmlns="${SVG}">${markup}</svg>`, "image/svg+xml").documentElement;
  return [...document.importNode(root, true).childNodes];
}

const path = (style, d) => draw("path", {class: style, d});
const icon = (shape) => draw("svg", {class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true"}, path("", ICONS[shape]));
const time = (ms) => ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;

function button(label, style, action, ...content) {
  const element = make("button", style, ...content);
  element.type = "button";
  element.title = label;
  element.setAttribute("aria-label", label);
  element.addEventListener("click", action);
  return element;
}

globalThis.arena.tools = {make, draw, parse, path, icon, time, button};
})();
