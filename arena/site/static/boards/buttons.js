// The board of Buttons: the dice on the table, and every seat's grid with its buttons and stars.
"use strict";

(() => {
  const { svg, html, picture, smallDie, seatName, hasForfeited, tags, summary, listed, counted } = arenaSvg;

  const SIZE = 6;
  const COLOURS = ["R", "B", "Y", "G"];
  const LINE = 5;
  const STARS_TO_WIN = 12;

  // --- What the view says; fields with their default value are missing from it

  const phase = (view) => view.phase.replace("BUTTONS_PHASE_", "");
  const round = (view) => view.round ?? 0;
  const status = (seat) => seat.status.replace("BUTTONS_STATUS_", "").toLowerCase();
  const buttons = (seat) => seat.buttons ?? [];
  const stars = (seat) => seat.stars ?? [];
  const cards = (seat) => seat.cards ?? "";
  const due = (seat) => seat.stars_to_place ?? 0;

  /** Tells whether a round is being played, as opposed to choosing sides, putting stars and the end. */
  function isRound(view) {
    return ["TURN", "PLACE"].includes(phase(view));
  }

  const isOfRound = (roll) => roll.key.startsWith("round/");

  /** Returns the roll made in this step or still on the table, and the seat that made it; null if there is none. */
  function rollOf({ view, rolls, choices }) {
    const made = rolls.find(isOfRound);
    if (!made && !view.white) {
      return null;
    }
    const [row, gold, ...plain] = made ? made.numbers : [view.white, view.gold, ...(view.plain ?? [])];
    return { row, gold, plain, seat: made ? choices[0].seat : (view.active ?? 0) };
  }

  /** Returns the last roll, which may have been made in an earlier step; null if the page knows of none. */
  function lastRollOf(step) {
    const roller = step.earlier.findLast(({ rolls }) => rolls.some(isOfRound));
    return rollOf(step) ?? (roller ? rollOf(roller) : null);
  }

  // --- The rules that the drawing needs

  const rowOf = (cell) => Math.floor(cell / SIZE);
  const columnOf = (cell) => cell % SIZE;
  const nameOf = (cell) => `${rowOf(cell) + 1},${columnOf(cell) + 1}`;

  function areBeside(one, other) {
    return Math.abs(rowOf(one) - rowOf(other)) + Math.abs(columnOf(one) - columnOf(other)) === 1;
  }

  /** Returns the cells where a seat may put a button by this roll: all columns are for the seat that rolled. */
  function openCells(seat, number, { row, gold, plain, seat: roller }) {
    const columns = new Set(number === roller ? [gold, ...plain] : [gold]);
    const offered = [...columns].map((column) => SIZE * (row - 1) + column - 1);
    const isTaken = (cell) => buttons(seat).includes(cell) || stars(seat).includes(cell);
    return offered.filter((cell) => !isTaken(cell) && !buttons(seat).some((button) => areBeside(button, cell)));
  }

  /** Returns the seat that bust in this step and the buttons it lost; null if none did. */
  function bustOf(step) {
    const roll = rollOf(step);
    if (step.choices[0]?.name !== "roll") {
      return null;
    }
    const before = step.previous.seats[roll.seat];
    return openCells(before, roll.seat, roll).length ? null : { seat: roll.seat, lost: buttons(before) };
  }

  /** Returns the stars that lie next to each other in a row or a column, as lists of cells. */
  function runs(cells) {
    return [1, SIZE].flatMap((by) => {
      const goesOn = (cell) => cells.includes(cell - by) && (by === SIZE || columnOf(cell) > 0);
      const firsts = cells.filter((cell) => !goesOn(cell));
      return firsts.map((first) => runFrom(first, by, (cell) => cells.includes(cell) && goesOn(cell)));
    });
  }

  function runFrom(first, by, isPart) {
    const run = [first];
    while (isPart(run.at(-1) + by)) {
      run.push(run.at(-1) + by);
    }
    return run;
  }

  function longestRun(seat) {
    return Math.max(0, ...runs(stars(seat)).map((run) => run.length));
  }

  function hasLine(seat) {
    return longestRun(seat) >= LINE;
  }

  /** Returns for each colour the number of buttons on it and the stars for them: one for three, two with the card. */
  function coloursOf(seat) {
    return COLOURS.map((colour) => {
      const count = buttons(seat).filter((cell) => seat.board[cell] === colour).length;
      const earned = cards(seat).includes(colour) ? 2 : 1;
      return { colour, count, earned: count < 3 ? 0 : earned };
    });
  }

  function starsEarned(seat) {
    const extra = coloursOf(seat).reduce((sum, { earned }) => sum + earned, 0);
    return buttons(seat).length ? 1 + extra : 0;
  }

  // --- Words

  function happened(step) {
    if (!step.previous) {
      return ["The boards are dealt."];
    }
    const puts = step.choices.filter(({ name }) => name.startsWith("place"));
    const others = step.choices.filter((choice) => !puts.includes(choice));
    const deeds = others.map((choice) => deed(step, choice));
    return [...putWords(step, puts), ...deeds, ...bustWords(step), ...nextWords(step)];
  }

  /** Says in one sentence where buttons or stars were put: "Seat 0 put a button on 1,2, seat 3 on 1,4." */
  function putWords(step, puts) {
    const piece = phase(step.previous) === "STAR" ? "star" : "button";
    const parts = puts.map(({ seat, name }, index) => {
      const cell = name.replace("place ", "");
      return index ? `seat ${seat} on ${cell}` : `Seat ${seat} put a ${piece} on ${cell}`;
    });
    return parts.length ? [`${parts.join(", ")}.`] : [];
  }

  function deed(step, { seat, name }) {
    const words = {
      roll: ({ row, gold, plain }) => `rolled row ${row}, gold ${gold}, black ${listed(plain)}`,
      quit: () => `quit the round with ${counted(buttons(step.previous.seats[seat]).length, "button")}`,
      pass: () => "passed",
      front: () => "chose the front",
      back: () => "chose the back",
    };
    return `Seat ${seat} ${words[name](rollOf(step))}.`;
  }

  function bustWords(step) {
    const bust = bustOf(step);
    return bust ? [`No cell is free: seat ${bust.seat} busts and loses ${counted(bust.lost.length, "button")}.`] : [];
  }

  function nextWords(step) {
    const { view, previous } = step;
    if (phase(view) === "OVER") {
      return endWords(step);
    }
    if (phase(view) === "STAR") {
      return phase(previous) === "STAR" ? [] : [rewardWords(view)];
    }
    const isFirst = phase(previous) === "SIDE" && phase(view) !== "SIDE";
    return isFirst || round(view) > round(previous) ? [`Round ${round(view) + 1} begins.`] : [];
  }

  function rewardWords(view) {
    const rewards = view.seats.map((seat, number) => `seat ${number} gets ${counted(due(seat), "star")}`);
    return `The round is over: ${listed(rewards)}.`;
  }

  function endWords(step) {
    const reached = step.view.seats.flatMap((seat, number) => [
      ...(hasLine(seat) ? [`Seat ${number} has five stars in a line.`] : []),
      ...(stars(seat).length >= STARS_TO_WIN ? [`Seat ${number} has ${stars(seat).length} stars.`] : []),
    ]);
    return [...(reached.length ? reached : ["The last round is over."]), winWords(step)];
  }

  /** Says why the winner won, who may have fewer stars than others. Seats that forfeited are last in any case. */
  function winWords(step) {
    const { leaders, view } = step;
    const lined = [...view.seats.keys()].filter((seat) => hasLine(view.seats[seat]) && !hasForfeited(step, seat));
    const rivals = lined.filter((seat) => !leaders.includes(seat));
    const line = rivals.length ? "the most stars of those that have a line" : "a line, which beats any number of stars";
    const winners = leaders.length > 1 ? `Seats ${listed(leaders)} win` : `Seat ${leaders[0]} wins`;
    const among = step.forfeits.length ? ", of those that did not forfeit" : "";
    return `${winners} with ${lined.length ? line : "the most stars"}${among}.`;
  }

  function duty({ view }, number) {
    const seat = view.seats[number];
    const dice = counted(view.dice_left, "die", "dice");
    return {
      SIDE: "must choose a side of the board",
      TURN: buttons(seat).length ? `may roll ${dice} or quit` : `must roll ${dice}`,
      PLACE: number === (view.active ?? 0) ? "must put a button" : "may put a button",
      STAR: `must put ${counted(due(seat), "star")}`,
    }[phase(view)];
  }

  // --- The dice on the table

  function diceTable(step) {
    const { view } = step;
    const roll = lastRollOf(step);
    const isPast = rollOf(step) === null;
    const when = html("b", "", `Round ${round(view) + 1}, turn ${(view.turn ?? 0) + 1}`);
    const who = roll ? html("span", "muted", isPast ? " · last roll, by seat " : " · rolled by seat ", roll.seat) : null;
    return html(
      "div",
      `buttons-dice ${isPast ? "is-past" : ""}`,
      html("p", "", when, who),
      roll ? rolledDice(roll) : null,
    );
  }

  function rolledDice({ row, gold, plain, seat }) {
    const blacks = plain.map((face) => smallDie(face, "die-black"));
    return [
      diceGroup(`row ${row}`, [smallDie(row, "die-white")]),
      diceGroup(`column ${gold} for all`, [smallDie(gold, "die-gold")]),
      diceGroup(`columns for seat ${seat}`, blacks),
    ];
  }

  function diceGroup(use, dice) {
    return html("span", "dice-group", html("span", "dice-row", dice), html("span", "dice-use", use));
  }

  // --- A seat

  function seatFigure(step, match, number) {
    const seat = step.view.seats[number];
    const pending = step.pending.includes(number) ? "is-pending" : "";
    const out = isRound(step.view) && status(seat) !== "in" ? "is-out" : "";
    const standing = ["SIDE", "OVER"].includes(phase(step.view)) ? [] : [status(seat)];
    const name = html("span", "name-line", seatName(number, match), cardsHeld(seat));
    return html(
      "figure",
      `board-seat buttons-seat seat-${number} ${pending} ${out}`,
      html("figcaption", "", name, tags(step, number, ...standing), starLine(seat)),
      seat.sides ? seat.sides.map((side, index) => sideGrid(number, side, index)) : playedGrid(step, number),
      isRound(step.view) && status(seat) !== "bust" ? tally(seat) : null,
    );
  }

  function cardsHeld(seat) {
    const held = [...cards(seat)].map((colour) => html("span", `letter colour-${colour}`, colour));
    return held.length ? html("span", "cards", held.length > 1 ? "cards" : "card", held) : null;
  }

  function starLine(seat) {
    const more = due(seat) ? ` +${due(seat)}` : "";
    return seat.sides ? null : `★ ${stars(seat).length}/${STARS_TO_WIN}${more} · line ${longestRun(seat)}/${LINE}`;
  }

  /** Returns the number of buttons by colour, with the stars that they earn. */
  function tally(seat) {
    const colours = coloursOf(seat).map(({ colour, count, earned }) =>
      html("span", "", html("span", `letter colour-${colour}`, colour), ` ${count}${"★".repeat(earned)}`),
    );
    const verb = status(seat) === "quit" ? "earned" : "to earn";
    return html("p", "tally", colours, html("span", "tally-sum", `= ${counted(starsEarned(seat), "star")} ${verb}`));
  }

  // --- The grid of a seat

  const CELL = 24;
  const EDGE = 15; // room for the numbers of rows and columns
  const MIDDLE = CELL / 2;

  function sideGrid(number, side, index) {
    const name = ["front", "back"][index];
    return html("div", "", name, gridPicture(`The ${name} of seat ${number}'s board.`, cells(side, [])));
  }

  function playedGrid(step, number) {
    const seat = step.view.seats[number];
    const list = (marked) => marked.map(nameOf).join(" ") || "none";
    return gridPicture(
      `Seat ${number}'s board. Buttons: ${list(buttons(seat))}. Stars: ${list(stars(seat))}.`,
      rolledNumbers(step, number),
      cells(seat.board, stars(seat)),
      pieces(step, number),
      offers(step, number),
      runs(stars(seat)).map((run) => (run.length >= LINE ? lineMark(run) : null)),
    );
  }

  function gridPicture(label, ...layers) {
    const side = EDGE + SIZE * CELL + 1;
    const indices = [...Array(SIZE).keys()];
    const numbers = indices.map((index) => [edgeNumber("row", index), edgeNumber("column", index)]);
    return picture("buttons-grid", side, side, label, numbers, ...layers);
  }

  /** Writes the number of a row or a column; `die` is the kind of die that names it, if one does. */
  function edgeNumber(kind, index, die = "") {
    const along = EDGE + CELL * index + MIDDLE;
    const [x, y] = kind === "row" ? [EDGE / 2, along] : [along, EDGE / 2];
    const face = die ? svg("rect", { class: "die-body", x: x - 7, y: y - 7, width: 14, height: 14, rx: 3 }) : null;
    return svg("g", { class: `edge ${die}` }, face, svg("text", { x, y }, index + 1));
  }

  /** Marks the row and the columns that the roll gives to a seat. */
  function rolledNumbers(step, number) {
    const roll = rollOf(step);
    if (!roll || (number !== roll.seat && status(step.view.seats[number]) !== "in")) {
      return null;
    }
    const plain = number === roll.seat ? roll.plain.filter((column) => column !== roll.gold) : [];
    return [
      edgeNumber("row", roll.row - 1, "die-white"),
      edgeNumber("column", roll.gold - 1, "die-gold"),
      plain.map((column) => edgeNumber("column", column - 1, "die-black")),
    ];
  }

  function inCell(cell, className, ...shapes) {
    const place = `translate(${EDGE + CELL * columnOf(cell)} ${EDGE + CELL * rowOf(cell)})`;
    return svg("g", { class: className, transform: place }, shapes);
  }

  /** Draws the cells with the letters of their colours; a star hides the letter below it. */
  function cells(board, starred) {
    const square = { x: 0.75, y: 0.75, width: CELL - 1.5, height: CELL - 1.5, rx: 3 };
    return [...board].map((colour, cell) => {
      const letter = starred.includes(cell) ? null : svg("text", { x: MIDDLE, y: MIDDLE }, colour);
      return inCell(cell, `colour-${colour}`, svg("rect", square), letter);
    });
  }

  function pieces(step, number) {
    const seat = step.view.seats[number];
    const before = step.previous?.seats[number] ?? seat;
    const bust = bustOf(step);
    const lost = bust?.seat === number ? bust.lost : [];
    return [
      buttons(seat).map((cell) => inCell(cell, "", ring("button"), frame(!buttons(before).includes(cell)))),
      stars(seat).map((cell) => inCell(cell, "", star(), frame(!stars(before).includes(cell)))),
      lost.map((cell) => inCell(cell, "", outlined("path", "cross", { d: "M6 6 18 18 M18 6 6 18" }))),
    ];
  }

  /** Marks the cells where a seat that is to play may put a button. */
  function offers(step, number) {
    const isAsked = phase(step.view) === "PLACE" && step.pending.includes(number);
    const open = isAsked ? openCells(step.view.seats[number], number, rollOf(step)) : [];
    return open.map((cell) => inCell(cell, "", ring("offer")));
  }

  /** Draws a light line on a dark one, which is seen on cells of any colour. */
  function outlined(shape, className, attributes) {
    return [`${className}-edge`, className].map((name) => svg(shape, { class: name, ...attributes }));
  }

  function ring(className) {
    return outlined("circle", className, { cx: MIDDLE, cy: MIDDLE, r: 9 });
  }

  function star() {
    const points = [...Array(10).keys()].map((index) => {
      const [angle, radius] = [(Math.PI * index) / 5, index % 2 ? 4.4 : 10];
      const [x, y] = [MIDDLE + radius * Math.sin(angle), MIDDLE + 0.5 - radius * Math.cos(angle)];
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    });
    return svg("polygon", { class: "star", points: points.join(" ") });
  }

  function frame(isNew) {
    const side = CELL + 1;
    return isNew ? svg("rect", { class: "new-frame", x: -0.5, y: -0.5, width: side, height: side, rx: 4 }) : null;
  }

  function lineMark(run) {
    const [first, last] = [run[0], run.at(-1)];
    const length = (from, to) => CELL * (to - from + 1) - 4;
    const width = length(columnOf(first), columnOf(last));
    const height = length(rowOf(first), rowOf(last));
    return inCell(first, "", outlined("rect", "line-mark", { x: 2, y: 2, width, height, rx: 10 }));
  }

  arenaBoards["buttons"] = (step, match) => {
    const figures = match.bots.map((_, seat) => seatFigure(step, match, seat));
    return html(
      "div",
      "board",
      summary(step, match, { duty: (seat) => duty(step, seat), unit: "star", happened: happened(step) }),
      phase(step.view) === "SIDE" ? null : diceTable(step),
      html("div", `buttons-seats of-${match.seats}`, figures),
    );
  };
})();
