"use strict";
/* The page of --serve.
 *
 * The stream brings frames (all aggregations at one moment) and events (lines of ndjson), after what has been before: the points of
 * the charts (cmd/serve_past.c), the last of which is that of the first frame. They are kept here, and drawn when the
 * browser is ready to; while the page is paused they are kept only. Keys and texts come from traced programs: they only ever
 * become text nodes. */

const HISTORY = 600, EVENTS = 5000, SHOWN_EVENTS = 300, FEW = 15, MANY = 1000, LINES = 6, HEATED = 50;
const id = (name) => document.getElementById(name);
const number = (v) => v.toLocaleString("en-US");
const aggs = new Map(); /* by id */
const events = [], clauses = new Map();
let paused = false, over = false, drawing = 0, counted = 0, lost = 0, pattern = null, start = null, graph = null, newest = null, unnamed = 0;

function make(tag, text, name) {
	const e = document.createElement(tag);
	if (text !== undefined) e.textContent = text;
	if (name) e.className = name;
	return e;
}

/* ---- frames ---- */

const isSum = (f) => f === "count" || f === "sum" || f === "avg" || f.endsWith("quantize");

function newAgg(a) {
	const agg = { id: a.id, rows: new Map(), times: [], total: [], sort: "value", down: true, all: false, selected: null };
	agg.card = make("section", undefined, "card agg");
	agg.title = make("h2");
	agg.table = make("table");
	agg.head = make("tr");
	agg.body = make("tbody");
	agg.more = make("button", "", "more");
	agg.figure = make("figure");
	agg.caption = make("figcaption");
	agg.canvas = make("canvas");
	const left = make("div"), scroll = make("div", undefined, "scroll"), top = make("thead");
	top.append(agg.head);
	agg.table.append(top, agg.body);
	scroll.append(agg.table);
	left.append(scroll, agg.more);
	agg.legend = make("div", undefined, "legend");
	agg.figure.append(agg.caption, agg.canvas, agg.legend);
	agg.card.append(agg.title, left, agg.figure);
	agg.more.addEventListener("click", () => { agg.all = !agg.all; draw(); });
	agg.canvas.addEventListener("mousemove", (e) => { agg.canvas.title = agg.at ? agg.at(e.offsetX, e.offsetY) : ""; });
	agg.body.addEventListener("click", (e) => {
		const tr = e.target.closest("tr");
		agg.selected = agg.selected === tr.dataset.key ? null : tr.dataset.key;
		draw();
	});
	id("aggs").append(agg.card);
	return agg;
}

function heading(agg) {
	const code = make("code", `@${agg.name}${agg.keys.length ? `[${agg.keys.join(", ")}]` : ""}`);
	const rest = agg.keys.length ? `: ${number(agg.n)} key${agg.n === 1 ? "" : "s"}` : "";
	agg.title.replaceChildren(code, make("span", ` ${agg.function}()${rest}`, "dim"));
}

function tableHead(agg) {
	const columns = [...agg.keys.map((k, i) => [`key${i}`, k, ""]), ["value", agg.function.endsWith("quantize") ? "values" : agg.function, "number"]];
	if (isSum(agg.function)) columns.push(["rate", "per s", "number"]);
	agg.head.replaceChildren(...columns.map(([name, text, kind]) => {
		const th = make("th", undefined, kind), button = make("button", text);
		th.dataset.name = name;
		button.addEventListener("click", () => {
			agg.down = agg.sort === name ? !agg.down : !name.startsWith("key");
			agg.sort = name;
			draw();
		});
		th.append(button);
		return th;
	}));
}

/* What a row counts: the rate is made of it. */
const added = (agg, r) => agg.function === "avg" ? r[3] || 0 : r[1];

function difference(now, before) {
	const column = new Map();
	for (const [low, , n] of now) column.set(low === null ? -Infinity : low, n);
	if (before) for (const [low, , n] of before) {
		const key = low === null ? -Infinity : low, left = (column.get(key) || 0) - n;
		if (left > 0) column.set(key, left);
		else column.delete(key);
	}
	return column;
}

function rowOf(agg, keys, before) {
	const key = keys.join("\u0000");
	if (!agg.rows.has(key)) agg.rows.set(key, { key, keys, text: keys.join(", "), history: [], heat: [], added: before, seen: 0 });
	return agg.rows.get(key);
}

