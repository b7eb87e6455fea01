"use strict";
// Ask every other second what is new; parts that did not change are left alone, and nothing is asked for unseen pages.
const live = document.getElementById("live"), note = document.getElementById("connection");
const OFTEN = 1800, SELDOM = 10000;
let seen = live.dataset.seen, misses = 0;
const before = {};

async function look() {
  let pause = OFTEN;
  try {
    if (document.visibilityState === "visible") {
      const reply = await fetch(`/study/${encodeURIComponent(live.dataset.name)}/live?seen=${seen}`);
      const found = await answered(reply);
      misses = 0;
      note.textContent = found.problem ? `${found.problem} This page shows how it was; it goes on as soon as the study can be read.` : "";
      if (found.problem) pause = SELDOM;
      if (found.parts) show(found.parts);
      if (found.number) seen = String(found.number);
      if (found.ended) pause = SELDOM;
    }
  } catch {
    misses += 1;
    if (misses > 1) note.textContent = "The server does not answer, so this page stands still. Start it again with ampler serve; the page then goes on by itself.";
    pause = Math.min(SELDOM, OFTEN * misses);
  }
  setTimeout(look, pause);
}

function show(parts) {
  for (const element of document.querySelectorAll("[data-part]")) {
    const name = element.dataset.part, markup = parts[name];
    const kept = (name === "instances" && live.dataset.all !== undefined) || element.contains(getSelection().anchorNode) && !getSelection().isCollapsed;
    if (markup === undefined || markup === before[name] || kept) continue;
    const scrolled = Array.from(element.querySelectorAll(".scroll"), (each) => each.scrollLeft);
    const sorted = element.querySelector("th[aria-sort]"), place = sorted?.cellIndex, order = sorted?.getAttribute("aria-sort");
    refill(element, markup);
    element.querySelectorAll(".scroll").forEach((each, index) => { each.scrollLeft = scrolled[index] || 0; });
    if (place !== undefined) {
      const heading = element.querySelector("table").tHead.rows[0].cells[place];
      sortBy(heading);
      if (order === "descending") sortBy(heading);
    }
    before[name] = markup;
  }
  const title = document.querySelector("h1");
  document.title = `${title.textContent} · ampler`;
}

setTimeout(look, OFTEN);
