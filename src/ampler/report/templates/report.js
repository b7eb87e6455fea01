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
// Pointing at a mark shows what it is.
const tip = document.querySelector(".tip");
addEventListener("pointerover", (event) => {
  const mark = event.target instanceof Element ? event.target.closest("svg [data-tip], svg g:has(> title), svg circle:has(> title)") : null;
  if (!mark) { tip.hidden = true; return; }
  const title = mark.querySelector(":scope > title");
  if (title) { mark.dataset.tip = title.textContent; mark.setAttribute("role", "img"); mark.setAttribute("aria-label", title.textContent); title.remove(); }
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const place = tip.getBoundingClientRect(), x = event.clientX + 12, y = event.clientY + 16;
  tip.style.left = `${Math.max(4, Math.min(x, innerWidth - place.width - 4))}px`;
  tip.style.top = `${y + place.height > innerHeight ? event.clientY - place.height - 8 : y}px`;
});
addEventListener("resize", () => { tip.hidden = true; }); // the mark is elsewhere now
// Tables and figures can be taken along.
const shown = (table) => Array.from(table.rows).filter((row) => !row.hidden).map((row) => Array.from(row.cells).filter((cell) => !cell.matches(".mark, .drawn, .matrix")).map((cell) => cell.textContent.trim()));
const plain = (text) => text.replaceAll("−", "-");
const harmless = (text) => (/^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text);
const csv = (table) => shown(table).map((row) => row.map((text) => { const safe = harmless(plain(text)); return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe; }).join(",")).join("\n") + "\n";
const signs = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "×": "$\\times$", "±": "$\\pm$", "α": "$\\alpha$", "′": "$'$", "≈": "$\\approx$", "∞": "$\\infty$", "–": "--" };
const tex = (text) => text.replace(/[\\~^−×±α′≈∞–]|[&%$#_{}]/g, (sign) => signs[sign] || `\\${sign}`);
const latex = (table) => {
  const [head, ...rows] = shown(table), line = (row) => `${row.map(tex).join(" & ")} \\\\`;
  const left = Array.from(table.tHead.rows[0].cells).filter((cell) => !cell.matches(".mark, .drawn, .matrix")).map((cell) => (cell.matches(".words, .name, .verdict") ? "l" : "r"));
  return [`\\begin{tabular}{${left.join("")}}`, "\\toprule", line(head), "\\midrule", ...rows.map(line), "\\bottomrule", "\\end{tabular}", ""].join("\n");
};
const copy = async (text, button) => {
  try { await navigator.clipboard.writeText(text); }
  catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const words = button.textContent;
  button.textContent = "copied";
  setTimeout(() => { button.textContent = words; }, 1200);
};
const resolved = (text) => {
  const style = getComputedStyle(document.documentElement);
  return text.replace(/var\(--([a-z0-9-]+)\)/g, (_, name) => style.getPropertyValue(`--${name}`).trim().replaceAll('"', "'"));
};
const save = (text, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = `${name}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
const SVG = "http://www.w3.org/2000/svg";
const drawn = (figure) => {
  const svg = figure.querySelector("svg").cloneNode(true), [, , width, height] = svg.getAttribute("viewBox").split(/\s+/);
  for (const mark of svg.querySelectorAll(".mark")) mark.remove();
  for (const text of svg.querySelectorAll("text")) if (!text.style.fill) text.style.fill = "var(--ink)";
  svg.setAttribute("xmlns", SVG);
  svg.setAttribute("xmlns:xlink", "http://www.w3.org/1999/xlink");
  svg.setAttribute("width", `${width}pt`);
  svg.setAttribute("height", `${height}pt`);
  return resolved(new XMLSerializer().serializeToString(svg));
};
const LOOKS = ["fill", "stroke", "stroke-width", "opacity", "font-size", "text-anchor"];
const drawnRows = (table) => {
  const whole = table.getBoundingClientRect(), out = document.createElementNS(SVG, "svg");
  out.setAttribute("xmlns", SVG);
  out.setAttribute("font-family", "sans-serif");
  out.setAttribute("width", whole.width);
  out.setAttribute("height", whole.height + 8);
  for (const cell of table.querySelectorAll("th, td")) {
    const place = cell.getBoundingClientRect(), look = getComputedStyle(cell), bar = cell.querySelector("svg.bar");
    if (!place.width) continue;
    if (bar) {
      const inner = bar.getBoundingClientRect(), copy = bar.cloneNode(true);
      const pairs = [[bar, copy], ...Array.from(bar.querySelectorAll("*"), (one, k) => [one, copy.querySelectorAll("*")[k]])];
      for (const [one, other] of pairs) for (const name of LOOKS) other.style.setProperty(name, getComputedStyle(one).getPropertyValue(name));
      for (const [name, value] of [["x", inner.left - whole.left], ["y", inner.top - whole.top], ["width", inner.width]]) copy.setAttribute(name, value);
      out.append(copy);
    } else if (cell.textContent.trim()) {
      const text = document.createElementNS(SVG, "text"), end = look.textAlign === "right";
      text.textContent = cell.textContent.trim();
      text.setAttribute("x", (end ? place.right - parseFloat(look.paddingRight) : place.left + parseFloat(look.paddingLeft)) - whole.left);
      text.setAttribute("y", place.bottom - whole.top - 9);
      text.setAttribute("text-anchor", end ? "end" : "start");
      text.setAttribute("style", `font: ${look.fontWeight} ${look.fontSize} sans-serif; fill: ${look.color}`);
      out.append(text);
    }
  }
  return new XMLSerializer().serializeToString(out);
};
const act = (words, label, what) => {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "act", textContent: words, title: label });
  button.setAttribute("aria-label", label);
  button.addEventListener("click", () => what(button));
  return button;
};
const FILTERED = 8;
for (const acts of document.querySelectorAll(".acts")) {
  if (acts.dataset.figure) {
    const figure = document.getElementById(acts.dataset.figure);
    acts.append(act("SVG", "Download this figure as SVG", () => save(drawn(figure), figure.id)));
    continue;
  }
  const table = document.getElementById(acts.dataset.table);
  if (table.tBodies[0].rows.length > FILTERED) {
    const field = document.createElement("input");
    Object.assign(field, { type: "search", className: "filter", placeholder: "filter rows" });
    field.setAttribute("aria-label", "Show only rows that contain these letters");
    field.addEventListener("input", () => {
        for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(field.value.toLowerCase());
    });
    acts.append(field);
  }
  if (acts.dataset.drawn) acts.append(act("SVG", "Download these rows as SVG", () => save(drawnRows(table), acts.dataset.drawn)));
  acts.append(act("CSV", "Copy this table as CSV", (button) => copy(csv(table), button)), act("LaTeX", "Copy this table as LaTeX", (button) => copy(latex(table), button)));
}
