"use strict";
/* The flame graph, for its own page and for that of --serve. The data: names of frames, and for each set of samples its nodes
 * in the order of a walk, outer ones first. Names come from traced programs: they only ever become text nodes.
 *
 * id(name) gives the element of that name; chosen(name) is called when a set of samples is. */
function flamegraph(id, data, chosen) {
	const svgNS = "http://www.w3.org/2000/svg";
	const ROW = 18, KINDS = ["key", "user", "JIT", "kernel"];
	const HUES = [[220, 8], [28, 78], [95, 52], [205, 62]]; /* hue and saturation by kind */
	const step = data.diff ? 4 : 3;
	let set, current = 0, zoom = 0, pattern = null, icicle = false, widthsBefore = false;

	/* ---- from the list of nodes to columns ---- */
	function load(which) {
		const list = data.sets[which].nodes, n = list.length / step + 1;
		const s = { name: data.sets[which].name, unit: data.sets[which].unit, n, frame: new Int32Array(n), depth: new Int32Array(n),
			parent: new Int32Array(n), end: new Int32Array(n), now: new Float64Array(n), old: new Float64Array(n), deepest: 0 };
		const open = [0];
		s.frame[0] = -1;
		for (let i = 1, at = 0; i < n; i++, at += step) {
			const depth = list[at];
			s.depth[i] = depth;
			s.frame[i] = list[at + 1];
			s.now[i] = list[at + 2];
			s.old[i] = step === 4 ? list[at + 3] : 0;
			open.length = depth;
			s.parent[i] = open[depth - 1];
			open[depth] = i;
			s.deepest = Math.max(s.deepest, depth);
		}
		for (let i = n - 1; i >= 0; i--) {
			if (s.end[i] === 0) s.end[i] = i + 1;
			if (i === 0) break;
			const p = s.parent[i];
			s.now[p] += s.now[i];
			s.old[p] += s.old[i];
			s.end[p] = Math.max(s.end[p], s.end[i]);
		}
		return s;
	}

	const nameOf = (i) => i === 0 ? "all" : data.frames[set.frame[i]][0];
	const kindOf = (i) => i === 0 ? 0 : data.frames[set.frame[i]][1];
	const width = (i) => widthsBefore ? set.old[i] : set.now[i];
	const share = (part, whole) => whole ? (100 * part / whole).toFixed(part === whole ? 0 : 2) + "%" : "0%";
	const number = (v) => v.toLocaleString("en-US");

	function hash(text) {
		let h = 2166136261;
		for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
		return (h >>> 8) % 1000 / 1000;
	}

	/* How much more or less of the whole it is than before: -1 to 1. */
	function change(i) {
		const now = set.now[0] ? set.now[i] / set.now[0] : 0, old = set.old[0] ? set.old[i] / set.old[0] : 0;
		const most = Math.max(now, old);
		return most ? (now - old) / most : 0;
	}

	function colour(i) {
		if (pattern && i > 0 && pattern.test(nameOf(i))) return "var(--hit)";
		if (data.diff) {
			const c = change(i), light = 92 - 42 * Math.min(1, Math.abs(c));
			return Math.abs(c) < .005 ? "hsl(0 0% 86%)" : c > 0 ? `hsl(8 85% ${light}%)` : `hsl(214 80% ${light}%)`;
		}
		const [hue, sat] = HUES[kindOf(i)], h = hash(nameOf(i));
		return `hsl(${(hue + (h - .5) * 26).toFixed(0)} ${sat}% ${(64 + h * 16).toFixed(0)}%)`;
	}

	/* ---- drawing: what is at least half a pixel wide ---- */
	function draw() {
		const svg = id("graph"), wide = svg.clientWidth || 960;
		const scale = width(zoom) ? wide / width(zoom) : 0;
		const rows = [];
		let deepest = set.depth[zoom];
		const above = [];
		for (let i = zoom; i > 0;) {
			i = set.parent[i];
			above.unshift(i);
		}
		for (const i of above) rows.push([i, 0, wide, true]);
		const at = new Float64Array(set.deepest + 2); /* where the next one of a level begins */
		for (let i = zoom; i < set.end[zoom];) {
			const w = width(i) * scale, d = set.depth[i], x = at[d];
			at[d] += w;
			if (w < .5) {
				i = set.end[i];
				continue;
			}
			at[d + 1] = x;
			rows.push([i, x, w, false]);
			deepest = Math.max(deepest, d);
			i++;
		}
		const high = (deepest + 1) * ROW + 2;
		svg.setAttribute("height", high);
		svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
		const parts = document.createDocumentFragment();
		for (const [i, x, w, isAbove] of rows) {
			const y = icicle ? set.depth[i] * ROW + 1 : high - (set.depth[i] + 1) * ROW - 1;
			const g = document.createElementNS(svgNS, "g"), r = document.createElementNS(svgNS, "rect");
			g.dataset.node = i;
			g.setAttribute("tabindex", "0");
			g.setAttribute("role", "button");
			g.setAttribute("aria-label", nameOf(i));
			if (isAbove) g.setAttribute("class", "above");
			r.setAttribute("x", x.toFixed(2));
			r.setAttribute("y", y);
			r.setAttribute("width", Math.max(w, .5).toFixed(2));
			r.setAttribute("height", ROW);
			r.setAttribute("rx", 2);
			r.setAttribute("fill", colour(i));
			g.append(r);
			const letters = Math.floor((w - 6) / 7.3);
			if (letters >= 3) {
				const t = document.createElementNS(svgNS, "text"), whole = nameOf(i);
				const name = whole.length > letters ? whole.slice(whole.indexOf("`") + 1) : whole; /* the object is in the tooltip */
				t.setAttribute("x", (x + 4).toFixed(2));
				t.setAttribute("y", y + 13);
				t.textContent = name.length > letters ? name.slice(0, letters - 1) + "\u2026" : name;
				g.append(t);
			}
			parts.append(g);
		}
		svg.replaceChildren(parts);
		id("reset").disabled = zoom === 0;
		id("empty").hidden = set.n > 1;
		id("status").textContent = describe(zoom);
	}

	function describe(i) {
		let text = `${nameOf(i)}: ${number(set.now[i])} ${set.unit}, ${share(set.now[i], set.now[0])}`;
		if (data.diff)
			text += `; before: ${number(set.old[i])}, ${share(set.old[i], set.old[0])}`;
		return text;
	}

	/* ---- search: how much is below frames that match, each sample once ---- */
	function search() {
		const text = id("search").value;
		let sum = 0, hits = 0;
		pattern = null;
		if (text) {
			try {
				pattern = new RegExp(text, "i");
			} catch {
				pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
			}
			for (let i = 1; i < set.n;) {
				if (pattern.test(nameOf(i))) {
					sum += width(i);
					hits++;
					i = set.end[i];
				} else {
					i++;
				}
			}
		}
		id("found").textContent = pattern ? `${share(sum, width(0))} in ${number(hits)} place${hits === 1 ? "" : "s"}` : "";
		draw();
	}

	/* ---- what people do ---- */
	const nodeAt = (event) => {
		const g = event.target.closest && event.target.closest("g[data-node]");
		return g ? Number(g.dataset.node) : -1;
	};
	function zoomTo(i) {
		zoom = i;
		hide();
		draw();
	}
	function hide() { id("tip").style.display = "none"; }
	function show(event) {
		const i = nodeAt(event), tip = id("tip");
		if (i < 0) return hide();
		const name = document.createElement("b"), more = document.createElement("span");
		name.textContent = nameOf(i);
		more.textContent = describe(i).slice(nameOf(i).length + 2) + (i ? `; ${KINDS[kindOf(i)]}` : "");
		tip.replaceChildren(name, more);
		tip.style.display = "block";
		const box = tip.getBoundingClientRect();
		tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
		tip.style.top = (event.clientY + 18 + box.height > innerHeight ? Math.max(4, event.clientY - box.height - 10) : event.clientY + 18) + "px";
	}
	function toggle(button, value) { button.setAttribute("aria-pressed", String(value)); }

	id("graph").addEventListener("click", (e) => { if (nodeAt(e) >= 0) zoomTo(nodeAt(e)); });
	id("graph").addEventListener("keydown", (e) => { if (e.key === "Enter" && nodeAt(e) >= 0) zoomTo(nodeAt(e)); });
	id("graph").addEventListener("mousemove", show);
	id("graph").addEventListener("mouseleave", hide);
	id("reset").addEventListener("click", () => zoomTo(0));
	id("icicle").addEventListener("click", () => { icicle = !icicle; toggle(id("icicle"), icicle); draw(); });
	id("before").addEventListener("click", () => { widthsBefore = !widthsBefore; toggle(id("before"), widthsBefore); search(); });
	id("search").addEventListener("input", search);
	id("set").addEventListener("change", () => choose(Number(id("set").value)));
	addEventListener("resize", draw);

	function choose(which) {
		current = which;
		set = load(which);
		zoom = 0;
		search();
		chosen(set.name);
	}

	/* ---- newer data: the same set, and the same place as far as it still exists ---- */
	function path(i) {
		const names = [];
		for (; i > 0; i = set.parent[i]) names.unshift(nameOf(i));
		return names;
	}
	function find(names) {
		let at = 0;
		for (const name of names) {
			let i = at + 1;
			while (i < set.end[at] && nameOf(i) !== name) i = set.end[i];
			if (i >= set.end[at]) break;
			at = i;
		}
		return at;
	}
	function update(newer) {
		const name = set.name, names = path(zoom);
		data = newer;
		offer();
		current = Math.max(0, data.sets.findIndex((s) => s.name === name));
		id("set").value = current;
		set = load(current);
		zoom = set.name === name ? find(names) : 0;
		search();
	}
	function reset() {
		id("search").value = "";
		zoom = 0;
		search();
	}

	function legend() {
		const parts = data.diff ? [["hsl(8 85% 60%)", "more than before"], ["hsl(214 80% 60%)", "less"], ["hsl(0 0% 86%)", "as before"]]
			: KINDS.map((kind, i) => [`hsl(${HUES[i][0]} ${HUES[i][1]}% 70%)`, kind]);
		for (const [fill, text] of [...parts, ["var(--hit)", "found"]]) {
			const span = document.createElement("span"), box = document.createElement("i");
			box.style.background = fill;
			span.append(box, text);
			id("legend").append(span);
		}
	}

	/* The menu of sets. */
	function offer() {
		if (data.sets.length === 0) data.sets.push({ name: "nothing", unit: "", nodes: [] });
		id("set").replaceChildren(...data.sets.map((s, i) => {
			const o = document.createElement("option");
			o.value = i;
			o.textContent = s.name;
			return o;
		}));
		id("set").hidden = data.sets.length < 2;
	}

	legend();
	id("before").hidden = !data.diff;
	id("search").disabled = data.sets.length === 0;
	offer();
	choose(0);
	return { update, reset, isIcicle: () => icicle };
}
