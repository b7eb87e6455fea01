"use strict";
// A choice is asked for at once; words while it is worked out. Empty fields stay out of the address.
const asking = document.getElementById("ask");
document.documentElement.classList.add("chosen");

function submit() {
  for (const field of asking.elements) if (field.name && field.value === "") field.disabled = true;
  document.querySelector(".results").classList.add("waiting");
  asking.requestSubmit();
}
asking.addEventListener("change", submit);
document.getElementById("pair")?.addEventListener("change", submit);
addEventListener("pageshow", () => { for (const field of asking.elements) field.disabled = false; });
