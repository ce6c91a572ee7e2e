// The board of Burning Desire: the dice of the turn, what each role scores with them, and the race to the goal.
"use strict";

(() => {
  const { svg, html, picture, table, die, seatName, hasForfeited, summary, listed, counted } = arenaSvg;

  const ROLES = [
    { name: "role 1", title: "1", faces: [1], points: [0, 10, 25, 60, 120, 250, 500] },
    { name: "role 2-3", title: "2–3", faces: [2, 3], points: [0, 0, 10, 20, 30, 100, 180] },
    { name: "role 4-6", title: "4–6", faces: [4, 5, 6], points: [0, 0, 5, 10, 20, 30, 80] },
  ];
  const ONES = ROLES[0];
  const MULTIPLIERS = [
    [0, 0, 1, 1, 1, 2],
    [0, 0, 0, 2, 2, 3],
  ];
  const ROLLS = 3;
  const BONUS = 6; // place of the bonus die, after the six ordinary ones

  // --- What the view says; fields with their default value are missing from it

  const current = (view) => view.current ?? 0;
  const phase = (view) => view.phase.replace("BURNING_DESIRE_PHASE_", "");
  const stage = (view) => view.stage.replace("BURNING_DESIRE_STAGE_", "");
  const queue = (view) => view.queue ?? [];
  const dice = (view) => [...view.dice, view.bonus];
  const turnsBegun = (view) => view.turns.reduce((sum, turns) => sum + turns, 0);

  // --- What a role scores

  function countingFaces(role, view) {
    return view.dice.filter((face) => role.faces.includes(face));
  }

  function bonusPoints(role, view) {
    const counting = countingFaces(role, view);
    if (role === ONES) {
      return view.bonus === 1 ? role.points[counting.length] : 0;
    }
    const each = counting.length === BONUS ? 20 : 10;
    return each * counting.filter((face) => face === view.bonus).length;
  }

  function rolePoints(role, view) {
    return role.points[countingFaces(role, view).length] + bonusPoints(role, view);
  }

  // --- The step

  /** Returns what was done in this step and what came of it; null if nothing was. Points have no upper bound. */
  function deedOf(step) {
    const { view, previous, choices } = step;
    if (!choices.length) {
      return null;
    }
    const [{ seat, name }] = choices;
    const turn = turnUntil(step);
    return {
      seat,
      name,
      role: roleOf(turn),
      factors: factorsOf(turn),
      gain: BigInt(view.totals[seat]) - BigInt(previous.totals[seat]),
      endsTurn: stage(view) === "OVER" || turnsBegun(view) > turnsBegun(previous),
    };
  }

  /** Returns the steps of the turn up to this one, as far as they are known; a turn begins with a roll of all dice. */
  function turnUntil(step) {
    const begin = step.earlier.findLastIndex(({ rolls }) => rolls.some(({ key }) => key.endsWith("/roll/0")));
    return [...step.earlier.slice(begin + 1), step];
  }

  /** Returns the role that was chosen in these steps, if one was. */
  function roleOf(turn) {
    const names = turn.flatMap(({ choices }) => choices.map(({ name }) => name));
    return ROLES.find((role) => names.includes(role.name));
  }

  /** Returns what the multiplier dice showed in these steps, in pairs; a face is the number of one of their sides. */
  function factorsOf(turn) {
    const rolls = turn.flatMap(({ rolls }) => rolls.filter(({ key }) => key.includes("/multiply/")));
    return rolls.map(({ numbers }) => MULTIPLIERS.map((sides, index) => sides[numbers[index] - 1]));
  }

  /** Tells by place which dice "keep 2 3 b" keeps. */
  function keptPlaces(name) {
    const kept = name.split(" ");
    return ["1", "2", "3", "4", "5", "6", "b"].map((place) => kept.includes(place));
  }

  // --- Words

  function happened(step, deed) {
    const rolled = `Seat ${current(step.view)} rolled all dice.`;
    if (!deed) {
      return step.previous ? [] : [rolled];
    }
    const isNext = deed.endsTurn && stage(step.view) !== "OVER";
    return [`Seat ${deed.seat} ${deedWords(step, deed)}.`, ...stageWords(step), ...(isNext ? [rolled] : [])];
  }

  function deedWords({ view, previous }, { name, role, factors, gain, endsTurn }) {
    if (name === role?.name) {
      return `${endsTurn ? "scored" : "chose"} role ${role.title}: ${counted(endsTurn ? gain : view.score, "point")}`;
    }
    if (name === "multiply") {
      const product = [previous.score, ...factors.at(-1)].join(" × ");
      return endsTurn ? `multiplied: ${product} = 0, all is lost` : `multiplied: ${product} = ${view.score}`;
    }
    return { bank: `banked ${counted(gain, "point")}`, stop: "stopped rolling" }[name] ?? keepWords(name, previous);
  }

  function keepWords(name, previous) {
    const kept = keptPlaces(name);
    const faces = dice(previous).map((face, place) => (place === BONUS ? `bonus ${face}` : face));
    const words = listed(faces.filter((_, place) => kept[place]));
    return words ? `kept ${words} and rolled the other dice again` : "rolled all dice again";
  }

  /** Says that a round begins, which is the only time that seats are added to the queue. */
  function stageWords({ view, previous }) {
    const begins = queue(view).length > queue(previous).length;
    const words = {
      FINAL: `Seat ${view.trigger} has reached ${view.goal}: every other seat has one more turn.`,
      TIEBREAK: `The lead is shared: seats ${listed(queue(view))} have one more turn.`,
    }[stage(view)];
    return words && begins ? [words] : [];
  }

  function duty(view) {
    return {
      ROLL: "may keep dice and roll the others, or stop",
      ROLE: "must choose a role",
      MULTIPLY: `may bank ${counted(view.score, "point")} or multiply`,
    }[phase(view)];
  }

  // --- Dice

  const SLOT = 46; // width of a die with its caption
  const HEIGHT = 64;

  /**
   * Draws the seven dice: above each its name in choices such as "keep 1 2 b", and below it a caption. The captioned ones
   * are framed, but not those that were kept.
   */
  function sevenDice(view, captions) {
    const drawn = dice(view).map((face, place) => {
      const kind = place === BONUS ? "die-bonus" : "die-white";
      const isNew = captions[place] && captions[place] !== "kept";
      return inSlot(place, die(face, `${kind} ${isNew ? "is-new" : ""}`), captions[place]);
    });
    const label = `dice ${view.dice.join(" ")}, bonus ${view.bonus}`;
    const names = dice(view).map((_, place) => {
      const name = place === BONUS ? "b" : place + 1;
      return svg("text", { class: "caption", x: SLOT * (place + 0.5), y: 5 }, name);
    });
    return picture("seven-dice", SLOT * 7, HEIGHT, label, drawn, names);
  }

  function inSlot(place, drawn, caption) {
    const middle = SLOT * (place + 0.5);
    return [
      svg("g", { transform: `translate(${middle - 15} 14) scale(1.5)` }, drawn),
      svg("text", { class: "caption", x: middle, y: 56 }, caption),
    ];
  }

  // --- The turn that is played, and the one that ended in this step

  function currentTurn({ view, previous }, match, deed) {
    const isNew = !previous || deed?.endsTurn;
    const stake = phase(view) === "MULTIPLY" ? [", ", pointsWords(view, deed, view.score), " at stake"] : [];
    return html(
      "div",
      `board-seat is-pending seat-${current(view)}`,
      html("p", "hand-line", seatName(current(view), match), ` roll ${view.rolls} of ${ROLLS}`, stake),
      sevenDice(view, isNew ? Array(7).fill("rolled") : captionsOf(view, deed)),
      roleTable(view, isNew ? null : deed?.role),
    );
  }

  function endedTurn({ previous }, match, deed) {
    return html(
      "div",
      "board-seat is-past",
      html("p", "hand-line", seatName(deed.seat, match), " scored ", pointsWords(previous, deed, deed.gain)),
      sevenDice(previous, captionsOf(previous, deed)),
    );
  }

  /** Returns how the points of a turn came about, with dice for factors: "role 1: 120 × 1 × 3 = 360 points". */
  function pointsWords(view, { role, factors }, points) {
    const pairs = factors.map((pair) => html("span", "factors", pair.map(factorDie)));
    const product = role && pairs.length ? [`${rolePoints(role, view)} `, pairs, " = "] : [];
    return [role ? `role ${role.title}: ` : "", product, counted(points, "point")];
  }

  function factorDie(factor) {
    const number = svg("text", { class: "factor", x: 10, y: 10 }, `×${factor}`);
    const drawn = svg("g", { transform: "translate(3 3)" }, die(0, "die-factor"), number);
    return picture("small-die", 26, 26, `times ${factor}`, drawn);
  }

  /** Returns by place what was done with the dice that lie there: those of the role once it is chosen. */
  function captionsOf(view, deed) {
    if (deed?.role) {
      const bonus = bonusPoints(deed.role, view);
      const captions = view.dice.map((face) => (deed.role.faces.includes(face) ? "counts" : ""));
      return [...captions, bonus ? `+${bonus}` : ""];
    }
    const isKeep = deed?.name.startsWith("keep");
    return keptPlaces(deed?.name ?? "").map((isKept) => (isKeep ? (isKept ? "kept" : "rolled") : ""));
  }

  function roleTable(view, chosen) {
    const caption = "Points by the number of dice that count; framed: the dice above";
    const heads = ["role", 1, 2, 3, 4, 5, 6, "bonus", "total"];
    const rows = ROLES.map((role) => roleRow(role, view, role === chosen));
    return table("role-table", caption, heads, rows);
  }

  function roleRow(role, view, isChosen) {
    const count = countingFaces(role, view).length;
    const points = role.points.map((number, index) => html("td", index === count ? "is-now" : "", number));
    return html(
      "tr",
      isChosen ? "is-chosen" : "",
      html("th", "", role.title, isChosen ? " ✓" : ""),
      points.slice(1),
      html("td", "", `+${bonusPoints(role, view)}`),
      html("td", "total", rolePoints(role, view)),
    );
  }

  // --- The race

  function race(step, match) {
    const caption = `Points banked; the line is the goal, ${step.view.goal}`;
    const rows = match.bots.map((_, seat) => raceRow(step, match, seat));
    return table("race", caption, ["seat", "to the goal", "points"], rows);
  }

  function raceRow(step, match, seat) {
    const pointer = step.pending.includes(seat) ? "▶" : null;
    return html(
      "tr",
      "",
      html("th", "", html("span", "race-seat", pointer, seatName(seat, match))),
      html("td", "", way(step, seat), html("span", "muted", wayWords(step, seat))),
      html("td", "total", step.view.totals[seat]),
    );
  }

  /** Draws the points of a seat as a bar as wide as its place, with the points of this step in another colour. */
  function way({ view, previous }, seat) {
    const totals = view.totals.map(Number);
    const before = previous ? Number(previous.totals[seat]) : totals[seat];
    const end = Math.max(1.1 * view.goal, ...totals);
    const bar = (name, from, to, height) =>
      svg("rect", { class: name, x: (100 * from) / end, y: 5 - height / 2, width: (100 * (to - from)) / end, height });
    return svg(
      "svg",
      { class: `way seat-${seat}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      bar("way-road", 0, end, 10),
      bar("way-before", 0, before, 6),
      bar("way-gain", before, totals[seat], 6),
      bar("way-goal", view.goal - end / 200, view.goal + end / 200, 10),
    );
  }

  function wayWords(step, seat) {
    const { view } = step;
    const missing = BigInt(view.goal) - BigInt(view.totals[seat]);
    const words = [
      hasForfeited(step, seat) ? "forfeited" : "",
      step.leaders.includes(seat) ? (step.over ? "wins" : "leads") : "",
      view.trigger === seat ? "first at the goal" : "",
      missing > 0n ? `${missing} to go` : "",
      queue(view).slice(1).includes(seat) ? "one more turn" : "",
    ];
    return words.filter(Boolean).join(", ");
  }

  arenaBoards["burning-desire"] = (step, match) => {
    const deed = deedOf(step);
    const ended = deed?.endsTurn ? endedTurn(step, match, deed) : null;
    return html(
      "div",
      "board",
      summary(step, match, { duty: () => duty(step.view), unit: "point", happened: happened(step, deed) }),
      html(
        "div",
        "board-columns",
        html("div", "", step.over ? null : currentTurn(step, match, deed), ended),
        html("div", "", race(step, match)),
      ),
    );
  };
})();
