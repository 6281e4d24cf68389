"use strict";
// Every card holds what it shows as JSON; nothing is fetched.
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

// What is left of a difference of equal numbers is zero.
function short(value) {
  return Math.abs(value) < 1e-9 ? "0" : value.toLocaleString("en", { maximumSignificantDigits: 4 }).replace("-", "−");
}

// A name that is too long for its place is whole in the title.
function named(element, name) {
  element.textContent = name.length > 120 ? name.slice(0, 119) + "…" : name;
  if (name.length > 120) element.title = name;
  return element;
}

// Bars from the worst to the best value; the policy's choice is coloured, what was done is bold.
function drawBars(bars, names, values, chosen, done) {
  const known = values || names.map(() => 0);
  const low = Math.min(...known), high = Math.max(...known);
  bars.replaceChildren(...names.flatMap((name, number) => {
    const label = document.createElement("span"), track = document.createElement("div");
    const bar = document.createElement("i"), value = document.createElement("output");
    named(label, name);
    label.classList.toggle("chosen", chosen === number);
    label.classList.toggle("done", done === number);
    bar.style.width = values ? 8 + 92 * (values[number] - low) / (high - low || 1) + "%" : "0";
    value.textContent = values ? short(values[number]) : "";
    track.append(bar);
    return [label, track, value];
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
    drawBars(bars, actions, frame.q, frame.action, frame.action);
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

// Logged episodes, step by step: [observation before, action, reward, [[action, value], …], wanted by the first, by the second].
// Observations and actions are numbers of `words`; −1 stands for the start.
function walk(card) {
  const { sides, words, episodes } = JSON.parse(card.querySelector("script").textContent);
  const find = (name) => card.querySelector(name);
  const [choice, strip, slider, status, history, bars] =
    [".episode", ".strip", "input", ".status", ".history", ".bars"].map(find);
  let steps = [], last = 0, now = 0;
  const differs = (step) => step[4] !== step[5];
  const word = (number) => (number < 0 ? "the start" : words[number]);
  const make = (tag, name) => named(document.createElement(tag), name);

  function show(step) {
    now = Math.max(0, Math.min(steps.length - 1, step));
    const [, action, reward, values, wants, other] = steps[now];
    const codes = values.map(([code]) => code), numbers = values.map(([, value]) => value);
    drawBars(bars, codes.map(word), numbers, codes.indexOf(wants), codes.indexOf(action));
    history.replaceChildren(...steps.slice(Math.max(0, now - 4), now + 1).map((step, place, shown) => {
      const [seen, done, earned] = step;
      const line = document.createElement("li");
      line.append(make("span", word(seen)), " → ", make("b", word(done)), ` (${earned > 0 ? "+" : ""}${short(earned)})`);
      if (differs(step)) line.classList.add("other");
      if (place === shown.length - 1) line.classList.add("now");
      line.value = Math.max(0, now - 4) + place + 1;
      return line;
    }));
    const total = steps.slice(0, now + 1).reduce((sum, one) => sum + one[2], 0);
    status.replaceChildren(`step ${now + 1} of ${steps.length} · reward ${short(reward)}, ${short(total)} so far · `,
      `${sides[0]}: `, make("span", word(wants)));
    if (wants !== other) status.append(`, ${sides[1]}: `, make("span", word(other)));
    if (now === steps.length - 1) status.append(" · then: ", make("span", word(last)));
    [...strip.children].forEach((mark, place) => mark.classList.toggle("now", place === now));
    slider.value = now;
    card.dataset.step = now;
  }

  function begin(number) {
    [last, ...steps] = episodes[number];
    strip.replaceChildren(...steps.map((one, place) => {
      const mark = document.createElement("i");
      if (differs(one)) mark.className = "other";
      mark.onclick = () => show(place);
      return mark;
    }));
    slider.max = steps.length - 1;
    show(0);
  }

  function nextDisagreement() {
    const found = steps.findIndex((one, place) => place > now && differs(one));
    show(found < 0 ? Math.max(steps.findIndex(differs), 0) : found);
  }

  find(".back").onclick = () => show(now - 1);
  find(".forward").onclick = () => show(now + 1);
  find(".next").onclick = nextDisagreement;
  slider.oninput = () => show(+slider.value);
  choice.onchange = () => begin(+choice.value);
  card.onkeydown = (event) => {
    if (event.target === choice || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: () => show(now - 1), ArrowRight: () => show(now + 1), Home: () => show(0),
      End: () => show(steps.length - 1), n: nextDisagreement, N: nextDisagreement };
    if (moves[event.key]) { event.preventDefault(); moves[event.key](); }
  };
  begin(0);
}

document.querySelectorAll(".replay").forEach(replay);
document.querySelectorAll(".walk").forEach(walk);
document.body.dataset.ready = "yes";