function takeRow(agg, r) {
	const row = rowOf(agg, r[0], agg.times.length > 1 ? 0 : NaN);
	if (row.seen === newest) { /* another row that looks the same: a longer stack */
		row.value += r[1];
		row.sum += added(agg, r);
		return row;
	}
	row.seen = newest;
	row.value = r[1];
	row.before = row.added;
	row.sum = added(agg, r);
	row.beforeBuckets = row.buckets;
	row.buckets = r[2] || null;
	return row;
}

function trim(list, n) {
	if (list.length > n) list.splice(0, list.length - n);
}

function finishRows(agg, seconds) {
	const total = new Map(), again = seconds === 0;
	for (const [key, row] of agg.rows) {
		if (row.seen !== newest) { /* trunc() */
			agg.rows.delete(key);
			continue;
		}
		row.added = row.sum;
		if (again) { /* its point is there already */
			row.rate = isSum(agg.function) ? row.history.length ? row.history[row.history.length - 1] : NaN : row.value;
			continue;
		}
		row.rate = isSum(agg.function) ? Math.max(0, row.added - row.before) / seconds : row.value;
		row.history.push(isSum(agg.function) ? row.rate : row.value);
		trim(row.history, HISTORY);
		if (!row.buckets) continue;
		row.column = isNaN(row.before) ? new Map() : difference(row.buckets, row.beforeBuckets);
		for (const [low, n] of row.column) total.set(low, (total.get(low) || 0) + n);
	}
	if (again) return;
	agg.total.push(total);
	trim(agg.total, HISTORY);
	if (agg.function.endsWith("quantize"))
		sorted(agg).forEach((row, i) => { /* the history of every bucket of every row would be too much */
			if (i < HEATED || row.heat.length) row.heat.push([agg.times[agg.times.length - 1], row.column]);
			trim(row.heat, HISTORY);
		});
}

function aggOf(a) {
	const first = !aggs.has(a.id), agg = first ? newAgg(a) : aggs.get(a.id);
	aggs.set(a.id, agg);
	Object.assign(agg, { name: a.name, function: a.function, keys: a.keys, stack: a.stack, n: a.n });
	if (first) { /* the card is there at once, its rows when it is drawn */
		heading(agg);
		tableHead(agg);
	}
	return agg;
}

const columnOf = (pairs) => new Map(pairs.map(([low, n]) => [low === null ? -Infinity : low, n]));

/* The points of one chart. Where a row has none, nothing was added, or it was not there yet. */
function takePast(a) {
	const agg = aggOf(a), rows = new Map();
	agg.times = a.points.map((p) => p[0]);
	agg.total = a.points.map((p) => columnOf(p[1]));
	agg.rows = new Map();
	for (const [k, keys] of a.rows) rows.set(k, Object.assign(rowOf(agg, keys, NaN), { history: agg.times.map(() => NaN) }));
	a.points.forEach(([time, , list], i) => {
		for (const [k, v] of list) {
			const row = rows.get(k), column = Array.isArray(v) ? columnOf(v) : null;
			if (!row) continue;
			if (column) row.heat.push([time, column]);
			row.history[i] = column ? [...column.values()].reduce((x, y) => x + y, 0) * 1000 / (time - agg.times[i - 1]) : v;
		}
	});
	if (isSum(agg.function)) for (const row of rows.values()) {
		const from = row.history.findIndex((v) => !isNaN(v));
		row.history = row.history.map((v, i) => from >= 0 && i > from && isNaN(v) ? 0 : v);
	}
}

function onPast(e) {
	for (const a of JSON.parse(e.data)) takePast(a);
}

function onFrame(e) {
	const f = JSON.parse(e.data);
	newest = f;
	for (const a of f.aggs) {
		const agg = aggOf(a);
		const seconds = agg.times.length ? (f.time - agg.times[agg.times.length - 1]) / 1000 : NaN;
		if (seconds < 0) continue;
		if (seconds !== 0) agg.times.push(f.time);
		trim(agg.times, HISTORY);
		for (const r of a.rows) takeRow(agg, r);
		finishRows(agg, seconds);
	}
	showLoss(f);
	if (!over) setState(paused ? "paused" : "live");
	draw();
}

