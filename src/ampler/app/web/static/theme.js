"use strict";
// Light or dark: as the system has it, unless the reader chose; before anything is drawn, so that nothing flashes.
const root = document.documentElement;
const chosen = localStorage.getItem("ampler-theme");
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const show = () => { button.textContent = isDark() ? "☀" : "☾"; };
  button.hidden = false;
  show();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("ampler-theme", root.dataset.theme);
    show();
  });
});
