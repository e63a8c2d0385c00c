/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The live page: asks for new samples, keeps the last minutes, draws a chart for each
 * event and metric that has numbers, and says why the others have none. */
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { left: 48, right: 10, top: 8, bottom: 20 };
  /* Events that count nanoseconds: shown as seconds. */
  const CLOCKS = new Set(["task-clock", "cpu-clock"]);
  const state = {
    data: null,     /* the last answer, without its samples */
    samples: [],    /* the oldest first */
    cards: [],
    seconds: 120,   /* that are shown */
    paused: false,
    cursor: null,   /* the time under the pointer */
    heard: 0,       /* when the last answer came */
  };

  const $ = (id) => document.getElementById(id);

  function element(name, attributes = {}, ...children) {
    const svg = ["svg", "path", "line", "text", "rect", "circle", "title"].includes(name);
    const made = svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  /* Numbers and times as people read them. */

  function format(value) {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size === 0) return "0";
    for (const [limit, suffix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
      if (size >= limit) return Number((value / limit).toPrecision(3)) + " " + suffix;
    return size >= 0.001 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
  }

  const clock = (time) => new Date(time).toLocaleTimeString([], { hour12: false });

  /* A round number at or above: 1, 2, 2.5 or 5 times a power of ten. */
  function roundUp(value) {
    if (!(value > 0)) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 2.5, 5, 10].find((step) => step * power >= value * 0.999999) * power;
  }

  /* Series: what a card draws. */

  function eventSeries(data, index) {
    const event = data.events[index];
    const factor = CLOCKS.has(event.event.replace(/:.*/, "")) ? 1e-9 : 1;
    const scaled = (value) => (value === null || value === undefined ? null : value * factor);
    const curves = [{ name: "all", of: (sample) => scaled(sample.rates[index]) }];
    if (state.samples.length && state.samples[0].units.length > 1)
      data.units.slice(0, state.samples[0].units.length).forEach((unit, u) => curves.push({
        name: "cpu " + unit.cpu,
        of: (sample) => scaled(sample.units[u] && sample.units[u][index]),
      }));
    return {
      id: "event-" + index,
      title: event.event + (event.pmu ? " (" + event.pmu + ")" : ""),
      about: event.about,
      unit: factor === 1 ? "per second" : "seconds per second",
      curves,
      typical: null,
      note: () => scalingNote(state.data.events[index]),
    };
  }

  function scalingNote(event) {
    if (event.scaling !== null && event.scaling < 0.9995)
      return "scaled: on a counter " + (100 * event.scaling).toFixed(1) + "% of the time";
    return event.user_only ? "user space only" : "";
  }

  function metricSeries(data, index) {
    const metric = data.metrics[index];
    return {
      id: "metric-" + index,
      title: metric.label,
      about: metric.about,
      unit: metric.unit,
      curves: [{ name: metric.label, of: (sample) => sample.metrics[index] }],
      typical: metric.typical,
      note: () => (metric.typical ? "typical: " + metric.typical.join(" to ") : ""),
    };
  }

  /* A card with its chart. */

  function makeCard(series) {
    const value = element("p", { class: "value" });
    const about = element("p", { class: "about" }, series.about || "");
    const tip = element("div", { class: "tip" });
    const svg = element("svg", { tabindex: "0", role: "img", "aria-label": series.title });
    tip.hidden = true;
    const root = element("article", { class: "card", id: series.id },
      element("h3", {}, series.title), about, value, svg, tip);
    const card = { series, root, svg, value, about, tip, shown: false };
    root.hidden = true;
    svg.addEventListener("pointermove", (event) => pointTo(card, event));
    svg.addEventListener("pointerleave", () => setCursor(null, card));
    svg.addEventListener("keydown", (event) => keyDown(card, event));
    svg.addEventListener("blur", () => setCursor(null, card));
    return card;
  }

  function build(data) {
    const events = data.events.map((_, i) => makeCard(eventSeries(data, i)));
    const metrics = data.metrics.map((_, i) => makeCard(metricSeries(data, i)));
    $("events").replaceChildren(...events.map((card) => card.root));
    $("metrics").replaceChildren(...metrics.map((card) => card.root));
    state.cards = [...metrics, ...events];
    const names = events.length ? events[0].series.curves.map((curve) => curve.name) : [];
    $("legend").replaceChildren(...names.map((name, i) =>
      element("span", { class: "s" + (i % 9) }, element("b", {}, name))));
    $("legend").hidden = names.length < 2;
  }

  /* Drawing. */

  function shownSamples() {
    if (!state.samples.length) return [];
    const from = state.samples[state.samples.length - 1].time - 1000 * state.seconds;
    /* one more, so that the curve comes in from the edge */
    const first = state.samples.findIndex((sample) => sample.time >= from);
    return state.samples.slice(Math.max(0, first - 1));
  }

  function frameOf(card, samples) {
    const width = card.svg.clientWidth || 400, height = card.svg.clientHeight || 150;
    let top = 0;
    for (const sample of samples)
      for (const curve of card.series.curves) top = Math.max(top, curve.of(sample) ?? 0);
    if (card.series.typical) top = Math.max(top, card.series.typical[1]);
    top = roundUp(top);
    const to = samples[samples.length - 1].time, from = to - 1000 * state.seconds;
    const inner = { width: width - MARGIN.left - MARGIN.right,
                    height: height - MARGIN.top - MARGIN.bottom };
    return {
      width, height, top, from, to,
      x: (time) => MARGIN.left + inner.width * (time - from) / (to - from),
      y: (value) => MARGIN.top + inner.height * (1 - value / top),
      timeAt: (x) => from + (x - MARGIN.left) / inner.width * (to - from),
    };
  }

  /* A curve is broken where there is no number. */
  function pathOf(curve, samples, frame) {
    let path = "", pen = "M";
    for (const sample of samples) {
      const value = curve.of(sample);
      if (value === null || value === undefined) {
        pen = "M";
        continue;
      }
      const x = Math.max(frame.x(sample.time), MARGIN.left);
      path += pen + x.toFixed(1) + " " + frame.y(value).toFixed(1);
      pen = "L";
    }
    return path;
  }

  function drawGrid(frame, parts) {
    for (const share of [0, 0.5, 1]) {
      const y = Math.round(frame.y(share * frame.top)) + 0.5;
      parts.push(element("line", { class: "grid", x1: MARGIN.left, y1: y,
                                   x2: frame.width - MARGIN.right, y2: y }),
        element("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" },
          format(share * frame.top)));
    }
    const step = 1000 * (state.seconds <= 60 ? 15 : state.seconds <= 120 ? 30 : 60);
    for (let time = Math.ceil(frame.from / step) * step; time <= frame.to; time += step) {
      const x = frame.x(time);
      parts.push(element("line", { class: "grid", x1: x, y1: frame.y(0), x2: x,
                                   y2: frame.y(0) + 4 }));
      if (x > MARGIN.left + 24 && x < frame.width - 30)
        parts.push(element("text", { x, y: frame.height - 4, "text-anchor": "middle" },
          clock(time)));
    }
  }

  function drawBand(card, frame, parts) {
    if (!card.series.typical) return;
    const [low, high] = card.series.typical.map(frame.y);
    parts.push(element("rect", { class: "band", x: MARGIN.left, y: high,
      width: Math.max(0, frame.width - MARGIN.left - MARGIN.right), height: low - high }));
  }

  function drawCursor(card, samples, frame, parts) {
    const sample = state.cursor === null ? null : nearest(samples, state.cursor);
    if (!sample || sample.time < frame.from) return;
    const x = frame.x(sample.time);
    parts.push(element("line", { class: "cursor", x1: x, y1: MARGIN.top, x2: x,
                                 y2: frame.y(0) }));
    card.series.curves.forEach((curve, i) => {
      const value = curve.of(sample);
      if (value !== null && value !== undefined)
        parts.push(element("circle", { class: "dot s" + (i % 9), cx: x, cy: frame.y(value),
                                       r: 4 }));
    });
  }

  function draw(card, samples) {
    const has = samples.some((sample) => card.series.curves[0].of(sample) !== null);
    card.root.hidden = !has;
    if (!has) return;
    const frame = frameOf(card, samples), parts = [];
    drawBand(card, frame, parts);
    drawGrid(frame, parts);
    /* the sum last, so that it lies above */
    [...card.series.curves.keys()].reverse().forEach((i) =>
      parts.push(element("path", { class: "curve s" + (i % 9),
                                   d: pathOf(card.series.curves[i], samples, frame) })));
    drawCursor(card, samples, frame, parts);
    card.frame = frame;
    card.svg.setAttribute("viewBox", "0 0 " + frame.width + " " + frame.height);
    card.svg.replaceChildren(...parts);
    const last = card.series.curves[0].of(samples[samples.length - 1]);
    card.value.replaceChildren(format(last) + " ", element("small", {}, card.series.unit));
    const note = card.series.note();
    const about = (card.series.about || "").replace(/\.$/, "");
    card.about.textContent = [about, note].filter(Boolean).join("; ");
    card.svg.setAttribute("aria-label", card.series.title + ": now " + format(last) + " " +
      card.series.unit + ", at most " + format(frame.top) + " on this chart");
  }

  function drawAll() {
    const samples = shownSamples();
    if (!samples.length) return;
    for (const card of state.cards) draw(card, samples);
    for (const kind of ["events", "metrics"])
      $(kind + "-section").hidden = !$(kind).querySelector(".card:not([hidden])");
  }

  /* The cursor: in all charts at the same time, with the values in the one it is in. */

  function nearest(samples, time) {
    let best = null;
    for (const sample of samples)
      if (!best || Math.abs(sample.time - time) < Math.abs(best.time - time)) best = sample;
    return best;
  }

  function setCursor(time, card) {
    state.cursor = time;
    for (const other of state.cards) other.tip.hidden = true;
    if (time !== null) showTip(card);
    drawAll();
  }

  function showTip(card) {
    const sample = nearest(shownSamples(), state.cursor);
    if (!sample || !card.frame) return;
    card.tip.replaceChildren(element("p", { class: "quiet" }, clock(sample.time)),
      ...card.series.curves.map((curve, i) => element("p", {},
        element("span", { class: "key s" + (i % 9) }), curve.name + " ",
        element("b", {}, format(curve.of(sample))))),
      element("p", { class: "quiet" }, card.series.unit));
    card.tip.hidden = false;
    const chart = card.svg.getBoundingClientRect(), box = card.root.getBoundingClientRect();
    const x = chart.left - box.left + card.frame.x(sample.time);
    const left = x + 12 + card.tip.offsetWidth > card.root.clientWidth
      ? x - 12 - card.tip.offsetWidth : x + 12;
    card.tip.style.left = Math.max(0, left) + "px";
    card.tip.style.top = chart.top - box.top + "px";
  }

  function pointTo(card, event) {
    if (!card.frame) return;
    const box = card.svg.getBoundingClientRect();
    setCursor(card.frame.timeAt(event.clientX - box.left), card);
  }

  function keyDown(card, event) {
    const samples = shownSamples();
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    if (event.key === "Escape") return setCursor(null, card);
    if (!(event.key in steps) || !samples.length) return undefined;
    event.preventDefault();
    const at = state.cursor === null ? samples.length - 1
      : samples.indexOf(nearest(samples, state.cursor));
    const next = Math.min(Math.max(at + steps[event.key], 0), samples.length - 1);
    setCursor(samples[next].time, card);
    $("spoken").textContent = card.series.title + " at " + clock(samples[next].time) + ": " +
      format(card.series.curves[0].of(samples[next])) + " " + card.series.unit;
    return undefined;
  }

  /* Words. */

  function showMissing(data) {
    const reasons = new Map();
    const add = (name, why) => reasons.set(why, [...(reasons.get(why) || []), name]);
    for (const event of data.events) if (event.why) add(event.event, event.why);
    for (const unit of data.units) if (!unit.up && unit.cpu >= 0) add("cpu " + unit.cpu, unit.why);
    /* a metric lacks what an event lacks: its own reason begins with the event's name */
    const known = new Set(data.events.filter((e) => e.why).map((e) => e.event));
    for (const metric of data.metrics)
      if (metric.why && !known.has(metric.why.split(":")[0])) add(metric.label, metric.why);
    $("missing").replaceChildren(...[...reasons].map(([why, names]) =>
      element("tr", {}, element("td", {}, names.join(", ")), element("td", {}, why))));
    $("missing-section").hidden = reasons.size === 0;
  }

  function showValues(data) {
    const last = state.samples[state.samples.length - 1];
    if (!last || !$("values-section").open) return;
    const row = (name, value, unit, share) => element("tr", {}, element("td", {}, name),
      element("td", { class: "number" }, value), element("td", {}, unit),
      element("td", { class: "number" }, share));
    const share = (value) => (value === null ? "–" : (100 * value).toFixed(1) + "%");
    $("values").replaceChildren(
      ...data.events.map((event, i) => row(event.event,
        last.rates[i] === null ? "not counted" : format(last.rates[i]), "per second",
        share(event.scaling))),
      ...data.metrics.map((metric, i) => row(metric.label,
        last.metrics[i] === null ? "not known" : format(last.metrics[i]), metric.unit, "")));
  }

  function showWords(data) {
    document.title = data.target + " – strata";
    $("target").textContent = data.target;
    $("about").textContent = data.processor + ", every " + data.interval + " s";
    $("version").textContent = "strata " + data.version;
    $("gone").hidden = data.up;
    $("gone").textContent = data.up ? "" : data.why + ". The charts stay as they are.";
    showMissing(data);
    showValues(data);
  }

  function showStatus(text) {
    if ($("status").textContent !== text) $("status").textContent = text;
  }

  /* Asking. */

  function take(data) {
    const fresh = !state.data || state.data.started !== data.started;
    if (fresh) state.samples = [];
    state.samples.push(...data.samples);
    state.samples.splice(0, Math.max(0, state.samples.length - data.kept));
    delete data.samples;
    const grown = state.data && (state.data.events.length !== data.events.length ||
      state.data.units.length !== data.units.length);
    /* the curves of units are known with the first sample */
    if ((fresh || grown || !state.cards.length) && state.samples.length) {
      state.data = data;
      build(data);
    }
    state.data = data;
    state.heard = Date.now();
    showWords(data);
    if (!state.paused) drawAll();
  }

  async function ask() {
    const last = state.samples.length ? state.samples[state.samples.length - 1].number : 0;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 10000);
    try {
      const answer = await fetch("data.json?after=" + last, { signal: stop.signal });
      if (!answer.ok) throw new Error("status " + answer.status);
      const data = await answer.json();
      /* strata was started anew: its samples begin again */
      if (state.data && data.started !== state.data.started && last) {
        state.samples = [];
        state.data = null;
        clearTimeout(timer);
        return ask();
      }
      take(data);
      showStatus(state.paused ? "paused" : data.up ? "live" : "ended");
    } catch {
      showStatus("no answer from strata" +
        (state.heard ? " since " + clock(state.heard) : "") + "; trying again");
    }
    clearTimeout(timer);
    return undefined;
  }

  async function run() {
    await ask();
    const interval = state.data ? state.data.interval : 1;
    setTimeout(run, 1000 * Math.min(Math.max(interval, 0.25), 5));
  }

  /* Controls. */

  const THEMES = ["system", "light", "dark"];

  function setTheme(theme) {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    $("theme").textContent = "Theme: " + theme;
    try {
      localStorage.setItem("strata-theme", theme);
    } catch { /* kept for this page only */ }
  }

  function savedTheme() {
    try {
      const theme = localStorage.getItem("strata-theme");
      return THEMES.includes(theme) ? theme : "system";
    } catch {
      return "system";
    }
  }

  $("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || "system";
    setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
  });
  $("pause").addEventListener("click", () => {
    state.paused = !state.paused;
    $("pause").setAttribute("aria-pressed", String(state.paused));
    $("pause").textContent = state.paused ? "Go on" : "Pause";
    if (!state.paused) drawAll();
    showStatus(state.paused ? "paused" : "live");
  });
  $("windows").addEventListener("change", (event) => {
    state.seconds = Number(event.target.value);
    drawAll();
  });
  $("values-section").addEventListener("toggle", () => state.data && showValues(state.data));
  window.addEventListener("resize", drawAll);

  setTheme(savedTheme());
  run();
})();
