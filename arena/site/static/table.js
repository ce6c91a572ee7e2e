// Plays a match: shows what the table tells, offers the choices, and sends the one that was made. The table tells all
// that there is to show whenever it changes, so nothing is lost when the page is loaded again.
"use strict";

(() => {
  const { html } = arenaSvg;
  const at = (id) => document.getElementById(id);
  const address = at("match").dataset.address;
  const MOST_KEYS = 9;

  let tell = null;
  let state = {};
  let choices = [];
  let known = [];

  // --- What is shown

  function show(now) {
    const isNew = now.question?.number !== state.question?.number;
    state = now;
    at("match").hidden = false;
    at("leave").hidden = Boolean(now.end);
    if (now.match && now.step) {
      showStep(now);
    }
    if (isNew) {
      offer(now.question ?? { number: "", choices: [] });
    }
    at("state").textContent = headline(now);
    if (now.end) {
      showEnd(now.end);
    }
    say();
  }

  function showStep({ match, step, number, previous, news }) {
    tell ??= arenaTold({ ...match, seats: match.bots.length });
    const first = number - news.length + 1;
    const steps = news.map((each, index) => ({ ...each, number: first + index, printed: [] }));
    remember(steps);
    at("board").replaceChildren(tell.draw({ ...step, number, previous, earlier: known.slice(0, -1) }));
    at("happened").replaceChildren(...steps.flatMap(tell.happened));
    at("news").hidden = false;
  }

  // A board may look back beyond the seat's last choice, where what the table tells begins; but never over a gap.
  function remember(steps) {
    const before = known.filter(({ number }) => number < steps[0].number);
    const isGap = before.at(-1)?.number !== steps[0].number - 1;
    known = [...(isGap ? [] : before), ...steps];
  }

  function headline({ match, step, question, end }) {
    if (end) {
      return end.kept ? "The match is over" : "The match has ended, and is not kept";
    }
    if (!step) {
      return "The bots are starting …";
    }
    const others = step.pending.filter((seat) => seat !== match.seat).map((seat) => match.bots[seat]);
    return question ? "Your turn" : `Waiting for ${others.join(", ") || "the dice"} …`;
  }

  function showEnd({ told, kept }) {
    at("told").replaceChildren(...told.map((line) => html("p", "", line)));
    at("replay").hidden = !kept;
    at("replay").firstChild.href = `/unrated/${kept?.replace("unrated-", "")}`;
    at("end").hidden = false;
    events?.close();
  }

  // A screen reader hears only what matters: a question with what led to it, and the end.
  let last = "";

  function say() {
    const words = state.question ? `Your turn, ${choices.length} choices. ${at("happened").innerText}` : "";
    const now = state.end ? `The match is over. ${at("told").innerText}` : words;
    if (now && now !== last) {
      last = now;
      at("said").textContent = now;
    }
  }

  // --- The choices

  function offer(question) {
    keepFocus();
    choices = question.choices.map((choice, index) => ({ ...choice, number: index + 1 }));
    at("choices").hidden = choices.length === 0;
    at("actions").dataset.question = question.number;
    at("actions").replaceChildren(...choices.map((choice) => html("li", "", button(choice))));
    at("typed").value = "";
    narrow();
  }

  // What has the focus is about to go: Tab is to go on from near there.
  function keepFocus() {
    if (at("choices").contains(document.activeElement)) {
      at("state").focus({ preventScroll: true });
    }
  }

  function button(choice) {
    const made = html("button", "", html("span", "key", choice.number), " ", choice.name);
    made.type = "button";
    made.addEventListener("click", () => choose(choice));
    return made;
  }

  // Shows the choices that may be meant by what is typed: their numbers or names begin with it.
  function narrow() {
    const wanted = typed();
    const begins = (text) => String(text).toLowerCase().startsWith(wanted);
    const found = choices.filter(({ name, number }) => begins(name) || begins(number));
    [...at("actions").children].forEach((item, index) => (item.hidden = !found.includes(choices[index])));
    at("hint").textContent = found.length ? "" : "No choice begins like this.";
    return found;
  }

  const typed = () => at("typed").value.trim().toLowerCase().replaceAll(/\s+/g, " ");

  // As in a terminal: a whole name, a number, or the beginning of one choice alone.
  function enter(event) {
    event.preventDefault();
    const found = narrow();
    const named = choices.find(({ name }) => name.toLowerCase() === typed());
    const numbered = choices.find(({ number }) => String(number) === typed());
    const meant = named ?? numbered ?? (found.length === 1 ? found[0] : null);
    if (meant) {
      choose(meant);
    } else if (found.length) {
      at("hint").textContent = "Type more: several choices begin like this.";
    }
  }

  async function choose({ action }) {
    const body = new URLSearchParams({ question: state.question.number, action });
    keepFocus();
    usable(false);
    try {
      const answer = await fetch(`${address}/choice`, { method: "POST", body });
      if (!answer.ok) {
        refused(await answer.text());
      }
    } catch {
      refused("This could not be sent. Try again.");
    }
  }

  function refused(why) {
    at("hint").textContent = why;
    usable(true);
  }

  function usable(yes) {
    at("actions")
      .querySelectorAll("button")
      .forEach((button) => (button.disabled = !yes));
  }

  // --- Keys

  function pressed(event) {
    const { key, target } = event;
    if (event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    if (key === "?") {
      event.preventDefault();
      at("keys").open = !at("keys").open;
    } else if (key === "Escape" && target === at("typed")) {
      at("typed").value = "";
      narrow();
    } else if (target !== at("typed") && choices.length) {
      begin(event);
    }
  }

  // The letters of a name, and the digits of many choices, are typed into the field, wherever the focus was.
  function begin(event) {
    const isDigit = /^[0-9]$/.test(event.key);
    if (isDigit && choices.length <= MOST_KEYS) {
      digit(event);
    } else if (isDigit || /^\p{L}$/u.test(event.key)) {
      at("typed").focus();
    }
  }

  function digit(event) {
    event.preventDefault();
    const meant = choices.find(({ number }) => String(number) === event.key);
    if (meant && !event.repeat) {
      choose(meant);
    }
  }

  // --- The connection. A page that nobody sees does not listen: browsers have only six connections for all pages of a
  // site together. When it listens again it is told all that there is.

  let events = null;

  function listen() {
    if (document.hidden || state.end) {
      events?.close();
      events = null;
    } else if (!events) {
      events = new EventSource(`${address}/events`);
      events.addEventListener("open", () => (at("lost").hidden = true));
      events.addEventListener("message", ({ data }) => show(JSON.parse(data)));
      events.addEventListener("error", lost);
    }
  }

  // A browser tries again by itself, but not after an answer that was no stream.
  async function lost() {
    at("lost").hidden = false;
    if (events.readyState === EventSource.CLOSED) {
      events = null;
      const answer = await fetch(address).catch(() => null);
      if (answer?.status === 404) {
        gone();
      } else {
        setTimeout(listen, 5000);
      }
    }
  }

  function gone() {
    at("lost").replaceChildren(html("p", "", "The site does not have this match any more: it is over."));
    ["choices", "leave"].forEach((id) => (at(id).hidden = true));
  }

  at("match").hidden = false;
  at("typed").addEventListener("input", narrow);
  at("filter").addEventListener("submit", enter);
  document.addEventListener("keydown", pressed);
  document.addEventListener("visibilitychange", listen);
  listen();
})();
