// Shared by the boards of all games: making elements, dice, names of seats, and the summary above each board.
"use strict";

/** Maps the name of a game to a function (step, match) that returns an element which shows the step. */
var arenaBoards = {};

var arenaSvg = (function () {
  const SVG = "http://www.w3.org/2000/svg";

  /** A die is drawn in a box of this size; its pips sit on a grid of three by three. */
  const DIE = 20;
  const PIPS = [[], [4], [2, 6], [2, 4, 6], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

  /** Makes an element. Texts among the children stay plain text, so nothing that a bot wrote can become markup. */
  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      element.setAttribute(name, value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null));
    return element;
  }

  function svg(name, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
  }

  function html(name, className = "", ...children) {
    return fill(document.createElement(name), className ? { class: className } : {}, children);
  }

  /** Returns a whole drawing with a description for those who cannot see it. */
  function picture(className, width, height, label, ...children) {
    const attributes = { class: className, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label };
    return svg("svg", attributes, ...children);
  }

  // Dice

  const OUTLINES = {
    square: () => svg("rect", { class: "die-body", width: DIE, height: DIE, rx: 4 }),
    round: () => svg("circle", { class: "die-body", cx: 10, cy: 10, r: 10 }),
    hexagon: () => svg("polygon", { class: "die-body", points: "10,-1.5 20,4.2 20,15.8 10,21.5 0,15.8 0,4.2" }),
  };

  /** Returns a die in a box of 20 by 20; face 0 is a die that was not rolled yet. */
  function die(face, className, outline = "square") {
    const pips = PIPS[face].map((place) =>
      svg("circle", { class: "die-pip", cx: 5 + 5 * (place % 3), cy: 5 + 5 * Math.floor(place / 3), r: 2 }),
    );
    return svg("g", { class: `die ${className}` }, OUTLINES[outline](), pips);
  }

  /** Returns a die that stands in a line of text. */
  function smallDie(face, className, outline) {
    const attributes = { class: "small-die", viewBox: "-3 -3 26 26", "aria-hidden": "true" };
    return svg("svg", attributes, die(face, className, outline));
  }

  /** Returns a row of small dice, which a screen reader reads as one picture. */
  function diceRow(label, dice) {
    const row = html("span", "dice-row", dice);
    return fill(row, { role: "img", "aria-label": label }, []);
  }

  // Seats

  function badge(seat) {
    return html("span", `seat-badge seat-${seat}`, String(seat));
  }

  /** Returns a seat's number and the name of its bot; `bdi` keeps a right-to-left name from moving its neighbours. */
  function seatName(seat, match) {
    return html("span", "seat-name", badge(seat), html("bdi", "", match.bots[seat]));
  }

  function seats(match) {
    return match.bots.map((_, seat) => seat);
  }

  function forfeitOf(step, seat) {
    return step.forfeits.find((forfeit) => forfeit.seat === seat);
  }

  // The summary

  /** Returns the seats in front: by rank if the step has ranks, else by score, which may exceed a double's precision. */
  function leaders(step) {
    if (step.ranks) {
      return step.ranks.flatMap((rank, seat) => (rank === 0 ? [seat] : []));
    }
    const scores = step.scores.map(BigInt);
    const best = scores.reduce((a, b) => (b > a ? b : a));
    return scores.flatMap((score, seat) => (score === best ? [seat] : []));
  }

  function leadLine(step, match, unit) {
    const first = leaders(step);
    const who = joined(first.map((seat) => seatName(seat, match)), " and ");
    const score = step.scores[first[0]];
    return [first.length === match.seats ? "all level" : who, `: ${score} ${score === "1" ? unit : `${unit}s`}`];
  }

  function forfeitLines(step) {
    return step.forfeits.map((forfeit) => `Seat ${forfeit.seat} has forfeited: ${forfeit.reason}.`);
  }

  /** Returns who has to decide what: seats with the same duty together, as in "0 ann and 2 bob may pass". */
  function turnLine(step, match, duty) {
    const duties = [...new Set(step.pending.map(duty))];
    const groups = duties.map((words) => {
      const having = step.pending.filter((seat) => duty(seat) === words);
      return [joined(having.map((seat) => seatName(seat, match)), " and "), ` ${words}`];
    });
    return step.over ? "The match is over." : joined(groups, "; ");
  }

  /**
   * Returns the lines above a board: whose turn it is, who leads, and what just happened. `duty` tells in words what
   * a pending seat has to do, `unit` is the name of a point, and `happened` has sentences.
   */
  function summary(step, match, { duty, unit, happened }) {
    return html("dl", "board-summary", [
      line("turn-line", "Turn", turnLine(step, match, duty)),
      line("lead-line", step.over ? "Winner" : "Lead", leadLine(step, match, unit)),
      line("news-line", "Just now", [...happened, ...forfeitLines(step)].join(" ")),
    ]);
  }

  function line(className, term, words) {
    return html("div", className, html("dt", "", term), html("dd", "", words));
  }

  // Words

  /** Puts a text between the members of a list, which may be elements. */
  function joined(members, between) {
    return members.flatMap((member, index) => (index ? [between, member] : [member]));
  }

  /** Joins words as people do: "1, 2 and 3". */
  function listed(words) {
    return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
  }

  function counted(number, noun) {
    return `${number} ${noun}${number === 1 ? "" : "s"}`;
  }

  return {
    svg,
    html,
    picture,
    die,
    smallDie,
    diceRow,
    badge,
    seatName,
    seats,
    forfeitOf,
    leaders,
    summary,
    listed,
    counted,
  };
})();
