// The board of Burning Desire: the dice of the turn, what each role scores with them, and the race to the goal.
"use strict";

(function () {
  const { svg, html, picture, die, seatName, seats, forfeitOf, leaders, summary, listed, counted } = arenaSvg;

  const ROLES = [
    { name: "1", title: "1", faces: [1], points: [0, 10, 25, 60, 120, 250, 500] },
    { name: "2-3", title: "2–3", faces: [2, 3], points: [0, 0, 10, 20, 30, 100, 180] },
    { name: "4-6", title: "4–6", faces: [4, 5, 6], points: [0, 0, 5, 10, 20, 30, 80] },
  ];
  const MULTIPLIERS = [
    { name: "A", sides: [0, 0, 1, 1, 1, 2] },
    { name: "B", sides: [0, 0, 0, 2, 2, 3] },
  ];
  const ROLLS = 3;
  const ORDINARY = 6; // dice; the seventh is the bonus die
  const PLACES = ["1", "2", "3", "4", "5", "6", "b"]; // names of the seven dice in "keep 2 3 b"
  const SLOT = 46; // width of one die with its captions
  const TALL = 62; // their height

  // What the view says; fields with their default value are missing from it. Points have no upper bound.

  const current = (view) => view.current || 0;
  const phase = (view) => view.phase.replace("BURNING_DESIRE_PHASE_", "");
  const stage = (view) => view.stage.replace("BURNING_DESIRE_STAGE_", "");
  const seven = (view) => [...view.dice, view.bonus];
  const pointsText = (points) => counted(points, "point").replace("1 points", "1 point");

  function turnsOf(view) {
    return view.turns.reduce((sum, turns) => sum + turns, 0);
  }

  // The rules that the drawing needs

  function countingDice(role, dice) {
    return dice.slice(0, ORDINARY).filter((face) => role.faces.includes(face));
  }

  function basePoints(role, dice) {
    return role.points[countingDice(role, dice).length];
  }

  function bonusPoints(role, dice) {
    const bonus = dice[ORDINARY];
    if (role.name === "1") {
      return bonus === 1 ? basePoints(role, dice) : 0;
    }
    const counting = countingDice(role, dice);
    return counting.filter((face) => face === bonus).length * (counting.length === ORDINARY ? 20 : 10);
  }

  // The step

  /** Returns what was done in this step: by whom, its name, and what follows from it; null at the start. */
  function deedOf(step) {
    if (!step.previous) {
      return null;
    }
    const { view, previous } = step;
    const [{ seat, name, forfeited }] = step.choices;
    return {
      seat,
      name,
      forfeited,
      role: ROLES.find((role) => name === `role ${role.name}`),
      factors: name === "multiply" ? factorsOf(step) : null,
      gain: BigInt(view.totals[seat]) - BigInt(previous.totals[seat]),
      endsTurn: stage(view) === "OVER" || turnsOf(view) > turnsOf(previous),
    };
  }

  /** Returns the numbers that the multiplier dice show; a face names one of the six sides. */
  function factorsOf(step) {
    const { numbers } = step.rolls.find((roll) => roll.key.includes("/multiply/"));
    return MULTIPLIERS.map(({ sides }, index) => sides[numbers[index] - 1]);
  }

  function happened(step) {
    const deed = deedOf(step);
    if (!deed) {
      return ["The match begins."];
    }
    const who = `Seat ${deed.seat}${deed.forfeited ? ", which has forfeited," : ""}`;
    return [`${who} ${deedWords(step, deed)}.`, ...stageWords(step), ...nextWords(step, deed)];
  }

  function deedWords(step, { seat, name, role, factors, gain, endsTurn }) {
    if (role) {
      return endsTurn ? `scored role ${role.title}: ${pointsText(gain)}` : `chose role ${role.title}: ${pointsText(step.view.score)}`;
    }
    if (factors) {
      return multiplyWords(step, factors);
    }
    const kept = keptDice(name, seven(step.previous));
    const words = {
      bank: () => `banked ${pointsText(gain)}`,
      stop: () => "stopped rolling",
      keep: () => `kept ${kept.length ? listed(kept) : "nothing"} and rolled the other dice again`,
    };
    return words[name.split(" ")[0]]();
  }

  function multiplyWords(step, factors) {
    const product = `${step.previous.score} × ${factors.join(" × ")}`;
    return factors.includes(0) ? `multiplied: ${product} = 0, all points of the turn are lost` : `multiplied: ${product} = ${step.view.score}`;
  }

  function isKept(name, place) {
    return name.split(" ").slice(1).includes(PLACES[place]);
  }

  function keptDice(name, dice) {
    return dice.flatMap((face, place) => (isKept(name, place) ? [place === ORDINARY ? `bonus ${face}` : face] : []));
  }

  function stageWords({ view, previous }) {
    if (stage(view) === stage(previous)) {
      return [];
    }
    const words = {
      FINAL: `Seat ${view.trigger || 0} has reached ${view.goal}: every other seat has one more turn.`,
      TIEBREAK: `The lead is shared: seats ${listed(view.queue || [])} have one more turn each.`,
    };
    return words[stage(view)] ? [words[stage(view)]] : [];
  }

  function nextWords({ view }, deed) {
    return deed.endsTurn && stage(view) !== "OVER" ? [`Seat ${current(view)} rolled all dice.`] : [];
  }

  function duty(view) {
    const duties = {
      ROLL: "keeps dice and rolls the others, or stops",
      ROLE: "chooses a role",
      MULTIPLY: `banks ${view.score} points or multiplies`,
    };
    return duties[phase(view)];
  }

  // Dice

  /** Draws the seven dice, each with a caption below and a class, both by place. */
  function sevenDice(label, dice, captions, classes) {
    return picture(
      "desire-dice",
      SLOT * dice.length,
      TALL,
      label,
      dice.map((face, place) => dieInSlot(place, die(face, `${place === ORDINARY ? "die-bonus" : "die-white"} ${classes[place]}`), captions[place])),
      svg("text", { class: "bonus-name", x: SLOT * (ORDINARY + 0.5), y: 5 }, "bonus"),
    );
  }

  function dieInSlot(place, drawn, caption) {
    const middle = SLOT * (place + 0.5);
    return [
      svg("g", { transform: `translate(${middle - 15} 12) scale(1.5)` }, drawn),
      svg("text", { x: middle, y: 54 }, caption),
    ];
  }

  function factorDice(factors) {
    const dice = factors.map((factor, place) =>
      dieInSlot(place, [die(0, "die-factor"), svg("text", { class: "factor", x: 10, y: 10 }, `×${factor}`)], `die ${MULTIPLIERS[place].name}`),
    );
    return picture("factor-dice", SLOT * dice.length, TALL, `multiplier dice: ${factors.join(" ")}`, dice);
  }

  // The turn that is played, and the one that ended in this step

  function currentTurn(step, match) {
    const { view } = step;
    const deed = deedOf(step);
    const dice = seven(view);
    const chosen = deed && !deed.endsTurn ? deed.role : null;
    const rolled = wasRolled(step, deed);
    const captions = dice.map((_, place) => (rolled ? (rolled(place) ? "rolled" : "kept") : ""));
    const classes = dice.map((face, place) => (rolled && rolled(place)) || (chosen && counts(chosen, face, place)) ? "is-new" : "");
    return html(
      "div",
      `board-seat seat-${current(view)} is-pending`,
      html("p", "turn-head", seatName(current(view), match), ` roll ${view.rolls} of ${ROLLS}${atStake(view)}`),
      sevenDice(`dice ${view.dice.join(" ")}, bonus ${view.bonus}`, dice, captions, classes),
      deed && deed.factors && !deed.endsTurn ? factorDice(deed.factors) : null,
      roleTable(dice, chosen),
    );
  }

  function atStake(view) {
    return phase(view) === "MULTIPLY" ? `, ${view.score} points at stake` : "";
  }

  /** Returns a function that tells which dice this step rolled; null if it rolled none of the seven. */
  function wasRolled(step, deed) {
    if (!deed || (deed.endsTurn && stage(step.view) !== "OVER")) {
      return () => true;
    }
    return deed.name.startsWith("keep") ? (place) => !isKept(deed.name, place) : null;
  }

  function counts(role, face, place) {
    return place < ORDINARY && role.faces.includes(face);
  }

  function endedTurn(step, match) {
    const deed = deedOf(step);
    if (!deed || !deed.endsTurn) {
      return null;
    }
    const dice = seven(step.previous);
    const captions = dice.map((face, place) => (deed.role && counts(deed.role, face, place) ? "counts" : ""));
    const classes = captions.map((caption) => (caption ? "is-new" : ""));
    return html(
      "div",
      `board-seat ended-turn seat-${deed.seat}`,
      html("p", "turn-head", seatName(deed.seat, match), ` ends its turn: ${deed.role ? `role ${deed.role.title}, ` : ""}+${deed.gain}`),
      sevenDice(`dice ${step.previous.dice.join(" ")}, bonus ${step.previous.bonus}`, dice, captions, classes),
      deed.factors ? factorDice(deed.factors) : null,
    );
  }

  // What each role scores

  function roleTable(dice, chosen) {
    const heads = ["role", 1, 2, 3, 4, 5, 6, "bonus", "total"];
    return html(
      "table",
      "board-points role-table",
      html("caption", "", "Points by the number of dice that count; framed: the dice above"),
      html("thead", "", html("tr", "", heads.map((head) => html("th", "", String(head))))),
      html("tbody", "", ROLES.map((role) => roleRow(role, dice, role === chosen))),
    );
  }

  function roleRow(role, dice, isChosen) {
    const count = countingDice(role, dice).length;
    const cells = role.points.slice(1).map((points, index) =>
      index + 1 === count ? html("td", "is-now", String(points)) : html("td", "", String(points)),
    );
    const bonus = bonusPoints(role, dice);
    return html(
      "tr",
      isChosen ? "is-chosen" : "",
      html("th", "", role.title, isChosen ? " ✓" : ""),
      cells,
      html("td", "", `+${bonus}`),
      html("td", "total", String(basePoints(role, dice) + bonus)),
    );
  }

  // The race

  function race(step, match) {
    return html(
      "table",
      "board-points race",
      html("caption", "", `Points banked; the line is the goal, ${step.view.goal}`),
      html("tbody", "", seats(match).map((seat) => raceRow(step, match, seat))),
    );
  }

  function raceRow(step, match, seat) {
    const isTurn = step.pending.includes(seat);
    return html(
      "tr",
      isTurn ? "is-turn" : "",
      html("th", "", html("span", "race-seat", isTurn ? "▶" : "", seatName(seat, match))),
      html("td", "race-lane", lane(step, seat), html("span", "muted", raceNote(step, seat))),
      html("td", "total", step.view.totals[seat]),
    );
  }

  /** Draws how far a seat is, stretched to the width of its cell, with the points of this step in another shade. */
  function lane(step, seat) {
    const { totals, goal } = step.view;
    const end = Math.max(goal * 1.1, ...totals.map(Number));
    const length = (points) => (100 * Number(points)) / end;
    const before = step.previous ? step.previous.totals[seat] : totals[seat];
    return svg(
      "svg",
      { class: `lane seat-${seat}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "lane-road", width: 100, height: 10 }),
      svg("rect", { class: "lane-bar", y: 2, width: length(before), height: 6 }),
      svg("rect", { class: "lane-gain", x: length(before), y: 2, width: length(totals[seat] - before), height: 6 }),
      svg("rect", { class: "lane-goal", x: length(goal) - 0.5, width: 1, height: 10 }),
    );
  }

  function raceNote(step, seat) {
    const { view } = step;
    const first = leaders(step);
    const missing = BigInt(view.goal) - BigInt(view.totals[seat]);
    const waits = (view.queue || []).slice(1).includes(seat);
    const notes = [
      forfeitOf(step, seat) ? "forfeited" : "",
      first.includes(seat) && first.length < view.totals.length ? (step.over ? "wins" : "leads") : "",
      view.trigger === seat ? "reached the goal first" : missing > 0 ? `${missing} to go` : "",
      waits ? "has one more turn" : "",
    ];
    return notes.filter(Boolean).join(", ");
  }

  arenaBoards["burning-desire"] = function (step, match) {
    return html(
      "div",
      "board burning-desire",
      summary(step, match, { duty: () => duty(step.view), unit: "point", happened: happened(step) }),
      html(
        "div",
        "board-columns",
        html("div", "", endedTurn(step, match), step.over ? null : currentTurn(step, match)),
        html("div", "", race(step, match)),
      ),
    );
  };
})();
