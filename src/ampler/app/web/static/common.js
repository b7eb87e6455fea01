"use strict";
// What several pages use: buttons that copy, headings that sort, and a notice when the server is gone.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(document.getElementById(button.dataset.copy));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "Marked: press Ctrl-C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }
  const heading = event.target.closest("th button");
  if (heading) sortBy(heading.closest("th"));
});

// Words while something is worked out: after a moment, until the next page is there or a file is on its way.
const working = document.getElementById("working");
let slow;
function workingOn(words, seconds) {
  clearTimeout(slow);
  slow = setTimeout(() => {
    working.textContent = words;
    if (seconds) slow = setTimeout(doneWorking, 1000 * seconds);
  }, 300);
}
function doneWorking() { clearTimeout(slow); working.textContent = ""; }
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.origin !== location.origin || link.target) return;
  if (link.hasAttribute("download")) workingOn(`${decodeURIComponent(link.pathname.split("/").pop())} is being made; the browser keeps it as soon as it is there.`, 6);
  else if (link.pathname !== location.pathname || link.search !== location.search) workingOn("Working it out …");
});
document.addEventListener("submit", (event) => { if (!event.defaultPrevented) workingOn("Working it out …"); });
addEventListener("pageshow", doneWorking);

function sortBy(heading) {
  const table = heading.closest("table"), body = table.tBodies[0], place = heading.cellIndex;
  const falling = heading.getAttribute("aria-sort") === "ascending";
  const key = (row) => {
    const cell = row.cells[place], value = cell.dataset.value;
    if (value === undefined) return cell.textContent.trim().toLowerCase();
    const number = Number(value.replace("inf", "Infinity"));
    return Number.isNaN(number) ? (value === "nan" ? Infinity : value) : number;
  };
  const order = (a, b) => (typeof a === "string" || typeof b === "string"
    ? String(a).localeCompare(String(b), undefined, { numeric: true }) : a < b ? -1 : a > b ? 1 : 0);
  const rows = Array.from(body.rows, (row) => [key(row), row]).sort((a, b) => (falling ? order(b[0], a[0]) : order(a[0], b[0])));
  for (const [, row] of rows) body.append(row);
  for (const each of table.querySelectorAll("th")) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
}

// Put new markup in the place of old and keep what the reader opened and where the keyboard is.
function refill(element, markup) {
  const opened = Array.from(element.querySelectorAll("details[open][id]"), (each) => each.id);
  const focused = document.activeElement && element.contains(document.activeElement) ? document.activeElement.id : "";
  element.innerHTML = markup;
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
}

// What the server answered; where that is a page for people, it went wrong.
async function answered(reply) {
  if ((reply.headers.get("Content-Type") || "").startsWith("application/json")) return reply.json();
  return { problem: "Something went wrong on the server; its terminal says what." };
}
