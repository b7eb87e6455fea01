"use strict";
// A file that is dropped or chosen is sent as it is; then its columns are shown.
const drop = document.getElementById("drop"), chooser = document.getElementById("file"), told = document.getElementById("told");
chooser.disabled = false;

async function send(file) {
  told.textContent = `Reading ${file.name} …`;
  told.className = "note";
  drop.classList.add("busy");
  try {
    const reply = await fetch("/results", { method: "POST", body: file, headers: { "X-File-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" } });
    const found = await answered(reply);
    if (found.where) { location.href = found.where; return; }
    told.textContent = `${found.problem} Choose another file.`;
    told.className = "problem";
  } catch {
    told.textContent = "The file could not be sent: the server does not answer, or the file is too large. Start it again with ampler serve, then drop the file once more.";
    told.className = "problem";
  }
  drop.classList.remove("busy");
  chooser.value = "";
}

chooser.addEventListener("change", () => { if (chooser.files.length) send(chooser.files[0]); });
for (const name of ["dragenter", "dragover"]) addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const name of ["dragleave", "drop"]) addEventListener(name, (event) => { event.preventDefault(); drop.classList.remove("over"); });
addEventListener("drop", (event) => { if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]); });
