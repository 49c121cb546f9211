// The explorer in a notebook: a frame with the page in it, whose questions go to Python as messages of the widget.
// The frame is sandboxed: nothing in it can reach the notebook, which could run code, or the network.

const PATIENCE_MS = 3000; // after which the reader is told that Python does not answer

// Whether what lies behind the widget is dark: themes of notebooks do not follow the system's.
function isDark(element) {
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  for (let around = element; around; around = around.parentElement ?? around.getRootNode().host) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = getComputedStyle(around).backgroundColor; // in whatever notation
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, opacity] = pen.getImageData(0, 0, 1, 1).data;
    if (opacity > 128) return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
  }
  return false; // Pages without a background are white.
}

function render({ model, el }) {
  const frame = document.createElement("iframe");
  const status = document.createElement("div");
  let state = model.get("state"), version = null, view = null;
  const asked = new Map();

  frame.title = model.get("title");
  frame.setAttribute("sandbox", "allow-scripts allow-forms");
  frame.style.cssText = `display: block; box-sizing: border-box; width: 100%; height: ${model.get("height")}px; border: 1px solid #8886; border-radius: 6px`;
  status.setAttribute("role", "status");
  // Also when a notebook has moved the frame, which makes the browser load it again.
  frame.addEventListener("load", () => {
    asked.clear();
    view = Math.random().toString(36).slice(2); // Several views of one widget hear all answers.
    frame.contentWindow.postMessage({ begin: state }, "*");
  });

  function show() {
    frame.style.colorScheme = isDark(el) ? "dark" : "light"; // which the page takes for what the reader prefers
    frame.srcdoc = model.get("page");
  }

  function questioned({ source, data }) {
    if (source !== frame.contentWindow || typeof data?.number !== "number") return;
    state = data.state;
    asked.set(data.number, Date.now());
    model.send({ view, number: data.number, name: data.name, query: data.query });
  }

  function answered(message, buffers) {
    if (message.view !== view) return;
    status.textContent = "";
    if (version !== null && version !== message.version) {
      version = message.version;
      show(); // The model has been trained further: everything on the page may be different.
      return;
    }
    version = message.version;
    if (!asked.delete(message.number)) return;
    const answer = JSON.parse(new TextDecoder().decode(buffers[0]));
    frame.contentWindow.postMessage({ number: message.number, answer }, "*");
  }

  const watch = setInterval(() => {
    const late = [...asked.values()].some((time) => Date.now() - time > PATIENCE_MS);
    if (late) status.textContent = "Python does not answer: it is busy with another cell, or has ended.";
  }, 1000);
  window.addEventListener("message", questioned);
  model.on("msg:custom", answered);
  el.append(frame, status);
  requestAnimationFrame(show); // when it stands in the notebook, whose colours can be seen then
  return () => {
    clearInterval(watch);
    window.removeEventListener("message", questioned);
    model.off("msg:custom", answered);
  };
}

export default { render };
