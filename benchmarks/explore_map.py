"""Measures the map of the explorer in a headless Chromium: time per frame while it is dragged and zoomed.

The peer, in the same run, is the plain way to draw the same points: one rectangle each on a canvas.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from children import end_with_parent

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from browser import Browser  # noqa: E402  # lies in the folder that was just added

EVENTS = 60
# Notes how long each frame of the map takes, and when frames are shown.
WATCH = """import('./static/map.js').then(({ WordMap }) => {
  const drawNow = WordMap.prototype.drawNow;
  window.spent = [];
  window.frames = [];
  WordMap.prototype.drawNow = function () {
    const start = performance.now();
    drawNow.call(this);
    spent.push(performance.now() - start);
    window.drawn = this;
  };
  let last = 0;
  const tick = (time) => { if (last) frames.push(time - last); last = time; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
})"""
# The points of the map alone, drawn 30 times: as they are drawn here, and as rectangles.
POINTS = """(() => {
  const colours = drawn.palette[drawn.scale.ramp];
  return [...Array(30)].map(() => {
    const start = performance.now();
    drawn.points.draw({ ...drawn, colours, radius: 1.2 });
    return performance.now() - start;
  });
})()"""
RECTANGLES = """(() => {
  const { view, x, y, shades, palette, scale, order } = drawn, { width, height } = view;
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const colours = [...palette[scale.ramp]].map((one) => `rgb(${one & 255},${(one >> 8) & 255},${(one >> 16) & 255})`);
  return [...Array(30)].map(() => {
    const start = performance.now();
    pen.clearRect(0, 0, width, height);
    for (const k of order) {
      pen.fillStyle = colours[shades[k]];
      pen.fillRect(width / 2 + (x[k] - view.x) * view.scaleX, height / 2 - (y[k] - view.y) * view.scaleY, 3, 3);
    }
    pen.getImageData(0, 0, 1, 1); // waits until all has been drawn
    return performance.now() - start;
  });
})()"""
BOX = "(box => [box.x, box.y, box.width, box.height])(document.getElementById('canvas').getBoundingClientRect())"


def middle(numbers: list[float], share: float = 0.5) -> float:
    """Return the number below which a share of all lies."""
    return sorted(numbers)[min(len(numbers) - 1, int(share * len(numbers)))]


def measure(browser: Browser, name: str, act: Callable[[], None]) -> None:
    """Print the times of frames while something is done."""
    browser.ask("spent.length = 0, frames.length = 0")
    before = metrics(browser)
    act()
    time.sleep(0.1)
    after = metrics(browser)
    spent, frames = browser.ask("spent"), browser.ask("frames")
    cpu = 1000 * (after["TaskDuration"] - before["TaskDuration"]) / max(1, len(spent))
    print(
        f"| {name} | {len(spent)} | {middle(spent):.1f} | {middle(spent, 0.95):.1f} | {cpu:.1f} | "
        f"{middle(frames):.1f} | {middle(frames, 0.95):.1f} |"
    )


def metrics(browser: Browser) -> dict[str, float]:
    """Return the browser's own accounts, in seconds of CPU time of the page's thread."""
    return {one["name"]: one["value"] for one in browser.call("Performance.getMetrics")["metrics"]}


def main() -> None:
    """Serve a model, and use its map."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a model or vectors, best with 20,000 words or more")
    parser.add_argument("--word", default="yale", help="the word whose PMI paints the map")
    parser.add_argument("--width", type=int, default=1400, help="of the window, in pixels")
    parser.add_argument("--scale", type=float, default=1, help="physical pixels per pixel")
    parser.add_argument("--trust-pickle", action="store_true", help="load models that are pickles")
    options = parser.parse_args()
    command = [sys.executable, "-m", "gensim_hilbert", "explore", options.model, "--no-browser"]
    command += ["--trust-pickle"] if options.trust_pickle else []
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
    assert server.stdout is not None
    try:
        with Browser() as browser:
            explore(browser, f"{server.stdout.readline().strip()}#word={options.word}", options.width, options.scale)
    finally:
        server.terminate()
        server.wait()


def explore(browser: Browser, page: str, width: int, scale: float) -> None:
    """Drag and zoom the map, and print what a frame took."""
    browser.open(page, width=width, height=900, scheme="light")
    size = {"width": width, "height": 900, "deviceScaleFactor": scale, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    browser.wait_for("document.querySelector('#legend .ramp')")
    browser.ask(WATCH)
    left, top, wide, high = browser.ask(BOX)
    x, y = left + wide / 2, top + high / 2
    browser.call("Performance.enable", timeDomain="threadTicks")

    def mouse(kind: str, right: float = 0, down: float = 0, **more: object) -> None:
        browser.call("Input.dispatchMouseEvent", type=kind, x=x + right, y=y + down, **more)

    def drag() -> None:
        mouse("mousePressed", button="left", clickCount=1)
        for step in range(EVENTS):
            mouse("mouseMoved", 3 * (step % 30), 2 * (step % 20), button="left", buttons=1)
        mouse("mouseReleased", 40, 40, button="left", clickCount=1)

    def wheel(amount: float) -> Callable[[], None]:
        def turn() -> None:
            for _ in range(EVENTS):
                mouse("mouseWheel", deltaX=0, deltaY=amount)

        return turn

    print(
        "| | frames drawn | script ms, median | 95% | CPU ms of the page per frame | ms between frames, median | 95% |"
    )
    print("|---|---|---|---|---|---|---|")
    measure(browser, "drag, all words in view", drag)
    ours, peer = middle(browser.ask(POINTS)), middle(browser.ask(RECTANGLES))
    measure(browser, "zoom in", wheel(-15))
    measure(browser, "drag, zoomed in", drag)
    measure(browser, "zoom out", wheel(15))
    print(f"\nPoints alone: {ours:.1f} ms; as rectangles {peer:.1f} ms, {peer / ours:.1f} times as long.")


if __name__ == "__main__":
    main()
