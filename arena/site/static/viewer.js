// Shows a match step by step: reads what the page has of it, draws the board after each step, and follows the keys.
// What bots and files say becomes text of the page, never HTML.
"use strict";

(() => {
  const { svg } = arenaSvg;
  const at = (id) => document.getElementById(id);

  // --- The match

  // Makes the next value from the one before: arena/site/patches.py says what a patch is.
  function patched(before, patch) {
    if (patch === null || typeof patch !== "object" || Array.isArray(patch)) {
      return patch;
    }
    const after = Array.isArray(before) ? [...before] : { ...before };
    for (const [name, value] of Object.entries(patch)) {
      if (value === null) {
        delete after[name];
      } else {
        after[name] = patched(after[name], value);
      }
    }
    return after;
  }

  function unpacked([first, ...patches]) {
    const steps = [first];
    for (const patch of patches) {
      steps.push(patched(steps.at(-1), patch));
    }
    return steps.map((step, number) => ({ ...step, number, previous: number ? steps[number - 1].view : null }));
  }

  const match = JSON.parse(at("match").textContent);
  match.steps = unpacked(match.steps);
  const { steps, bots } = match;
  const last = steps.length - 1;
  const eventful = steps.filter((step) => step.events.length).map((step) => step.number);
  const table = { game: match.game, title: match.title, seats: bots.length, bots, options: match.options };

  // --- Pieces of the page

  const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;

  // How a seat stands, for the table of players.
  function standing(step, seat) {
    const forfeit = step.forfeits.find((each) => each.seat === seat);
    const notes = forfeit ? [`forfeited: ${forfeit.reason}`] : [];
    if (step.over) {
      notes.unshift(`place ${step.ranks[seat] + 1}`);
    } else if (step.leaders.includes(seat)) {
      notes.push("leads");
    }
    const left = step.bank_ms[seat];
    if (left !== steps[0].bank_ms[seat]) {
      notes.push(`${seconds(left)} left in the bank`);
    }
    const decides = step.pending.includes(seat) && !forfeit;
    return [...notes, ...(decides ? ["to decide"] : [])].join(", ");
  }

  // --- One step

  const { draw, happened } = arenaTold(table);
  const rows = [...document.querySelectorAll("#players tbody tr")];
  const list = document.querySelector("#steps ol");
  const items = [...list.children];
  let now = 0;

  function show(number) {
    items[now].removeAttribute("aria-current");
    now = Math.min(Math.max(number, 0), last);
    const step = steps[now];
    at("number").textContent = now;
    at("board").replaceChildren(draw({ ...step, earlier: steps.slice(0, now) }));
    at("happened").replaceChildren(...happened(step));
    rows.forEach((row, seat) => {
      const [, , score, thought, note] = row.cells;
      score.textContent = step.scores[seat];
      thought.textContent = seconds(step.thought_ms[seat]);
      note.textContent = standing(step, seat);
    });
    at("slider").value = now;
    at("slider").setAttribute("aria-valuetext", `step ${now} of ${last}`);
    items[now].setAttribute("aria-current", "step");
    reveal(items[now]);
    settle();
  }

  // Scrolls the list of steps, and never the page.
  function reveal(item) {
    const above = item.offsetTop - list.offsetTop - list.scrollTop;
    if (above < 0 || above + item.offsetHeight > list.clientHeight) {
      list.scrollTop += above - list.clientHeight / 3;
    }
  }

  // The address and what a screen reader says follow when the match has stood still for a moment: browsers refuse
  // an address that changes too often, and nobody can listen that fast. An address that leads to something else in
  // the page stays until somebody goes to another step.
  let settling = 0;

  function settle() {
    clearTimeout(settling);
    settling = setTimeout(() => {
      if (now || location.hash.startsWith("#step=")) {
        history.replaceState(null, "", `#step=${now}`);
      }
      if (!playing) {
        at("said").textContent = `Step ${now}. ${at("happened").innerText}`;
      }
    }, 400);
  }

  const eventAfter = () => eventful.find((number) => number > now) ?? last;
  const eventBefore = () => eventful.findLast((number) => number < now) ?? 0;

  // --- Playing

  let playing = 0;

  function play() {
    if (playing) {
      pause();
      return;
    }
    at("play").textContent = "Pause";
    if (now === last) {
      show(0);
    }
    playing = setTimeout(tick, pace());
  }

  function pause() {
    clearTimeout(playing);
    playing = 0;
    at("play").textContent = "Play";
  }

  function tick() {
    show(now + 1);
    playing = setTimeout(tick, pace());
    if (now === last) {
      pause();
    }
  }

  const pace = () => 1000 / Number(at("speed").value);

  // --- Buttons, keys, address

  function go(number) {
    pause();
    show(number);
  }

  const ACTIONS = {
    first: () => go(0),
    "event-before": () => go(eventBefore()),
    back: () => go(now - 1),
    play,
    forward: () => go(now + 1),
    "event-after": () => go(eventAfter()),
    last: () => go(last),
  };

  const KEYS = {
    Home: "first",
    "Shift+ArrowLeft": "event-before",
    ArrowLeft: "back",
    " ": "play",
    ArrowRight: "forward",
    "Shift+ArrowRight": "event-after",
    End: "last",
  };

  function pressed(event) {
    const action = KEYS[(event.shiftKey ? "Shift+" : "") + event.key];
    const others = event.ctrlKey || event.altKey || event.metaKey;
    if (action && !others && !hasOwnUse(event)) {
      event.preventDefault();
      ACTIONS[action]();
    }
  }

  // Space presses a focused button, and the arrows choose a speed or scroll what is wider than its place.
  function hasOwnUse({ key, target }) {
    return target.closest("select, pre") !== null || (key === " " && target.closest("button, a, summary") !== null);
  }

  function addressed() {
    const number = /^#step=(\d+)$/.exec(location.hash)?.[1];
    if (number !== undefined) {
      go(Number(number));
    }
  }

  // --- The scores of all steps, behind the slider

  function graph() {
    const scores = steps.map((step) => step.scores.map(Number));
    const lowest = scores.flat().reduce((least, score) => Math.min(least, score), 0);
    const highest = scores.flat().reduce((most, score) => Math.max(most, score), 1);
    const height = (score) => 100 - (100 * (score - lowest)) / (highest - lowest);
    at("graph").setAttribute("viewBox", `0 -6 ${Math.max(last, 1)} 112`);
    at("graph").setAttribute("preserveAspectRatio", "none");
    at("graph").append(
      svg("path", { class: "mark", d: eventful.map((number) => `M${number},106v-12`).join("") }),
      ...bots.map((_, seat) => {
        const points = scores.map((row, number) => `${number},${height(row[seat]).toFixed(1)}`);
        return svg("polyline", { class: `line line-${seat}`, points: points.join(" ") });
      }),
    );
  }

  // --- The dice

  function checkDice() {
    const wrong = arenaDice.difference(match);
    const count = steps.flatMap((step) => step.rolls.flatMap((each) => each.numbers)).length;
    at("verdict").className = wrong ? "wrong" : "right";
    at("verdict").textContent = wrong
      ? `✗ Wrong: ${wrong}.`
      : `✓ Right: the commitment is that of the seed, all ${count} numbers follow from it, and the result is that of the last step.`;
  }

  // --- The beginning

  document.documentElement.classList.add("with-viewer");
  items.forEach((item) => item.removeAttribute("id")); // or the browser would scroll to the step in the address
  ["viewer", "now", "check"].forEach((id) => (at(id).hidden = false));
  Object.entries(ACTIONS).forEach(([id, action]) => at(id).addEventListener("click", action));
  document.addEventListener("keydown", pressed);
  at("slider").max = at("count").textContent = last;
  at("slider").addEventListener("input", () => go(Number(at("slider").value)));
  at("check-dice").addEventListener("click", checkDice);
  window.addEventListener("hashchange", addressed);
  show(0);
  addressed();
  graph();
})();
