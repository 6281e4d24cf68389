"""Opens a page in a real Chromium and asks it questions by a script."""

import html
import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: the page was not opened in a browser"
)

#: Put before the page's own script: errors are counted from the start.
LISTEN = "<script>window.errors = []; window.onerror = (text) => { errors.push(text); };</script>"

#: Pairs of words in one drawing that lie over each other; of what is shown.
OVERLAPS = """
function overlaps() {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()])
      .filter(([words, box]) => words && box.width > 0);
    boxes.forEach(([one, a], place) => boxes.slice(place + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // Boxes are as high as a line, letters are not: a touch is no overlap.
      if (across > 1 && along > 0.3 * Math.min(a.height, b.height)) found.push([svg.id, one, other]);
    }));
  }
  return found;
}
"""


def visit(page, script, folder, width=1400, milliseconds=8000):
    """Runs a script after that of the page; it leaves what it found by ``answer(found)``."""
    answer = """
    function answer(found) { found.errors = errors; document.body.dataset.found = JSON.stringify(found); }
    """
    asked = f"<script>{OVERLAPS}{answer}{script}</script>"
    visited = page.replace("<head>", "<head>" + LISTEN).replace("</body>", asked + "</body>")
    (folder / "visited.html").write_text(visited)
    run = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},1000",
            f"--virtual-time-budget={milliseconds}",
            "--dump-dom",
            (folder / "visited.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    found = re.search(r'data-found="([^"]*)"', run.stdout)
    assert found, run.stderr[-2000:]
    return json.loads(html.unescape(found[1]))


def outside(page):
    """What a page asks of the outside: nothing, if it is one file."""
    # The script and the style are ours; what is embedded is data.
    text = re.sub(r'<script type="application/json">.*?</script>', "", page, flags=re.DOTALL)
    sources = re.findall(r"(?:src|href)\s*=\s*['\"]([^'\"#][^'\"]*)", text)
    loose = re.findall(r"https?:|url\((?!#)|@import|fetch\(|XMLHttpRequest|<img|<iframe", text)
    return [source for source in sources if source != "data:,"] + loose
