"use strict";
// Replays: every card holds its frames as JSON; nothing is fetched.
const kinds = { "#": "wall", "@": "agent", "g": "ghost", "G": "prize", "*": "prize", "o": "prize", ".": "floor" };

function draw(map, picture) {
  map.replaceChildren(...[...picture].map((letter) => {
    const kind = kinds[letter];
    if (!kind) return document.createTextNode(letter);
    const cell = document.createElement("span");
    cell.className = kind;
    cell.textContent = letter;
    return cell;
  }));
}

function replay(card) {
  const { actions, frames } = JSON.parse(card.querySelector("script").textContent);
  const find = (name) => card.querySelector(name);
  const [map, bars, status, play, slider, speed] =
    [".map", ".bars", ".status", ".play", "input", "select"].map(find);
  let now = 0, timer = null;
  const earned = [0];
  for (const frame of frames) earned.push(earned[earned.length - 1] + frame.reward);

  function show(step) {
    now = Math.max(0, Math.min(frames.length - 1, step));
    const frame = frames[now];
    draw(map, frame.picture);
    const low = frame.q ? Math.min(...frame.q) : 0, high = frame.q ? Math.max(...frame.q) : 1;
    bars.replaceChildren(...actions.flatMap((name, action) => {
      const label = document.createElement("span"), track = document.createElement("div");
      const bar = document.createElement("i"), value = document.createElement("output");
      label.textContent = name;
      if (frame.action === action) label.className = "chosen";
      bar.style.width = frame.q ? 8 + 92 * (frame.q[action] - low) / (high - low || 1) + "%" : "0";
      value.textContent = frame.q ? frame.q[action].toPrecision(3) : "";
      track.append(bar);
      return [label, track, value];
    }));
    const end = frame.action === null ? " · the end" : "";
    status.textContent = `step ${now} of ${frames.length - 1} · reward so far ${+earned[now].toFixed(2)}${end}`;
    slider.value = now;
    card.dataset.step = now;
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }

  function start() {
    if (now === frames.length - 1) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => (now < frames.length - 1 ? show(now + 1) : pause()), 1000 / speed.value);
  }

  slider.max = frames.length - 1;
  play.onclick = () => (timer ? pause() : start());
  find(".back").onclick = () => { pause(); show(now - 1); };
  find(".forward").onclick = () => { pause(); show(now + 1); };
  slider.oninput = () => { pause(); show(+slider.value); };
  speed.onchange = () => { if (timer) { pause(); start(); } };
  show(0);
}

document.querySelectorAll(".replay").forEach(replay);
document.body.dataset.ready = "yes";
