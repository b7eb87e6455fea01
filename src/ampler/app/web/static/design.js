"use strict";
// Every change asks the server for the answer; the last one asked counts, and the address keeps the state.
const form = document.getElementById("design"), headline = document.getElementById("headline"), answer = document.getElementById("answer");
let asked = 0, timer;

for (const slider of form.querySelectorAll("input[type=range]")) {
  const field = document.getElementById(slider.dataset.for);
  slider.hidden = false;
  if (field.value === "") slider.value = slider.max;
  slider.addEventListener("input", () => { field.value = slider.value; });
  field.addEventListener("input", () => { if (field.value !== "") slider.value = field.value; });
}

function showParts() {
  for (const part of form.querySelectorAll("[data-when]")) {
    const [name, value] = part.dataset.when.split("=");
    part.hidden = new FormData(form).get(name) !== value;
  }
}

async function ask() {
  const mine = ++asked;
  const words = new URLSearchParams(Array.from(new FormData(form)).filter(([, value]) => value !== ""));
  const slow = setTimeout(() => { answer.classList.add("waiting"); }, 250);
  try {
    const reply = await fetch(`/design/answer?${words}`);
    const found = await answered(reply);
    if (mine !== asked) return;
    if (!found.headline) throw new Error(found.problem);
    headline.innerHTML = found.headline;
    if (found.answer) refill(answer, found.answer);
    if (!found.problem) history.replaceState(null, "", found.link);
    const title = headline.querySelector("h1");
    document.title = `${title.textContent} · ampler`;
  } catch {
    if (mine === asked) headline.innerHTML = '<h1>The server does not answer.</h1><p class="sub">Start it again with <code>ampler serve</code>; then move a slider.</p>';
  } finally {
    clearTimeout(slow);
    if (mine === asked) answer.classList.remove("waiting");
  }
}

form.addEventListener("input", () => { showParts(); clearTimeout(timer); timer = setTimeout(ask, 40); });
form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
document.getElementById("calculate").hidden = true;
showParts();
if (Array.from(form.querySelectorAll("input[type=text]")).some((field) => field.value !== field.defaultValue)) ask();  // typed before this script was there