function showLoss(f) {
	const parts = [];
	if (f.drops) parts.push(`${number(f.drops)} drop${f.drops === 1 ? "" : "s"}: data was lost${f.drop ? ` (${f.drop.text})` : ""}`);
	if (f.faults) parts.push(`${number(f.faults)} error${f.faults === 1 ? "" : "s"} in the program`);
	id("loss").hidden = parts.length === 0;
	if (id("loss").textContent !== parts.join("; ")) id("loss").textContent = parts.join("; ");
}

/* ---- events ---- */

const frameText = (f) => f.helper || (f.symbol ? (f.module ? `${f.module}\`${f.symbol}` : f.symbol) : f.module || `0x${f.address.toString(16)}`);
function valueText(v) {
	if (v === null || v === undefined) return "";
	if (typeof v !== "object") return String(v);
	if (Array.isArray(v)) return v.map(valueText).join(", ");
	if (v.frames) return v.frames.map(frameText).join("\n");
	if (v.members) return `{${Object.entries(v.members).map(([name, x]) => `${name} ${valueText(x)}`).join(", ")}}`;
	if (v.address !== undefined) return frameText(v);
	return v.text !== undefined ? v.text : v.hex !== undefined ? v.hex : JSON.stringify(v);
}

const TEXTS = {
	record: (o) => o.output.map((x) => valueText(x.text !== undefined ? x.text : x.value)).join(" ").trimEnd(),
	fired: (o) => o.values.map((x) => valueText(Array.isArray(x) ? x[0] : x)).join(" ").trimEnd(), /* with option brief */
	aggregation: (o) => o.at === "exit" ? null : o.text !== undefined ? valueText(o.text).trimEnd()
		: `@${o.name === "_" ? "" : o.name}[${(o.keys || []).map(valueText).join(", ")}] ${o.value !== undefined ? o.value : `${o.buckets.length} buckets`}`,
	drop: (o) => o.text, fault: (o) => o.text, error: (o) => o.text, note: (o) => o.text, process: (o) => o.text,
};

function clock(ns) {
	if (!start || ns === undefined) return "";
	const d = new Date((start.wall + (ns - start.time)) / 1e6);
	return d.toTimeString().slice(0, 8) + "." + String(d.getMilliseconds()).padStart(3, "0");
}

function takeLine(line) {
	const o = JSON.parse(line);
	if (o.type === "start") start = start || o;
	if (o.type === "end") finish();
	if (o.type === "clause") clauses.set(o.clause, o.probe);
	const text = TEXTS[o.type] ? TEXTS[o.type](o) : null;
	if (text === null) return;
	const p = o.probe || clauses.get(o.clause);
	events.push({ type: o.type, time: clock(o.time), cpu: o.cpu === undefined ? "" : String(o.cpu), text: String(text),
		probe: p ? (p.function ? `${p.function}:${p.name}` : p.name) : o.type });
	counted++;
}

function onLog(e) {
	for (const line of e.data.split("\n")) {
		try {
			takeLine(line);
		} catch {
			lost++;
		}
	}
	trim(events, EVENTS);
	draw();
}

/* ---- drawing ---- */

const matches = (text) => !pattern || pattern.test(text);

function sorted(agg) {
	const k = agg.sort.startsWith("key") ? Number(agg.sort.slice(3)) : -1, way = agg.down ? -1 : 1;
	const compare = k < 0 ? (a, b) => a[agg.sort] - b[agg.sort] || 0 : (a, b) => a.keys[k].localeCompare(b.keys[k], undefined, { numeric: true });
	return [...agg.rows.values()].sort((a, b) => way * compare(a, b) || (a.text < b.text ? -1 : 1));
}

function put(cell, text) {
	if (cell.lastChild && cell.lastChild.nodeType === 3) {
		if (cell.lastChild.data !== text) cell.lastChild.data = text;
	} else {
		cell.append(text);
	}
}

function newLine(agg) {
	const tr = make("tr");
	agg.keys.forEach((_, i) => {
		const td = make("td", undefined, "key"), box = make("div");
		if (i === 0) box.append(make("i"));
		td.append(box);
		tr.append(td);
	});
	tr.append(make("td", undefined, "number value"));
	if (isSum(agg.function)) tr.append(make("td", undefined, "number"));
	agg.body.append(tr);
	return tr;
}

