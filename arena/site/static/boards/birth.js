// The board of BIRTH: the ring of spaces with the pawns and the last move, the dice in the five areas, and the points.
"use strict";

(function () {
  const { svg, html, picture, die, smallDie, diceRow, badge, seatName, seats, forfeitOf, summary, listed, counted } =
    arenaSvg;

  const AREAS = [1, 2, 3, 5, 8];
  const SPACES = 15;
  const DICE = 11;
  const OUTLINES = ["square", "round", "hexagon"]; // by seat: told apart without colours
  const FACE_NAMES = ["", "ones", "twos", "threes", "fours", "fives", "sixes"];

  // Sizes of the drawing, whose middle is (0, 0).
  const HALF = 236;
  const MOVE = 206; // radius of the arrows
  const RING = 174; // radius of the ring of spaces
  const SPACE = 18; // radius of a space
  const RIM = 150; // the dice of an area lie between these two
  const HUB = 64;

  // What the view says; fields with their default value are missing from it.

  const pawn = (seat) => seat.pawn || 0;
  const hand = (seat) => seat.hand || [];
  const start = (view) => view.start || 0;
  const turn = (view) => view.turn || 0;

  /** Returns the faces of a seat's dice in an area; the view has each die as 10 · area + face. */
  function facesIn(seat, area) {
    return (seat.placed || []).filter((die) => Math.floor(die / 10) === area).map((die) => die % 10);
  }

  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  function pips(view, area) {
    return view.seats.map((seat) => sum(facesIn(seat, area)));
  }

  function absolute(seat) {
    return sum((seat.placed || []).map((die) => Math.floor(die / 10)));
  }

  function relative(view, seat) {
    return sum(AREAS.map((area) => (isMost(pips(view, area), seat) ? pips(view, area)[seat] : 0)));
  }

  function isMost(sums, seat) {
    return sums[seat] > 0 && sums[seat] === Math.max(...sums);
  }

  // The move of this step

  /** Returns the move that led to this step; `landings` are the spaces it touched, of which the last is its goal. */
  function moveOf(step) {
    if (!step.previous) {
      return null;
    }
    const [{ seat, name, forfeited }] = step.choices;
    const face = Number(name.replace("play ", ""));
    const landings = landingsOf(step.previous.seats.map(pawn), seat, face);
    return { seat, face, forfeited, landings, area: step.view.areas[landings[landings.length - 1]] };
  }

  /** Returns where a pawn lands, jumping on from other pawns; it may come back to where it began, which is empty then. */
  function landingsOf(pawns, seat, face) {
    const landings = [(pawns[seat] + face) % SPACES];
    let last = landings[0];
    while (pawns.includes(last) && last !== pawns[seat]) {
      last = (last + face) % SPACES;
      landings.push(last);
    }
    return landings;
  }

  function rollOf(step, kind) {
    return step.rolls.find((roll) => roll.key.endsWith(kind));
  }

  /** Returns by seat the faces that are new in the area of the move: those that a Birth rolled, or the die placed. */
  function newFaces(step, move) {
    const birth = rollOf(step, "/birth");
    if (!birth) {
      return step.view.seats.map((_, seat) => (seat === move.seat ? [move.face] : []));
    }
    let given = 0;
    return step.previous.seats.map((before, seat) => {
      const equal = facesIn(before, move.area).filter((face) => face === move.face).length;
      const count = equal + (seat === move.seat ? 1 : 0);
      given += count;
      return birth.numbers.slice(given - count, given);
    });
  }

  function happened(step) {
    const move = moveOf(step);
    if (!move) {
      return ["All dice are rolled."];
    }
    const jumps = move.landings.length - 1;
    const who = `Seat ${move.seat}${move.forfeited ? ", which has forfeited," : ""}`;
    const over = jumps ? `, with ${counted(jumps, "jump")},` : "";
    return [`${who} played a ${move.face}${over} into area ${move.area}.`, ...birthWords(step, move), ...breakWords(step, move)];
  }

  function birthWords(step, move) {
    const birth = rollOf(step, "/birth");
    return birth
      ? [`Birth: the ${counted(birth.numbers.length, "die").replace("dies", "dice")} with a ${move.face} there were rolled again: ${listed(birth.numbers)}.`]
      : [];
  }

  function breakWords(step, move) {
    return rollOf(step, "/break") ? [`Break: the hand of seat ${move.seat} was rolled again.`] : [];
  }

  // The ring

  /** Returns the stretches of the ring that belong to one area, clockwise; the first begins where the area changes. */
  function stretchesOf(areas) {
    const first = areas.findIndex((area, space) => area !== areas[(space + SPACES - 1) % SPACES]);
    const stretches = [];
    for (let offset = 0; offset < SPACES; offset += 1) {
      const space = (Math.max(0, first) + offset) % SPACES;
      const last = stretches[stretches.length - 1];
      if (last && last.area === areas[space]) {
        last.spaces.push(space);
      } else {
        stretches.push({ area: areas[space], spaces: [space] });
      }
    }
    return withAngles(stretches);
  }

  /** Gives all stretches the same angle, since dice need room in an area with one space as well; the first is on top. */
  function withAngles(stretches) {
    const width = 360 / stretches.length;
    return stretches.map((stretch, index) => ({ ...stretch, from: width * (index - 0.5), to: width * (index + 0.5) }));
  }

  /** Returns the angle of every space, in degrees clockwise from the top. */
  function anglesOf(stretches) {
    const angles = [];
    for (const { spaces, from, to } of stretches) {
      spaces.forEach((space, index) => {
        angles[space] = from + ((to - from) * (index + 0.5)) / spaces.length;
      });
    }
    return angles;
  }

  function point(radius, angle) {
    const radians = (angle * Math.PI) / 180;
    return { x: round(radius * Math.sin(radians)), y: round(-radius * Math.cos(radians)) };
  }

  const round = (number) => Math.round(number * 100) / 100;
  const at = ({ x, y }) => `translate(${x} ${y})`;
  const pair = ({ x, y }) => `${x} ${y}`;

  function wedge({ area, from, to }) {
    const large = to - from > 180 ? 1 : 0;
    const edge = RING + SPACE + 5;
    const arc = `M0 0 L${pair(point(edge, from))} A${edge} ${edge} 0 ${large} 1 ${pair(point(edge, to))} Z`;
    return svg("path", { class: `wedge area-${area}`, d: arc });
  }

  /** Writes the number of an area near the middle, smaller where many stretches meet. */
  function areaNumber({ area, from, to }) {
    const scale = Math.min(1, (to - from) / 45);
    const transform = `${at(point(HUB - 24 * scale, (from + to) / 2))} scale(${round(scale)})`;
    return svg("text", { class: "area-number", transform }, String(area));
  }

  function space(view, number, angle) {
    const isStart = number === start(view);
    return svg(
      "g",
      { class: "space", transform: at(point(RING, angle)) },
      isStart ? svg("circle", { class: "start-ring", r: SPACE + 5 }) : null,
      svg("circle", { r: SPACE }),
      isStart ? svg("text", {}, "S") : null,
    );
  }

  function pawnMark(seat, number, angle) {
    return svg(
      "g",
      { class: `pawn seat-${number}`, transform: at(point(RING, angle)) },
      svg("g", { transform: "scale(1.45) translate(-10 -10)" }, die(0, `seat-${number}`, OUTLINES[number])),
      svg("text", {}, String(number)),
    );
  }

  // The arrow of a move: one arc for each jump

  function moveMarks(step, angles) {
    const move = moveOf(step);
    if (!move) {
      return null;
    }
    const from = pawn(step.previous.seats[move.seat]);
    const ends = [from, ...move.landings].map((space) => angles[space]);
    const arcs = move.landings.map((_, index) => hop(ends[index], ends[index + 1]));
    const played = point(MOVE + 13, middle(ends[0], ends[1]));
    return svg(
      "g",
      { class: `move seat-${move.seat}` },
      svg("circle", { class: "left-space", r: SPACE, transform: at(point(RING, ends[0])) }),
      arcs,
      svg("g", { transform: `${at(played)} translate(-11 -11) scale(1.1)` }, die(move.face, `seat-${move.seat}`, OUTLINES[move.seat])),
    );
  }

  const clockwise = (from, to) => (to - from + 720) % 360 || 360;
  const middle = (from, to) => from + clockwise(from, to) / 2;

  function hop(from, to) {
    const [first, last] = [from + 2, from + clockwise(from, to) - 2];
    const large = last - first > 180 ? 1 : 0;
    const edge = RING + SPACE;
    const arc = `A${MOVE} ${MOVE} 0 ${large} 1 ${pair(point(MOVE, last))}`;
    const line = `M${pair(point(edge + 2, first))} L${pair(point(MOVE, first))} ${arc} L${pair(point(edge + 6, last))}`;
    const tip = { d: "M-7 -8 L0 2 L7 -8 Z", transform: `${at(point(edge, last))} rotate(${round(last)})` };
    return [svg("path", { class: "hop", d: line }), svg("path", { class: "hop-tip", ...tip })];
  }

  // The dice in an area

  /** Returns places for so many dice between two angles, in arcs from the rim inwards, as small as they must be. */
  function slots(count, from, to) {
    for (let size = 38; ; size -= 1) {
      const places = arcs(size, count, from, to);
      if (places.length === count || size === 6) {
        return { size, places: places.sort((a, b) => a.angle - b.angle) };
      }
    }
  }

  function arcs(size, count, from, to) {
    const places = [];
    for (let radius = RIM - size / 2; radius >= HUB + size / 2; radius -= size) {
      const width = (size / radius) * (180 / Math.PI);
      const fit = Math.min(count - places.length, Math.floor((to - from) / width - 0.3));
      for (let index = 0; index < fit; index += 1) {
        places.push({ radius, angle: (from + to) / 2 + width * (index - (fit - 1) / 2) });
      }
    }
    return places;
  }

  function areaDice(step, { area, from, to }) {
    const move = moveOf(step);
    const fresh = move && move.area === area ? newFaces(step, move) : seats({ bots: step.view.seats }).map(() => []);
    const dice = step.view.seats.flatMap((seat, number) => marked(facesIn(seat, area), fresh[number], number));
    const { size, places } = slots(dice.length, from, to);
    return places.map((place, index) => areaDie(dice[index], size, place));
  }

  /** Returns a seat's dice with those marked that are new. */
  function marked(faces, fresh, seat) {
    const left = [...fresh];
    return faces.map((face) => {
      const found = left.indexOf(face);
      return { face, seat, isNew: found >= 0 && left.splice(found, 1).length > 0 };
    });
  }

  function areaDie({ face, seat, isNew }, size, { radius, angle }) {
    const scale = round((size * 0.82) / 20);
    const transform = `${at(point(radius, angle))} scale(${scale}) translate(-10 -10)`;
    return svg("g", { transform }, die(face, `seat-${seat} ${isNew ? "is-new" : ""}`, OUTLINES[seat]));
  }

  function ring(step) {
    const { view } = step;
    const stretches = stretchesOf(view.areas);
    const angles = anglesOf(stretches);
    const homes = AREAS.map((area) => stretches.find((stretch) => stretch.area === area)).filter(Boolean);
    const middle = { transform: `translate(${HALF} ${HALF})` };
    return picture(
      "birth-ring",
      2 * HALF,
      2 * HALF,
      ringLabel(view),
      svg("g", middle, [
        stretches.map(wedge),
        stretches.map(areaNumber),
        angles.map((angle, number) => space(view, number, angle)),
        moveMarks(step, angles),
        view.seats.map((seat, number) => pawnMark(seat, number, angles[pawn(seat)])),
        homes.map((stretch) => areaDice(step, stretch)),
      ]),
    );
  }

  function ringLabel(view) {
    const pawns = view.seats.map((seat, number) => {
      const gone = (pawn(seat) - start(view) + SPACES) % SPACES;
      return `pawn ${number} is ${counted(gone, "space")} from the start, in area ${view.areas[pawn(seat)]}`;
    });
    return `The ring: ${pawns.join("; ")}.`;
  }

  // Hands and points

  function handOf(step, match, seat) {
    const faces = hand(step.view.seats[seat]);
    const move = moveOf(step);
    const isNew = !step.previous || (move.seat === seat && rollOf(step, "/break"));
    const dice = faces.map((face) => smallDie(face, `seat-${seat} ${isNew ? "is-new" : ""}`, OUTLINES[seat]));
    return html(
      "div",
      `board-seat birth-hand seat-${seat} ${step.pending.includes(seat) ? "is-pending" : ""}`,
      html("p", "hand-of", seatName(seat, match), step.pending.includes(seat) ? html("span", "tag tag-to-play", "to play") : null,
        forfeitOf(step, seat) ? html("span", "tag tag-forfeited", "forfeited") : null),
      faces.length ? diceRow(`hand: ${faces.join(" ")}`, dice) : html("span", "muted", "no dice left"),
    );
  }

  function pointsTable(step, match) {
    const heads = ["seat", ...AREAS, "absolute", "relative", "total"];
    return html(
      "table",
      "board-points",
      html("caption", "", "Pips in areas 1 to 8; ● is the most there, which scores as relative points"),
      html("thead", "", html("tr", "", heads.map((head) => html("th", "", String(head))))),
      html("tbody", "", seats(match).map((seat) => pointsRow(step, seat))),
    );
  }

  function pointsRow({ view, scores }, seat) {
    const areas = AREAS.map((area) => {
      const sums = pips(view, area);
      return isMost(sums, seat) ? html("td", "is-most", `●${sums[seat]}`) : html("td", "", String(sums[seat]));
    });
    const points = [absolute(view.seats[seat]), relative(view, seat)].map((number) => html("td", "", String(number)));
    return html("tr", "", html("th", "", badge(seat)), areas, points, html("td", "total", scores[seat]));
  }

  arenaBoards["birth"] = function (step, match) {
    return html(
      "div",
      "board birth",
      summary(step, match, { duty: () => "plays a die", unit: "point", happened: happened(step) }),
      html(
        "div",
        "board-columns",
        html("div", "", ring(step), html("p", "muted", `Turn ${Math.min(turn(step.view) + 1, DICE * match.seats)} of ${DICE * match.seats}; S is the start space`)),
        html("div", "", seats(match).map((seat) => handOf(step, match, seat)), pointsTable(step, match)),
      ),
    );
  };
})();
