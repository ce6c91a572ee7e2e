// The board of BIRTH: the ring of spaces with the pawns and the last move, the dice in the areas, hands and points.
"use strict";

(() => {
  const { svg, html, picture, table, die, smallDie, badge, seatName, tags, summary, listed, counted } = arenaSvg;

  const AREAS = [1, 2, 3, 5, 8];
  const SPACES = 15;
  const DICE = 11;
  const OUTLINES = ["square", "round", "hexagon"]; // of dice and pawns by seat, so that no colour is needed

  // --- What the view says; fields with their default value are missing from it

  const pawn = (seat) => seat.pawn ?? 0;
  const hand = (seat) => seat.hand ?? [];
  const start = (view) => view.start ?? 0;

  /** Returns a seat's dice on the board; the view has each as 10 · area + face. */
  function placed(seat) {
    return (seat.placed ?? []).map((code) => ({ area: Math.floor(code / 10), face: code % 10 }));
  }

  function facesIn(seat, area) {
    return placed(seat).flatMap((each) => (each.area === area ? [each.face] : []));
  }

  // --- Points

  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  function absolute(seat) {
    return sum(placed(seat).map(({ area }) => area));
  }

  /** Returns for each area the pips of every seat. */
  function pipsByArea(view) {
    return AREAS.map((area) => view.seats.map((seat) => sum(facesIn(seat, area))));
  }

  function isMost(pips, seat) {
    return pips[seat] > 0 && pips[seat] === Math.max(...pips);
  }

  // --- The move of a step

  /** Returns the move that led to this step; null if none did. The last of its landings is where the pawn stays. */
  function moveOf({ previous, choices, view }) {
    if (!choices.length) {
      return null;
    }
    const [{ seat, action }] = choices;
    const face = action + 1;
    const landings = landingsOf(previous.seats.map(pawn), seat, face);
    return { seat, face, landings, area: view.areas[landings.at(-1)] };
  }

  /** Returns where a pawn lands, jumping on from others; it may come back to where it began, and stays there. */
  function landingsOf(pawns, seat, face) {
    const landings = [(pawns[seat] + face) % SPACES];
    while (pawns.includes(landings.at(-1)) && landings.at(-1) !== pawns[seat]) {
      landings.push((landings.at(-1) + face) % SPACES);
    }
    return landings;
  }

  const birthOf = (step) => step.rolls.find((roll) => roll.key.endsWith("/birth"));
  const breakOf = (step) => step.rolls.find((roll) => roll.key.endsWith("/break"));

  /** Returns by seat the faces that are new in the area of the move: the die placed, or what a Birth rolled. */
  function newFaces(step, move) {
    const equal = step.previous.seats.map((seat, number) => {
      const old = facesIn(seat, move.area).filter((face) => face === move.face);
      return number === move.seat ? [...old, move.face] : old;
    });
    const rolled = [...(birthOf(step)?.numbers ?? [])]; // a Birth rolls equal dice, those of seat 0 first
    return equal.map((faces) => (birthOf(step) ? rolled.splice(0, faces.length) : faces));
  }

  function happened(step, move) {
    if (!move) {
      return step.previous ? [] : ["All dice are rolled."];
    }
    const jumps = move.landings.length - 1;
    const jumping = jumps ? `, with ${counted(jumps, "jump")},` : "";
    return [
      `Seat ${move.seat} played a ${move.face}${jumping} into area ${move.area}.`,
      ...(birthOf(step) ? [birthWords(birthOf(step).numbers, move.face)] : []),
      ...(breakOf(step) ? [`Break: the hand of seat ${move.seat} was rolled again.`] : []),
    ];
  }

  function birthWords(numbers, face) {
    return `Birth: the ${numbers.length} dice with a ${face} there were rolled again: ${listed(numbers)}.`;
  }

  // --- Measures of the ring, whose middle is (0, 0)

  const HALF = 236; // of the drawing's side
  const ARROW = 206; // radius of the arrows
  const RING = 174; // radius of the circle on which the spaces lie
  const SPACE = 18; // radius of a space
  const RIM = 150; // the dice of an area lie between the rim and the hub
  const HUB = 64;

  const rounded = (number) => Math.round(number * 100) / 100;

  /** Returns a point as "x y"; angles are in degrees, clockwise from the top. */
  function point(radius, angle) {
    const radians = (angle * Math.PI) / 180;
    return `${rounded(radius * Math.sin(radians))} ${rounded(-radius * Math.cos(radians))}`;
  }

  function placedAt(radius, angle, ...children) {
    return svg("g", { transform: `translate(${point(radius, angle)})` }, children);
  }

  function arcTo(radius, from, to) {
    return `A${radius} ${radius} 0 ${to - from > 180 ? 1 : 0} 1 ${point(radius, to)}`;
  }

  /**
   * Returns the stretches of spaces of one area, clockwise. All have the same angle, since dice need room in an area
   * with one space as well. The first begins where the area changes, and lies on top.
   */
  function stretchesOf(areas) {
    const changes = [...areas.keys()].filter((space) => areas[space] !== areas.at(space - 1));
    const firsts = changes.length ? changes : [0];
    const width = 360 / firsts.length;
    return firsts.map((first, index) => {
      const next = firsts[index + 1] ?? firsts[0] + SPACES;
      const spaces = [...Array(next - first).keys()].map((offset) => (first + offset) % SPACES);
      return { area: areas[first], spaces, from: width * (index - 0.5), to: width * (index + 0.5) };
    });
  }

  /** Returns the angle of every space. */
  function anglesOf(stretches) {
    const angles = [];
    for (const { spaces, from, to } of stretches) {
      spaces.forEach((space, index) => (angles[space] = from + ((to - from) * (index + 0.5)) / spaces.length));
    }
    return angles;
  }

  // --- The ring

  function ring(step, move) {
    const { view } = step;
    const stretches = stretchesOf(view.areas);
    const angles = anglesOf(stretches);
    return picture(
      "birth-ring",
      2 * HALF,
      2 * HALF,
      `The ring. ${view.seats.map((seat, number) => pawnWords(view, seat, number)).join(" ")}`,
      svg(
        "g",
        { transform: `translate(${HALF} ${HALF})` },
        stretches.map(wedge),
        stretches.map(areaNumber),
        angles.map((angle, number) => space(angle, number === start(view))),
        move ? moveArrow(step, move, angles) : null,
        view.seats.map((seat, number) => pawnMark(number, angles[pawn(seat)])),
        AREAS.map((area) => areaDice(step, move, area, stretches)),
      ),
    );
  }

  function pawnWords(view, seat, number) {
    const gone = (pawn(seat) - start(view) + SPACES) % SPACES;
    return `Pawn ${number} is in area ${view.areas[pawn(seat)]}, ${counted(gone, "space")} after the start.`;
  }

  function wedge({ area, from, to }) {
    const edge = RING + SPACE + 5;
    return svg("path", { class: `wedge area-${area}`, d: `M0 0 L${point(edge, from)} ${arcTo(edge, from, to)} Z` });
  }

  /** Writes the number of an area near the middle, smaller where many stretches meet. */
  function areaNumber({ area, from, to }) {
    const scale = Math.min(1, (to - from) / 45);
    const number = svg("text", { class: "area-number", transform: `scale(${rounded(scale)})` }, area);
    return placedAt(HUB - 24 * scale, (from + to) / 2, number);
  }

  function space(angle, isStart) {
    return placedAt(
      RING,
      angle,
      isStart ? svg("circle", { class: "start-ring", r: SPACE + 5 }) : null,
      svg("circle", { class: "space", r: SPACE }),
      isStart ? svg("text", {}, "S") : null,
    );
  }

  /** Returns a die or, with face 0, a pawn of a seat, around the origin; `mark` is the class of what is new. */
  function seatDie(seat, face, size, mark = "") {
    const place = `scale(${rounded(size / 20)}) translate(-10 -10)`;
    return svg("g", { transform: place }, die(face, `seat-${seat} ${mark}`, OUTLINES[seat]));
  }

  function pawnMark(seat, angle) {
    return placedAt(RING, angle, seatDie(seat, 0, 29), svg("text", { class: "pawn-number" }, seat));
  }

  /** Draws the way of a pawn from the space that it left, one arrow for each landing, with the die that was played. */
  function moveArrow(step, { seat, face, landings }, angles) {
    const stops = [pawn(step.previous.seats[seat]), ...landings].map((space) => angles[space]);
    const arrows = landings.map((_, index) => arrow(stops[index], after(stops[index], stops[index + 1])));
    return svg(
      "g",
      { class: `seat-${seat}` },
      placedAt(RING, stops[0], svg("circle", { class: "left-space", r: SPACE })),
      arrows,
      placedAt(ARROW + 13, (stops[0] + after(stops[0], stops[1])) / 2, seatDie(seat, face, 22)),
    );
  }

  /** Returns an angle, or the same one a turn later, so that it is after the other clockwise. */
  function after(from, to) {
    return from + ((to - from + 720) % 360 || 360);
  }

  function arrow(from, to) {
    const edge = RING + SPACE;
    const [first, last] = [from + 2, to - 2];
    const up = `M${point(edge + 2, first)} L${point(ARROW, first)}`;
    const tip = svg("path", { class: "arrow-tip", d: "M-7 -8 L0 2 L7 -8 Z", transform: `rotate(${rounded(last)})` });
    return [
      svg("path", { class: "arrow", d: `${up} ${arcTo(ARROW, first, last)} L${point(edge + 6, last)}` }),
      placedAt(edge, last, tip),
    ];
  }

  // --- The dice in an area

  /** Draws an area's dice, seat by seat, in the first stretch of the area. */
  function areaDice(step, move, area, stretches) {
    const stretch = stretches.find((each) => each.area === area);
    if (!stretch) {
      return null;
    }
    const fresh = move?.area === area ? newFaces(step, move) : step.view.seats.map(() => []);
    const dice = step.view.seats.flatMap((seat, number) => marked(number, facesIn(seat, area), fresh[number]));
    const mark = birthOf(step) ? "is-rolled" : "is-new";
    const { size, places } = placesFor(dice.length, stretch);
    return places.map(({ radius, angle }, index) => {
      const { seat, face, isNew } = dice[index];
      return placedAt(radius, angle, seatDie(seat, face, 0.82 * size, isNew ? mark : ""));
    });
  }

  /** Returns a seat's dice, with those marked that are new. */
  function marked(seat, faces, fresh) {
    const left = [...fresh];
    return faces.map((face) => {
      const index = left.indexOf(face);
      return { seat, face, isNew: index >= 0 && left.splice(index, 1).length > 0 };
    });
  }

  /** Returns places for some dice in a stretch, from left to right, and their size, which is as large as fits. */
  function placesFor(count, stretch) {
    let size = 38;
    let places = arcs(size, count, stretch);
    while (places.length < count) {
      size -= 1;
      places = arcs(size, count, stretch);
    }
    return { size, places: places.sort((one, other) => one.angle - other.angle) };
  }

  /** Returns places in arcs from the rim inwards, at most `count`. */
  function arcs(size, count, { from, to }) {
    const places = [];
    for (let radius = RIM - size / 2; radius >= HUB + size / 2; radius -= size) {
      const width = ((size / radius) * 180) / Math.PI;
      const fit = Math.min(count - places.length, Math.floor((to - from) / width - 0.3));
      for (let index = 0; index < fit; index += 1) {
        places.push({ radius, angle: (from + to) / 2 + width * (index - (fit - 1) / 2) });
      }
    }
    return places;
  }

  // --- Hands and points

  function handOf(step, match, move, seat) {
    const faces = hand(step.view.seats[seat]);
    const isRolled = move?.seat === seat && breakOf(step);
    const dice = faces.map((face) => smallDie(face, `seat-${seat} ${isRolled ? "is-rolled" : ""}`, OUTLINES[seat]));
    return html(
      "div",
      `board-seat seat-${seat} ${step.pending.includes(seat) ? "is-pending" : ""}`,
      html("p", "name-line", seatName(seat, match), tags(step, seat)),
      html("p", "dice-row", dice.length ? dice : "no dice left"),
    );
  }

  function pointsTable(step) {
    const caption = "Pips in areas 1 to 8; • is the most there, which scores as relative points";
    const heads = ["seat", ...AREAS, "absolute", "relative", "total"];
    const pips = pipsByArea(step.view);
    const rows = step.view.seats.map((seat, number) => pointsRow(step, pips, seat, number));
    return table("", caption, heads, rows);
  }

  function pointsRow(step, pips, seat, number) {
    const won = pips.map((each) => (isMost(each, number) ? each[number] : 0));
    const cells = pips.map((each, index) => {
      const [className, mark] = won[index] ? ["is-most", "•"] : ["", ""];
      return html("td", className, mark, each[number]);
    });
    return html(
      "tr",
      "",
      html("th", "", badge(number)),
      cells,
      html("td", "", absolute(seat)),
      html("td", "", sum(won)),
      html("td", "total", step.scores[number]),
    );
  }

  function turnWords({ view }) {
    const marks = "S: start; frame: just placed; dashed frame: rolled again";
    return `${view.turn ?? 0} of ${DICE * view.seats.length} turns are over. ${marks}.`;
  }

  arenaBoards["birth"] = (step, match) => {
    const move = moveOf(step);
    const hands = match.bots.map((_, seat) => handOf(step, match, move, seat));
    return html(
      "div",
      "board",
      summary(step, match, { duty: () => "must play a die", unit: "point", happened: happened(step, move) }),
      html(
        "div",
        "board-columns",
        html("div", "", ring(step, move), html("p", "muted", turnWords(step))),
        html("div", "", hands, pointsTable(step)),
      ),
    );
  };
})();
