"use strict";
/* Shows the times of a page in its reader's zone; without it they stand there as UTC. */
const SHOWN = {year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short"};
for (const told of document.querySelectorAll("time")) told.textContent = new Date(told.dateTime).toLocaleString([], SHOWN);
