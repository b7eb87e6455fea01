"use strict";
// A column that is corrected is read anew at once.
const columns = document.getElementById("columns");
document.getElementById("again").hidden = true;
columns.addEventListener("change", () => columns.requestSubmit());