function drawTable(agg, rows) {
	const shown = rows.slice(0, agg.all ? MANY : FEW), most = rows.reduce((m, r) => Math.max(m, r.value), 0);
	while (agg.body.children.length > shown.length) agg.body.lastChild.remove();
	shown.forEach((row, i) => {
		const tr = agg.body.children[i] || newLine(agg), n = agg.keys.length;
		tr.dataset.key = row.key;
		tr.setAttribute("aria-selected", String(agg.selected === row.key));
		row.keys.forEach((k, j) => {
			put(tr.children[j].firstChild, k);
			tr.children[j].title = k.length > 40 ? k : "";
		});
		if (n) tr.children[0].firstChild.firstChild.style.background = row.colour || "transparent";
		put(tr.children[n], number(row.value));
		tr.children[n].style.setProperty("--share", most > 0 ? `${Math.max(0, 100 * row.value / most)}%` : "0%");
		if (tr.children[n + 1]) put(tr.children[n + 1], isNaN(row.rate) ? "" : short(row.rate));
	});
	for (const th of agg.head.children) th.setAttribute("aria-sort", th.dataset.name !== agg.sort ? "none" : agg.down ? "descending" : "ascending");
	agg.more.hidden = rows.length <= FEW;
	agg.more.textContent = agg.all ? "Show fewer" : `Show ${rows.length > MANY ? number(MANY) + " of " : "all "}${number(pattern ? rows.length : agg.n)}`;
}

function drawChart(agg, rows) {
	const chosen = agg.selected === null ? null : agg.rows.get(agg.selected);
	if (agg.function.endsWith("quantize")) {
		const heat = chosen ? new Map(chosen.heat) : null;
		agg.caption.textContent = `How often, by value and time: ${chosen ? chosen.text || "all" : "all keys"}`;
		agg.at = drawHeat(agg.canvas, agg.times, heat ? agg.times.map((t) => heat.get(t) || null) : agg.total, agg.function === "quantize");
		return;
	}
	const lines = chosen ? [chosen] : [...rows].sort((a, b) => b.rate - a.rate || b.value - a.value).slice(0, LINES);
	for (const row of agg.rows.values()) if (!lines.includes(row)) row.colour = null;
	const free = COLOURS.filter((c) => !lines.some((row) => row.colour === c)); /* a line keeps its colour while it is drawn */
	for (const row of lines) row.colour = row.colour || free.shift();
	agg.legend.replaceChildren(...(agg.keys.length ? lines : []).map((row) => {
		const span = make("span"), dot = make("i");
		dot.style.background = row.colour;
		span.append(dot, row.text);
		return span;
	}));
	agg.caption.textContent = (isSum(agg.function) ? agg.function === "sum" ? "Added per second" : "Per second" : "Value") + (chosen ? `: ${chosen.text}` : "");
	drawLines(agg.canvas, agg.times, lines.map((row) => ({ colour: row.colour, values: agg.times.map((_, i) => {
		const at = i - (agg.times.length - row.history.length);
		return at < 0 ? NaN : row.history[at];
	}) })));
}

function drawEvents() {
	const body = id("events").tBodies[0], shown = [];
	for (let i = events.length - 1; i >= 0 && shown.length < SHOWN_EVENTS; i--)
		if (matches(`${events[i].probe} ${events[i].text}`)) shown.push(events[i]);
	while (body.children.length > shown.length) body.lastChild.remove();
	shown.forEach((e, i) => {
		let tr = body.children[i];
		if (!tr) {
			tr = make("tr");
			for (let k = 0; k < 4; k++) tr.append(make("td"));
			body.append(tr);
		}
		if (tr.className !== e.type) tr.className = e.type;
		[e.time, e.cpu, e.probe, e.text].forEach((text, k) => put(tr.children[k], text));
	});
	id("counted").textContent = `${number(counted)}${lost ? `, ${number(lost)} not shown: too many` : ""}; newest first`;
}

