// The board of Buttons: the dice on the table, and every seat's grid with its buttons and stars.
"use strict";

(function () {
  const { svg, html, picture, smallDie, diceRow, seatName, seats, forfeitOf, summary, listed, counted } = arenaSvg;

  const SIZE = 6;
  const CELL = 24;
  const EDGE = 15; // room for the numbers of rows and columns
  const COLOURS = ["R", "B", "Y", "G"];
  const COLOUR_NAMES = { R: "red", B: "blue", Y: "yellow", G: "green" };
  const LINE = 5;
  const STARS_TO_WIN = 12;
  const STAR = starPoints(10, 4.4);

  // What the view says; fields with their default value are missing from it.

  function phase(view) {
    return view.phase.replace("BUTTONS_PHASE_", "");
  }

  function status(seat) {
    return seat.status.replace("BUTTONS_STATUS_", "").toLowerCase();
  }

  function active(view) {
    return view.active || 0;
  }

  /** Tells whether a round is being played: no sides are chosen and no stars put. */
  function isRound(view) {
    return ["TURN", "PLACE"].includes(phase(view));
  }

  function round(view) {
    return view.round || 0;
  }

  const buttons = (seat) => seat.buttons || [];
  const stars = (seat) => seat.stars || [];
  const cards = (seat) => seat.cards || "";
  const starsToPlace = (seat) => seat.stars_to_place || 0;

  /** Returns the roll on the table, or the one of this step, which is gone already if nobody could use it. */
  function rollOf(step) {
    const rolled = step.rolls.find((roll) => roll.key.startsWith("round/"));
    const { white, gold, plain = [] } = step.view;
    const numbers = rolled ? rolled.numbers : white ? [white, gold, ...plain] : null;
    return numbers && { row: numbers[0], gold: numbers[1], plain: numbers.slice(2), seat: roller(step) };
  }

  function roller(step) {
    const rolling = step.choices.find((choice) => choice.name === "roll");
    return rolling ? rolling.seat : active(step.view);
  }

  // The rules that the drawing needs

  function column(cell) {
    return cell % SIZE;
  }

  function cellName(cell) {
    return `${Math.floor(cell / SIZE) + 1},${column(cell) + 1}`;
  }

  function areBeside(a, b) {
    const apart = Math.abs(a - b);
    return apart === SIZE || (apart === 1 && Math.floor(a / SIZE) === Math.floor(b / SIZE));
  }

  /** Returns the cells where a seat may put a button with this roll. */
  function openCells(seat, number, roll) {
    const columns = number === roll.seat ? [roll.gold, ...roll.plain] : [roll.gold];
    const offered = [...new Set(columns)].map((face) => SIZE * (roll.row - 1) + face - 1);
    const taken = [...buttons(seat), ...stars(seat)];
    return offered.filter(
      (cell) => !taken.includes(cell) && !buttons(seat).some((button) => areBeside(button, cell)),
    );
  }

  /** Returns every run of stars that lie next to each other in a row or a column, as lists of cells. */
  function runs(cells) {
    return [1, SIZE].flatMap((by) =>
      cells.filter((cell) => !continues(cells, cell, by)).map((cell) => runFrom(cells, cell, by)),
    );
  }

  function runFrom(cells, cell, by) {
    const run = [cell];
    while (continues(cells, run[run.length - 1] + by, by) && cells.includes(run[run.length - 1] + by)) {
      run.push(run[run.length - 1] + by);
    }
    return run;
  }

  /** Tells whether the cell before this one, in a row (by 1) or a column (by 6), is one of the cells. */
  function continues(cells, cell, by) {
    return cells.includes(cell - by) && !(by === 1 && column(cell) === 0);
  }

  function longestRun(cells) {
    return Math.max(0, ...runs(cells).map((run) => run.length));
  }

  function colourCounts(seat) {
    return COLOURS.map((colour) => buttons(seat).filter((cell) => seat.board[cell] === colour).length);
  }

  /** Returns by colour the stars that its buttons earn: one for three or more, another with the colour's card. */
  function colourStars(seat) {
    return colourCounts(seat).map((count, index) => (count < 3 ? 0 : cards(seat).includes(COLOURS[index]) ? 2 : 1));
  }

  /** Returns the stars that a seat gets, or would get, for quitting with the buttons it has. */
  function worth(seat) {
    return buttons(seat).length && 1 + colourStars(seat).reduce((sum, number) => sum + number);
  }

  // What just happened

  function happened(step) {
    if (!step.previous) {
      return ["The boards are dealt."];
    }
    return [...step.choices.map((choice) => chosen(step, choice)), ...bust(step), ...ending(step)];
  }

  function chosen(step, { seat, name, forfeited }) {
    return `Seat ${seat}${forfeited ? ", which has forfeited," : ""} ${deed(step, seat, name)}.`;
  }

  function deed(step, seat, name) {
    const cell = name.replace("place ", "");
    const piece = phase(step.previous) === "STAR" ? "star" : "button";
    const deeds = {
      roll: () => `rolled row ${rollOf(step).row}, gold ${rollOf(step).gold}, black ${listed(rollOf(step).plain)}`,
      quit: () => `quit the round with ${counted(buttons(step.previous.seats[seat]).length, "button")}`,
      pass: () => "passed",
      front: () => "chose the front of its board",
      back: () => "chose the back of its board",
    };
    return deeds[name] ? deeds[name]() : `put a ${piece} on ${cell}`;
  }

  function bust(step) {
    return lostSeats(step).map((seat) => {
      const lost = buttons(step.previous.seats[seat]).length;
      return `It fits nowhere: seat ${seat} busts${lost ? ` and loses ${counted(lost, "button")}` : ""}.`;
    });
  }

  /** Returns the seats that bust in this step: a roll after which the seat is not in, or the round is over. */
  function lostSeats(step) {
    const roll = step.choices.find((choice) => choice.name === "roll");
    if (!roll) {
      return [];
    }
    const before = step.previous.seats[roll.seat];
    return openCells(before, roll.seat, rollOf(step)).length ? [] : [roll.seat];
  }

  function ending(step) {
    const { view, previous } = step;
    if (phase(view) === "STAR" && phase(previous) !== "STAR") {
      const due = view.seats.map((seat, number) => (starsToPlace(seat) ? `seat ${number} gets ${counted(starsToPlace(seat), "star")}` : ""));
      return [`The round is over: ${listed(due.filter(Boolean))}.`];
    }
    if (phase(view) === "OVER") {
      return winningWords(view);
    }
    return round(view) > round(previous) || phase(previous) === "SIDE"
      ? [`Round ${round(view) + 1} begins: seat ${view.starter || 0} holds the red card.`]
      : [];
  }

  function winningWords(view) {
    const lined = seatsWhere(view, (seat) => longestRun(stars(seat)) >= LINE);
    const twelve = seatsWhere(view, (seat) => stars(seat).length >= STARS_TO_WIN);
    return [
      ...lined.map((seat) => `Seat ${seat} has five stars in a line.`),
      ...twelve.map((seat) => `Seat ${seat} has twelve stars.`),
    ];
  }

  function seatsWhere(view, holds) {
    return view.seats.flatMap((seat, number) => (holds(seat) ? [number] : []));
  }

  function duty(step, number) {
    const seat = step.view.seats[number];
    const dice = counted(step.view.dice_left || 0, "die").replace("dies", "dice");
    const duties = {
      SIDE: () => "must choose a side of the board",
      TURN: () => (buttons(seat).length ? `may roll ${dice} or quit` : `must roll ${dice}`),
      PLACE: () => (number === active(step.view) ? "must put a button" : "may put a button"),
      STAR: () => `must put ${counted(starsToPlace(seat), "star")}`,
    };
    return duties[phase(step.view)]();
  }

  // The dice on the table

  function table(step) {
    const { view } = step;
    if (phase(view) === "SIDE") {
      return null;
    }
    const roll = rollOf(step);
    const begun = html("span", "muted", ` seat ${view.starter || 0} has the red card and began`);
    const where = html("p", "table-round", html("b", "", `Round ${round(view) + 1}, turn ${(view.turn || 0) + 1}`), begun);
    return html("div", "buttons-table", where, roll ? rolledDice(roll) : waitingDice(view));
  }

  function rolledDice({ row, gold, plain, seat }) {
    return [
      dieGroup(`row ${row}`, [smallDie(row, "die-white")]),
      dieGroup(`column ${gold} for all`, [smallDie(gold, "die-gold")]),
      dieGroup(`columns for seat ${seat}`, plain.map((face) => smallDie(face, "die-black"))),
    ];
  }

  function dieGroup(use, dice) {
    return html("span", "die-group", html("span", "dice-row", dice), html("span", "die-use", use));
  }

  function waitingDice(view) {
    const left = phase(view) === "TURN" ? view.dice_left : 0;
    const kinds = ["die-white", "die-gold", ...Array(Math.max(0, left - 2)).fill("die-black")];
    const dice = kinds.map((kind) => smallDie(0, kind));
    return left ? dieGroup(`${left} dice to roll`, dice) : null;
  }

  // One seat

  function seatFigure(step, match, number) {
    const seat = step.view.seats[number];
    const isOut = isRound(step.view) && status(seat) !== "in";
    const state = `${step.pending.includes(number) ? "is-pending" : ""} ${isOut ? "is-out" : ""}`;
    return html(
      "figure",
      `board-seat buttons-seat seat-${number} ${state}`,
      html("figcaption", "", nameLine(seat, number, match), tags(step, number), starLine(seat)),
      seat.sides ? seat.sides.map((side, back) => sideGrid(number, side, back)) : playedGrid(step, number),
      tally(step, number),
    );
  }

  function nameLine(seat, number, match) {
    const held = [...cards(seat)].map((colour) => html("span", `button-card colour-${colour}`, colour));
    const label = held.length > 1 ? "cards" : "card";
    return html("span", "name-line", seatName(number, match), held.length ? html("span", "cards", label, held) : null);
  }

  function tags(step, number) {
    const seat = step.view.seats[number];
    return html("span", "tags", [
      step.pending.includes(number) ? html("span", "tag tag-to-play", "to play") : null,
      isRound(step.view) ? html("span", `tag tag-${status(seat)}`, status(seat)) : null,
      forfeitOf(step, number) ? html("span", "tag tag-forfeited", "forfeited") : null,
    ]);
  }

  function starLine(seat) {
    const due = starsToPlace(seat) ? ` +${starsToPlace(seat)}` : "";
    const run = `line ${longestRun(stars(seat))}/${LINE}`;
    return seat.sides ? null : html("span", "star-line", `★ ${stars(seat).length}/${STARS_TO_WIN}${due} · ${run}`);
  }

  /** Returns the buttons by colour and the stars they are worth, until these are given out. */
  function tally(step, number) {
    const seat = step.view.seats[number];
    if (!isRound(step.view) || status(seat) === "bust") {
      return null;
    }
    const counts = colourCounts(seat);
    const earned = colourStars(seat);
    const entries = COLOURS.map((colour, index) =>
      html("span", "tally-entry", html("span", `swatch colour-${colour}`, colour), ` ${counts[index]}${"★".repeat(earned[index])}`),
    );
    const verb = status(seat) === "quit" ? "earned" : "to earn";
    return html("p", "tally", entries, html("span", "tally-sum", `= ${counted(worth(seat), "star")} ${verb}`));
  }

  // The grid of a seat

  function sideGrid(number, side, back) {
    const name = back ? "back" : "front";
    return html("div", "side", name, gridPicture(`The ${name} of seat ${number}'s board.`, grid(side)));
  }

  function playedGrid(step, number) {
    const seat = step.view.seats[number];
    return gridPicture(
      gridLabel(seat, number),
      lit(step, number),
      grid(seat.board, stars(seat)),
      pieces(step, number),
      offers(step, number),
      runs(stars(seat)).filter((run) => run.length >= LINE).map(lineMark),
    );
  }

  function gridPicture(label, ...layers) {
    return picture("buttons-grid", EDGE + SIZE * CELL + 1, EDGE + SIZE * CELL + 1, label, numbers(), ...layers);
  }

  function gridLabel(seat, number) {
    const on = (cells) => (cells.length ? cells.map(cellName).join(" ") : "none");
    return `Seat ${number}'s board. Buttons: ${on(buttons(seat))}. Stars: ${on(stars(seat))}.`;
  }

  function numbers() {
    return Array.from({ length: SIZE }, (_, index) => [edgeNumber(0, index, ""), edgeNumber(1, index, "")]);
  }

  /** Returns the number of a row (across 0) or of a column (across 1), on the die that names it if there is one. */
  function edgeNumber(across, index, die) {
    const middle = EDGE + CELL * index + CELL / 2;
    const [x, y] = across ? [middle, EDGE / 2] : [EDGE / 2, middle];
    return svg(
      "g",
      { class: `edge ${die}` },
      die ? svg("rect", { x: x - 7, y: y - 7, width: 14, height: 14, rx: 3 }) : null,
      svg("text", { x, y }, String(index + 1)),
    );
  }

  /** Marks the row and the columns that a seat may use with the roll on the table. */
  function lit(step, number) {
    const roll = rollOf(step);
    if (!roll || (number !== roll.seat && status(step.view.seats[number]) !== "in")) {
      return null;
    }
    const plain = number === roll.seat ? roll.plain.filter((face) => face !== roll.gold) : [];
    return [
      edgeNumber(0, roll.row - 1, "die-white"),
      edgeNumber(1, roll.gold - 1, "die-gold"),
      plain.map((face) => edgeNumber(1, face - 1, "die-black")),
    ];
  }

  /** Draws the cells; a star hides the letter below it. */
  function grid(board, starred = []) {
    return [...board].map((colour, cell) =>
      svg(
        "g",
        { class: `cell colour-${colour}`, transform: corner(cell) },
        svg("rect", { x: 0.75, y: 0.75, width: CELL - 1.5, height: CELL - 1.5, rx: 3 }),
        starred.includes(cell) ? null : svg("text", { x: CELL / 2, y: CELL / 2 }, colour),
      ),
    );
  }

  function corner(cell) {
    return `translate(${EDGE + CELL * column(cell)} ${EDGE + CELL * Math.floor(cell / SIZE)})`;
  }

  function pieces(step, number) {
    const seat = step.view.seats[number];
    const before = step.previous ? step.previous.seats[number] : seat;
    const lost = lostSeats(step).includes(number) ? buttons(before) : [];
    return [
      buttons(seat).map((cell) => piece(cell, circles("button"), !buttons(before).includes(cell))),
      stars(seat).map((cell) => piece(cell, star(), !stars(before).includes(cell))),
      lost.map((cell) => piece(cell, cross(), false)),
    ];
  }

  function piece(cell, shape, isNew) {
    return svg("g", { class: isNew ? "piece is-new" : "piece", transform: corner(cell) }, shape, isNew ? frame() : null);
  }

  function frame() {
    return svg("rect", { class: "new-frame", x: -0.5, y: -0.5, width: CELL + 1, height: CELL + 1, rx: 4 });
  }

  /** Returns a light ring on a dark one, which is seen on a cell of any colour. */
  function circles(name) {
    const middle = { cx: CELL / 2, cy: CELL / 2, r: 9 };
    return [svg("circle", { class: `${name}-edge`, ...middle }), svg("circle", { class: name, ...middle })];
  }

  function star() {
    return svg("polygon", { class: "star", points: STAR });
  }

  function cross() {
    return [
      svg("path", { class: "cross-edge", d: "M6 6 18 18 M18 6 6 18" }),
      svg("path", { class: "cross", d: "M6 6 18 18 M18 6 6 18" }),
    ];
  }

  function starPoints(outer, inner) {
    const points = Array.from({ length: 10 }, (_, index) => {
      const angle = (Math.PI * index) / 5;
      const radius = index % 2 ? inner : outer;
      return `${(CELL / 2 + radius * Math.sin(angle)).toFixed(2)},${(CELL / 2 + 0.5 - radius * Math.cos(angle)).toFixed(2)}`;
    });
    return points.join(" ");
  }

  function offers(step, number) {
    if (phase(step.view) !== "PLACE" || !step.pending.includes(number)) {
      return null;
    }
    const open = openCells(step.view.seats[number], number, rollOf(step));
    return open.map((cell) => svg("g", { transform: corner(cell) }, circles("offer")));
  }

  function lineMark(run) {
    const [first, last] = [run[0], run[run.length - 1]];
    const across = column(last) - column(first);
    const down = (last - first - across) / SIZE;
    const box = { x: 2, y: 2, width: CELL * (across + 1) - 4, height: CELL * (down + 1) - 4, rx: 10 };
    return ["line-edge", "line-mark"].map((name) => svg("rect", { class: name, transform: corner(first), ...box }));
  }

  arenaBoards["buttons"] = function (step, match) {
    return html(
      "div",
      "board buttons",
      summary(step, match, { duty: (seat) => duty(step, seat), unit: "star", happened: happened(step) }),
      table(step),
      html("div", `board-seats of-${match.seats}`, seats(match).map((seat) => seatFigure(step, match, seat))),
    );
  };
})();
