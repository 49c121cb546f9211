// Starts the page inside the widget's frame: its modules become addresses within this document, so that nothing is loaded.

const modules = JSON.parse(document.getElementById("modules").textContent);
const addresses = new Map();

function addressOf(name) {
  if (!addresses.has(name)) {
    const text = modules[name].replace(/((?:from|import\(?)\s*)"\.\/([^"]+)"/g, (_, before, other) => `${before}"${addressOf(other)}"`);
    addresses.set(name, URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  }
  return addresses.get(name);
}

window.addEventListener("message", ({ source, data }) => {
  if (source !== parent || !("begin" in data)) return;
  if (data.begin) location.replace(data.begin);
  import(addressOf("app.js"));
});