function drawNow() {
	drawing = 0;
	for (const agg of aggs.values()) {
		const rows = sorted(agg).filter((row) => matches(row.text));
		heading(agg);
		drawChart(agg, rows);
		drawTable(agg, rows);
	}
	id("none").hidden = aggs.size > 0;
	drawEvents();
}

function draw(force) {
	if (drawing || (paused && !force)) return;
	drawing = requestAnimationFrame(drawNow);
}

/* ---- the flame graph ---- */

async function drawFlames() {
	const stacks = [...aggs.values()].filter((a) => a.stack).map((a) => `@${a.name}`);
	if (stacks.length === 0 || paused || over || document.hidden) return;
	if (newest.naming && unnamed++ < 5) return; /* it would take long: names are still being found */
	unnamed = 0;
	try {
		const page = await (await fetch("flamegraph.html")).text(); /* its data has no < */
		const data = JSON.parse(page.slice(page.lastIndexOf("id=\"data\">") + 10, page.lastIndexOf("</script>")));
		data.sets = data.sets.filter((s) => stacks.includes(s.name));
		id("flame").hidden = false;
		id("svg").disabled = false;
		if (graph) graph.update(data);
		else graph = flamegraph((name) => id("flame-" + name), data, (name) => { id("flame-title").textContent = `Flame graph of ${name}`; });
	} catch { /* the next time */ }
}

function saveSVG() {
	const svg = id("flame-graph"), copy = svg.cloneNode(true), style = getComputedStyle(svg);
	const from = svg.querySelectorAll("rect"), to = copy.querySelectorAll("rect"), link = make("a");
	from.forEach((r, i) => to[i].setAttribute("fill", getComputedStyle(r).fill));
	copy.querySelectorAll("text").forEach((t) => t.setAttribute("fill", "#16130e"));
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	copy.setAttribute("width", svg.clientWidth);
	copy.setAttribute("font-family", style.fontFamily);
	copy.setAttribute("font-size", style.fontSize);
	link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
	link.download = "flamegraph.svg";
	link.click();
	URL.revokeObjectURL(link.href);
}

/* ---- the connection ---- */

function setState(name, text) {
	id("state").className = name;
	id("state").textContent = text || name;
}

let stream = null;

function connect() {
	stream = new EventSource("stream");
	stream.addEventListener("hello", (e) => { /* all that is kept follows, also after a lost connection */
		events.length = counted = lost = 0;
		const text = JSON.parse(e.data).program;
		id("program").hidden = !text;
		id("program").lastElementChild.textContent = text;
	});
	stream.addEventListener("past", onPast);
	stream.addEventListener("frame", onFrame);
	stream.addEventListener("log", onLog);
	stream.addEventListener("lost", (e) => { lost += Number(e.data); });
	stream.onerror = () => {
		if (over) return;
		const closed = stream.readyState === EventSource.CLOSED;
		setState(closed ? "gone" : "waiting", closed ? "refused" : "connection lost, trying again");
	};
}

function finish() {
	drawFlames().then(() => {
		over = true;
		stream.close();
		setState("over", "tracing has ended");
	});
	stream.close();
}

/* ---- what people do ---- */

id("pause").addEventListener("click", () => {
	paused = !paused;
	cancelAnimationFrame(drawing); /* one that was about to come */
	drawing = 0;
	id("pause").setAttribute("aria-pressed", String(paused));
	id("pause").textContent = paused ? "Continue" : "Pause";
	if (!over && stream.readyState === EventSource.OPEN) setState(paused ? "paused" : "live");
	draw();
});
id("search").addEventListener("input", () => {
	const text = id("search").value;
	try {
		pattern = text ? new RegExp(text, "i") : null;
	} catch {
		pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
	}
	draw(true);
});
id("theme").addEventListener("click", () => {
	const dark = isDark();
	document.documentElement.classList.toggle("dark", !dark);
	document.documentElement.classList.toggle("light", dark);
	draw(true);
});
id("svg").addEventListener("click", saveSVG);
document.addEventListener("click", (e) => { if (!id("download").contains(e.target)) id("download").open = false; });
document.addEventListener("keydown", (e) => {
	if (e.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) {
		e.preventDefault();
		id("search").focus();
	}
});
addEventListener("resize", () => draw(true));
setInterval(drawFlames, 2000);
connect();
