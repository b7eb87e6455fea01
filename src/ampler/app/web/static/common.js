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
