"use strict";
// A column that is corrected is read anew at once.
const columns = document.getElementById("columns");
document.getElementById("again").hidden = true;
columns.addEventListener("change", (event) => {
  if (event.target.value === "value") {  // one column is the value: this one
    for (const other of columns.querySelectorAll("select")) if (other !== event.target && other.value === "value") other.value = "group";
  }
  columns.requestSubmit();
});
