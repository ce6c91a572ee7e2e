// Tells the steps of a match: the board after a step, and what happened in it, for the viewer and for who plays.
"use strict";

/**
 * Returns the functions that tell the steps of a match with `game`, `title`, `seats`, `bots` and `options`; `seat` is
 * that of the reader, who plays in it and has no clock.
 */
var arenaTold = (match) => {
  const { html, seatName, seatNames } = arenaSvg;

  const player = (seat) => seatName(seat, match);

  // Who plays is called "you", also in the replay of the match.
  const isReader = (seat) => seat === match.seat || match.bots[seat] === "you";

  // Lines that may be wider than the page; they can be focused, so that keys scroll them.
  const preformatted = (text) => Object.assign(html("pre", "", text), { tabIndex: 0 });

  // --- What happened

  function happened(step) {
    return [
      ...(step.number === 0 ? [html("p", "", "The match begins.")] : []),
      ...step.choices.map(choice),
      ...step.events.map((event) => html("p", "event", event)),
      ...step.rolls.map(roll),
      ...step.printed.flatMap(printed),
    ];
  }

  function choice({ seat, name, forfeited, ms }) {
    const says = forfeited ? " has forfeited; played for it: " : ` ${isReader(seat) ? "choose" : "chooses"} `;
    const time = forfeited || seat === match.seat ? "" : ` in ${ms.toFixed(1)} ms`;
    return html("p", "", player(seat), says, html("strong", "", name), html("span", "time", time));
  }

  function roll({ key, numbers, bounds }) {
    const dice = numbers.flatMap((number) => [" ", html("span", bounds ? "draw" : "die", number)]);
    return html("p", "roll", bounds ? "Draw " : "Dice ", html("code", "", key), dice);
  }

  function printed({ seat, lines }) {
    return [html("p", "", player(seat), " printed"), preformatted(lines.join("\n"))];
  }

  // --- The board of a game that no script draws: whose turn it is, who is ahead, and the picture for terminals

  function picture(step) {
    return html("div", "", html("p", "turn", turn(step)), preformatted(step.picture));
  }

  // A match of a game that hides something has no scores while it is played.
  function turn({ over, pending, leaders, scores }) {
    const first = leaders.length ? seatNames(leaders, match) : "nobody";
    if (over) {
      return html("span", "", "The match is over. First: ", first);
    }
    const lead = scores.length ? [html("span", "", "Lead: ", first)] : [];
    return [html("span", "", "Turn: ", seatNames(pending, match)), ...lead];
  }

  const board = arenaBoards[match.game] ?? picture;

  return { draw: (step) => board(step, match), happened };
};
