// The hosted page's script: countdown, copying, and looking whether something changed. What a state
// looks like is drawn by the service alone; this puts the new drawing in the place of the old one.
"use strict";
(() => {
  const find = (selector) => document.querySelector(selector);
  const lost = find("#lost");
  const say = find("#say");
  let main = find("#main");
  let pace = JSON.parse(main.dataset.pace);
  let pause = pace.first;
  let next = 0;
  let looking = false;
  let looked = 0;
  let end = 0;
  let leaving = 0;
  let stayed = null;
  let ended = false;
  let warned = false;

  document.documentElement.dataset.scripted = "";

  function tell(text) {
    say.textContent = text;
  }

  // ---- asking

  async function ask(path, accept) {
    looked = Date.now();
    return await fetch(path, {
      headers: { accept },
      cache: "no-store",
      referrerPolicy: "no-referrer",
      redirect: "error",
      signal: AbortSignal.timeout(pace.timeout),
    });
  }

  async function look() {
    clearTimeout(next);
    if (document.hidden || main.dataset.poll === "none") return;
    if (looking) {
      lookLater();
      return;
    }
    looking = true;
    const most = main.dataset.poll === "status" ? pace.most : pace.patient;
    try {
      const isNew = await hasChanged() && await draw();
      connected(true);
      pause = isNew ? pace.first : Math.min(pause * pace.growth, most);
    } catch {
      connected(false);
      pause = Math.min(pause * 2, pace.patient);
    } finally {
      looking = false;
      lookLater();
    }
  }

  function lookLater() {
    clearTimeout(next);
    // a crowd of pages that were opened together spreads out
    next = setTimeout(look, pause * (0.85 + 0.3 * Math.random()));
  }

  /** Looks as soon as it may: not twice within a second, whatever happens in the browser. */
  function lookNow() {
    if (document.hidden) return;
    pause = pace.first;
    clearTimeout(next);
    next = setTimeout(look, Math.max(looked + 1000 - Date.now(), 0));
  }

  async function hasChanged() {
    if (main.dataset.poll !== "status") return true;
    const answer = await ask(main.dataset.statusPath, "application/json");
    if (answer.status === 410 || answer.status === 404) return true;
    if (!answer.ok) throw new Error(`Cannot read a status: ${answer.status}`);
    return await answer.text() !== main.dataset.status;
  }

  /** Fetches the page as it is now; tells whether it says something else. */
  async function draw() {
    const answer = await ask(location.href, "text/html");
    if (![200, 404, 410].includes(answer.status)) {
      throw new Error(`Cannot read the page: ${answer.status}`);
    }
    const text = await answer.text();
    const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("#main");
    if (fresh === null) throw new Error("Cannot read the page: it has no content");
    const { state, status, poll } = main.dataset;
    const isNew = fresh.dataset.state !== state || fresh.dataset.status !== status ||
      fresh.dataset.poll !== poll;
    if (isNew) replace(document.adoptNode(fresh));
    return isNew;
  }

  function replace(fresh) {
    const held = main.contains(document.activeElement) ? document.activeElement.id : null;
    main.replaceWith(fresh);
    main = fresh;
    start();
    tell(main.dataset.say ?? find("#title").textContent);
    // where the focus was is gone: the heading tells what came instead
    if (held !== null) (document.getElementById(held) ?? find("#title")).focus();
  }

  function connected(isConnected) {
    if (lost.hidden === isConnected) return;
    lost.hidden = isConnected;
    tell(isConnected ? lost.dataset.back : lost.textContent);
  }

  // ---- time

  function start() {
    end = Date.now() + Number(main.dataset.left ?? 0);
    ended = false;
    pace = main.dataset.pace === undefined ? pace : JSON.parse(main.dataset.pace);
    clearTimeout(leaving);
    const { go, goAfter, state } = main.dataset;
    if (go !== undefined) {
      if (state === stayed) find(".returning").remove();
      else leaving = setTimeout(leave, goAfter * 1000, go);
    }
    tick();
  }

  function leave(url) {
    // without a network what is said here would give way to the browser's error page
    if (navigator.onLine) location.assign(url);
    else leaving = setTimeout(leave, 1000, url);
  }

  function tick() {
    const shown = find("[data-countdown]");
    if (shown === null) return;
    const left = Math.max(end - Date.now(), 0);
    const seconds = Math.ceil(left / 1000);
    shown.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const isSoon = seconds <= 120;
    shown.closest(".time").classList.toggle("soon", isSoon);
    main.style.setProperty("--left", String(left / Number(main.dataset.life)));
    if (isSoon && !warned) {
      warned = true;
      if (seconds > 60) tell(shown.dataset.countdown);
    }
    if (left === 0 && !ended) {
      ended = true;
      lookNow();
    }
  }

  // ---- copying

  const labels = new WeakMap();

  async function copy(button) {
    const text = button.dataset.copy;
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // without https or permission: the old way, from a field that nobody sees
      const field = document.createElement("textarea");
      field.value = text;
      field.className = "unseen";
      document.body.append(field);
      field.select();
      isCopied = document.execCommand?.("copy") === true;
      field.remove();
      button.focus();
    }
    const label = button.lastElementChild;
    const said = isCopied ? button.dataset.copied : button.dataset.notCopied;
    button.dataset.label ??= label.textContent;
    label.textContent = said;
    tell(said);
    clearTimeout(labels.get(button));
    const back = () => label.textContent = button.dataset.label;
    labels.set(button, setTimeout(back, isCopied ? 2000 : 6000));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button === null) return;
    if (button.dataset.copy !== undefined) copy(button);
    if (button.id === "stay") {
      clearTimeout(leaving);
      stayed = main.dataset.state;
      button.parentElement.remove();
      find("#return").focus();
    }
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clearTimeout(next);
    else lookNow();
  });
  addEventListener("online", lookNow);
  // a page that asks nothing any more misses nothing
  addEventListener("offline", () => connected(main.dataset.poll === "none"));
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  start();
  setInterval(tick, 1000);
  lookLater();
})();
