"use strict";
document.documentElement.classList.add("alive");
// Light or dark, whatever the system says.
for (const button of document.querySelectorAll(".theme")) {
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
}
// A click on a heading sorts the table by that column; a second click turns it round.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement, table = heading.closest("table"), body = table.tBodies[0];
    const place = heading.cellIndex, falling = heading.getAttribute("aria-sort") === "ascending";
    const key = (row) => {
      const cell = row.cells[place], value = cell.dataset.value;
      if (value === undefined) return cell.textContent.toLowerCase();
      const number = Number(value.replace("inf", "Infinity"));
      return Number.isNaN(number) ? (value === "nan" ? Infinity : value) : number;
    };
    const order = (a, b) => (typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), undefined, { numeric: true }) : a < b ? -1 : a > b ? 1 : 0);
    const rows = Array.from(body.rows, (row) => [key(row), row]).sort((a, b) => (falling ? order(b[0], a[0]) : order(a[0], b[0])));
    body.append(...rows.map((pair) => pair[1]));
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    table.classList.add("sorted");
  });
}
// What is folded away is printed all the same.
addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
