"use strict";
/* The two charts of --serve, on a canvas: lines over time, and a heat map of distributions over time. Both draw what they are
 * given; the times are milliseconds, the last one at the right edge. */

const SPANS = [30000, 60000, 120000, 300000, 600000]; /* what the time axis may show, in ms */
const COLOURS = ["#3b82f6", "#f59e0b", "#10b981", "#ef4444", "#a855f7", "#64748b"];

const short = (v) => {
	const a = Math.abs(v);
	if (!isFinite(v)) return "";
	for (const [unit, size] of [["E", 1e18], ["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]])
		if (a >= size) return (v / size).toFixed(a >= 100 * size ? 0 : 1) + unit;
	return a === 0 || a >= 100 || Number.isInteger(v) ? v.toFixed(0) : v.toFixed(a >= 10 ? 1 : 2);
};

/* A cleared canvas in pixels of the screen, and the colours of the page. */
function begin(canvas) {
	const scale = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
	if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
		canvas.width = Math.round(w * scale);
		canvas.height = Math.round(h * scale);
	}
	const c = canvas.getContext("2d"), style = getComputedStyle(canvas);
	c.setTransform(scale, 0, 0, scale, 0, 0);
	c.clearRect(0, 0, w, h);
	c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
	return { c, w, h, dim: style.getPropertyValue("--dim"), line: style.getPropertyValue("--line"), dark: isDark() };
}

function isDark() {
	const root = document.documentElement;
	return root.classList.contains("dark") || (!root.classList.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
}

/* The box of a chart, its time axis drawn: as long as the times are, and not shorter than the first of SPANS. */
function frame(p, left, times) {
	const now = times[times.length - 1], past = now - times[0];
	const span = SPANS.find((s) => s >= past) || SPANS[SPANS.length - 1];
	const box = { x: left, y: 8, w: p.w - left - 6, h: p.h - 28, span, now };
	p.c.fillStyle = p.dim;
	p.c.textBaseline = "top";
	for (let i = 0; i <= 3; i++) {
		const s = span / 1000 * (3 - i) / 3;
		p.c.textAlign = i === 0 ? "left" : i === 3 ? "right" : "center";
		p.c.fillText(i === 3 ? "now" : `-${s} s`, box.x + box.w * i / 3, box.y + box.h + 5);
	}
	return box;
}

const xOf = (box, t) => box.x + box.w * (1 - (box.now - t) / box.span);

/* A round number not below v: 1, 2 or 5 and zeros. */
function roundUp(v) {
	const size = 10 ** Math.floor(Math.log10(v));
	return [1, 2, 5, 10].find((k) => k * size >= v) * size;
}

/* series: [{colour, values}], aligned with times; NaN: nothing then. */
function drawLines(canvas, times, series) {
	const p = begin(canvas), box = frame(p, 46, times);
	let most = 0, least = 0;
	for (const s of series)
		for (const v of s.values) {
			if (v > most) most = v;
			if (v < least) least = v;
		}
	const top = most > 0 ? roundUp(most) : least < 0 ? 0 : 1, bottom = least < 0 ? -roundUp(-least) : 0;
	const yOf = (v) => box.y + box.h * (1 - (v - bottom) / (top - bottom));
	p.c.textAlign = "right";
	p.c.textBaseline = "middle";
	for (let i = 0; i <= 2; i++) {
		const v = bottom + (top - bottom) * i / 2;
		p.c.strokeStyle = p.line;
		p.c.beginPath();
		p.c.moveTo(box.x, Math.round(yOf(v)) + .5);
		p.c.lineTo(box.x + box.w, Math.round(yOf(v)) + .5);
		p.c.stroke();
		p.c.fillText(short(v), box.x - 6, yOf(v));
	}
	p.c.save();
	p.c.beginPath();
	p.c.rect(box.x, 0, box.w + 4, p.h);
	p.c.clip();
	p.c.lineWidth = 1.6;
	p.c.lineJoin = "round";
	for (const s of series) {
		p.c.strokeStyle = p.c.fillStyle = s.colour;
		p.c.beginPath();
		s.values.forEach((v, i) => {
			if (isNaN(v)) return;
			const x = xOf(box, times[i]), y = yOf(v);
			if (i === 0 || isNaN(s.values[i - 1])) p.c.moveTo(x, y);
			else p.c.lineTo(x, y);
		});
		p.c.stroke();
		const last = s.values[s.values.length - 1];
		if (isNaN(last)) continue;
		p.c.beginPath();
		p.c.arc(xOf(box, box.now), yOf(last), 2.6, 0, 7);
		p.c.fill();
	}
	p.c.restore();
}

/* ---- heat maps ---- */

/* Dark is few on a dark page, light is few on a light one. */
function heat(share, dark) {
	const s = Math.sqrt(share);
	return dark ? `hsl(${(280 - 235 * s).toFixed(0)} 85% ${(22 + 42 * s).toFixed(0)}%)` : `hsl(${(50 - 60 * s).toFixed(0)} 90% ${(86 - 52 * s).toFixed(0)}%)`;
}

/* All bounds from the lowest to the highest; quantize() has one at every power of two, also where nothing is. */
function bounds(columns, isPower) {
	const found = new Set();
	for (const column of columns)
		if (column) for (const low of column.keys()) found.add(low);
	const list = [...found].sort((a, b) => a - b);
	if (!isPower || list.length === 0) return list;
	for (let low = list[0]; low < list[list.length - 1];) {
		found.add(low);
		low = low === -Infinity ? list[1] : low < -1 ? Math.ceil(low / 2) : low === -1 ? 0 : low === 0 ? 1 : low * 2;
	}
	return [...found].sort((a, b) => a - b);
}

/* columns: a Map of the lower bound of a bucket to its count for each time; null: none. Returns what is at a point. */
function drawHeat(canvas, times, columns, isPower) {
	const p = begin(canvas), box = frame(p, 46, times), now = box.now;
	const lows = bounds(columns, isPower), place = new Map(lows.map((low, i) => [low, i]));
	const high = lows.length ? box.h / Math.max(lows.length, 6) : box.h;
	const yOf = (i) => box.y + box.h - (i + 1) * high;
	let most = 0;
	for (const column of columns)
		if (column) for (const n of column.values()) most = Math.max(most, n);
	p.c.textAlign = "right";
	p.c.textBaseline = "middle";
	p.c.fillStyle = p.dim;
	const every = Math.max(1, Math.ceil(14 / high));
	lows.forEach((low, i) => {
		if (i % every === 0) p.c.fillText(low === -Infinity ? "below" : short(low), box.x - 6, yOf(i) + high / 2);
	});
	p.c.save();
	p.c.beginPath();
	p.c.rect(box.x, box.y, box.w, box.h);
	p.c.clip();
	columns.forEach((column, i) => {
		if (!column) return;
		const from = i ? times[i - 1] : times[i] - 1000, x = xOf(box, Math.max(from, times[i] - 5000));
		const w = Math.max(1.5, xOf(box, times[i]) - x);
		for (const [low, n] of column) {
			if (n <= 0) continue;
			p.c.fillStyle = heat(n / most, p.dark);
			p.c.fillRect(x, yOf(place.get(low)), w + .4, high - (high > 4 ? 1 : 0));
		}
	});
	p.c.restore();
	p.c.strokeStyle = p.line;
	p.c.strokeRect(box.x + .5, box.y + .5, box.w - 1, box.h - 1);
	return (x, y) => {
		const t = now - box.span * (1 - (x - box.x) / box.w), row = Math.floor((box.y + box.h - y) / high);
		const i = times.findIndex((time, k) => t <= time && t > (k ? times[k - 1] : time - 1000));
		if (i < 0 || row < 0 || row >= lows.length || !columns[i]) return "";
		const next = lows[row + 1];
		return `${columns[i].get(lows[row]) || 0} from ${short(lows[row])}${next === undefined ? "" : ` to ${short(next)}`}, ${Math.round((now - times[i]) / 1000)} s ago`;
	};
}
