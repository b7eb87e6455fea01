"use strict";
// A choice is asked for at once; words while it is worked out. Empty fields stay out of the address.
// Loaded before the form is there, so that no choice comes too early.
document.addEventListener("change", ({ target }) => {
  const asking = target.form;
  if (asking?.id !== "ask") return;
  for (const field of asking.elements) if (field.name && field.value === "") field.disabled = true;
  document.querySelector(".results").classList.add("waiting");
  asking.requestSubmit();
});
addEventListener("pageshow", () => { for (const field of document.getElementById("ask").elements) field.disabled = false; });
