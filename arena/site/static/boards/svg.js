// Shared by the viewer and the boards of all games: elements, dice, names of seats, and the summary above a board.
"use strict";

/** Maps the name of a game to a function (step, match) that returns an element which shows the step. */
var arenaBoards = {};

var arenaSvg = (() => {
  // --- Elements

  /** Fills an element. A text among the children stays text, so nothing that a bot wrote can become markup. */
  function filled(element, attributes, children) {
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children.flat(Infinity).filter((child) => child !== null));
    return element;
  }

  function svg(name, attributes, ...children) {
    return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
  }

  function html(name, className, ...children) {
    return filled(document.createElement(name), className ? { class: className } : {}, children);
  }

  /** Returns a whole drawing; the label describes it to those who cannot see it. */
  function picture(className, width, height, label, ...children) {
    const attributes = { class: className, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label };
    return svg("svg", attributes, ...children);
  }

  function table(className, caption, heads, rows) {
    const head = html("tr", "", ...heads.map((text) => html("th", "", text)));
    return html(
      "table",
      `board-table ${className}`,
      html("caption", "", caption),
      html("thead", "", head),
      html("tbody", "", rows),
    );
  }

  // --- Dice, drawn in a box of 20 by 20

  /** By face: the places of the pips on a grid of three by three. Face 0 has none, for what is no ordinary die. */
  const PIPS = [[], [4], [2, 6], [2, 4, 6], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

  const OUTLINES = {
    square: ["rect", { width: 20, height: 20, rx: 4 }],
    round: ["circle", { cx: 10, cy: 10, r: 10 }],
    hexagon: ["polygon", { points: "10,-1.5 20,4.2 20,15.8 10,21.5 0,15.8 0,4.2" }],
  };

  function die(face, className, outline = "square") {
    const [name, shape] = OUTLINES[outline];
    const pips = PIPS[face].map((place) =>
      svg("circle", { class: "pip", cx: 5 + 5 * (place % 3), cy: 5 + 5 * Math.floor(place / 3), r: 2 }),
    );
    return svg("g", { class: `board-die ${className}` }, svg(name, { class: "die-body", ...shape }), pips);
  }

  /** Returns a die that stands in a line of text. */
  function smallDie(face, className, outline) {
    const attributes = { class: "small-die", viewBox: "-3 -3 26 26", role: "img", "aria-label": `die ${face}` };
    return svg("svg", attributes, die(face, className, outline));
  }

  // --- Seats

  function badge(seat) {
    return html("span", `seat seat-${seat}`, seat);
  }

  /** Returns a seat's number and its bot's name; `bdi` keeps a name written from right to left in its place. */
  function seatName(seat, match) {
    return html("span", "player", badge(seat), " ", html("bdi", "", match.bots[seat]));
  }

  function seatNames(seats, match) {
    return enumerated(seats.map((seat) => seatName(seat, match)));
  }

  function hasForfeited(step, seat) {
    return step.forfeits.some((forfeit) => forfeit.seat === seat);
  }

  /** Returns short labels of a seat: whether it is to play and has forfeited, and those of the game. */
  function tags(step, seat, ...others) {
    return html(
      "span",
      "tags",
      step.pending.includes(seat) ? html("span", "tag to-play", "to play") : null,
      others.map((text) => html("span", "tag", text)),
      hasForfeited(step, seat) ? html("span", "tag", "forfeited") : null,
    );
  }

  // --- The summary

  function leadLine(step, match, unit) {
    const first = step.leaders;
    const points = counted(step.scores[first[0] ?? 0], unit);
    return first.length ? [seatNames(first, match), `: ${points}`] : `nobody, all have ${points}`;
  }

  /** Returns who has to do what; seats with the same duty stand together, as in "0 ann and 2 bob may pass." */
  function turnLine(step, match, duty) {
    const duties = [...new Set(step.pending.map(duty))];
    const groups = duties.map((words) => {
      const having = step.pending.filter((seat) => duty(seat) === words);
      return [seatNames(having, match), ` ${words}. `];
    });
    return step.over ? "The match is over." : groups;
  }

  function forfeitLines({ number, forfeits }) {
    const now = forfeits.filter((forfeit) => forfeit.step === number);
    return now.map(({ seat, reason }) => `Seat ${seat} forfeited: ${reason}.`);
  }

  /**
   * Returns the lines above a board: whose turn it is, who leads, and what just happened. `duty` is a function that
   * tells in words what a seat has to do, `unit` the name of a point, and `happened` a list of sentences.
   */
  function summary(step, match, { duty, unit, happened }) {
    return html(
      "dl",
      "board-summary",
      line("turn-line", "Turn", turnLine(step, match, duty)),
      line("lead-line", step.over ? "Winner" : "Lead", leadLine(step, match, unit)),
      line("news-line", "Just now", [...happened, ...forfeitLines(step)].join(" ")),
    );
  }

  function line(className, term, words) {
    return html("div", className, html("dt", "", term), html("dd", "", words));
  }

  // --- Words

  /** Puts texts between words or elements, as people do: "1, 2 and 3". */
  function enumerated(members) {
    const between = (index) => (index === members.length - 1 ? " and " : ", ");
    return members.flatMap((member, index) => (index ? [between(index), member] : [member]));
  }

  function listed(words) {
    return enumerated(words).join("");
  }

  /** Returns a number, which may be text, with its noun: "1 die", "2 dice". */
  function counted(number, noun, plural = `${noun}s`) {
    return `${number} ${String(number) === "1" ? noun : plural}`;
  }

  return {
    ...{ svg, html, picture, table },
    ...{ die, smallDie },
    ...{ badge, seatName, seatNames, hasForfeited, tags },
    ...{ summary, listed, counted },
  };
})();
