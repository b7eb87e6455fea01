"use strict";
// A column that is corrected is read anew at once. Loaded before the form is there, so that no choice comes too early.
document.documentElement.classList.add("reads-at-once");
document.addEventListener("change", ({ target }) => {
  const columns = target.form;
  if (columns?.id !== "columns") return;
  if (target.value === "value") {  // one column is the value: this one
    for (const other of columns.querySelectorAll("select")) if (other !== target && other.value === "value") other.value = "group";
  }
  columns.requestSubmit();
});
