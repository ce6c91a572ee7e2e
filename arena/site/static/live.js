// Keeps a page up to date: when the server says that something changed, it is asked for the page again, and those
// sections that differ are replaced. Scrolling and focus stay; without this script the page reads the same.
"use strict";

(() => {
  const source = document.currentScript.dataset.events;
  const sections = (page) => [...page.querySelectorAll("main > section[id]")];
  let shown = "";
  let asking = false;
  let again = false;

  async function update() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok && answer.headers.get("ETag") !== shown) {
        show(new DOMParser().parseFromString(await answer.text(), "text/html"));
        shown = answer.headers.get("ETag");
      }
    } catch {
      // the server was stopped, or is away for a moment: the stream of events says when it is back
    }
    asking = false;
    if (again) {
      again = false;
      setTimeout(update, 1000);
    }
  }

  // A section that was not there before comes in front of the one that follows it.
  function show(page) {
    let next = null;
    for (const fresh of sections(page).reverse()) {
      const section = document.getElementById(fresh.id);
      if (!section) {
        document.getElementById("main").insertBefore(fresh, next);
      } else if (fresh.innerHTML !== section.innerHTML && !isUsed(section)) {
        replace(section, fresh);
      }
      next = section ?? fresh;
    }
  }

  // A form that somebody fills in, and text that somebody selects, stay as they are.
  function isUsed(section) {
    const selection = document.getSelection();
    const types = section.contains(document.activeElement) && document.activeElement.matches("input, select");
    return types || (!selection.isCollapsed && section.contains(selection.anchorNode));
  }

  function replace(section, other) {
    const find = section.contains(document.activeElement) ? finder(document.activeElement, section) : () => null;
    const scrolled = [...section.querySelectorAll(".wide")].map((box) => box.scrollLeft);
    const open = [...section.querySelectorAll("details")].map((details) => details.open);
    section.replaceChildren(...other.childNodes);
    section.querySelectorAll(".wide").forEach((box, index) => (box.scrollLeft = scrolled[index] ?? 0));
    section.querySelectorAll("details").forEach((details, index) => (details.open = open[index] ?? false));
    find()?.focus({ preventScroll: true });
  }

  // Returns a function that finds the element again that has the focus: the same link, or what is in the same place.
  function finder(element, section) {
    const kind = element.hasAttribute("href") ? `a[href="${CSS.escape(element.getAttribute("href"))}"]` : element.localName;
    const place = [...section.querySelectorAll(kind)].indexOf(element);
    return () => section.querySelectorAll(kind)[place];
  }

  // A page that nobody sees does not listen: browsers have only six connections for all pages of a site together.
  // Whatever changed meanwhile is seen when the stream begins again.
  let events = null;

  function listen() {
    if (document.hidden) {
      events?.close();
      events = null;
    } else if (!events) {
      events = new EventSource(source);
      events.addEventListener("open", update);
      events.addEventListener("message", update);
      events.addEventListener("error", listenAgain);
    }
  }

  // A browser tries again by itself, but not after an answer that was no stream.
  function listenAgain() {
    if (events?.readyState === EventSource.CLOSED) {
      events = null;
      setTimeout(listen, 5000);
    }
  }

  document.addEventListener("visibilitychange", listen);
  listen();
})();
