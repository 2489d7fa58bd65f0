// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Draws the charts of a report from the page's own data. Text from the data goes into the page as text only.
"use strict";
(() => {
	const charts = JSON.parse(document.getElementById("kdp-data").textContent);
	const dashes = [[], [9, 4], [2, 3], [10, 3, 2, 3], [5, 2], [14, 4], [1, 2], [6, 2, 1, 2, 1, 2]];
	const shapes = ["circle", "square", "triangle", "diamond"];
	const svgNs = "http://www.w3.org/2000/svg";
	const height = 264;

	const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const seriesColor = (index) => color(`--s${index % 8}`);

	function element(tag, parent, className, text) {
		const made = document.createElement(tag);
		if (className) made.className = className;
		if (text !== undefined) made.textContent = text;
		if (parent) parent.append(made);
		return made;
	}
	function svg(tag, parent, attributes) {
		const made = document.createElementNS(svgNs, tag);
		for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
		if (parent) parent.append(made);
		return made;
	}

	// Four significant digits, thousands grouped.
	function format(value) {
		const size = Math.abs(value);
		const digits = value === 0 || size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : size >= 0.99995 ? 3 : 4;
		return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
	}
	// On an axis: no more digits than there are.
	const formatTick = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 6 });

	function shapePath(index, x, y, r) {
		switch (shapes[index % shapes.length]) {
		case "square": return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
		case "triangle": return `M${x} ${y - 1.2 * r}L${x + 1.2 * r} ${y + r}L${x - 1.2 * r} ${y + r}z`;
		case "diamond": return `M${x} ${y - 1.35 * r}L${x + 1.35 * r} ${y}L${x} ${y + 1.35 * r}L${x - 1.35 * r} ${y}z`;
		default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
		}
	}

	// The line, the dash and the marker of a series, as in the charts.
	function swatch(index) {
		const made = svg("svg", null, { viewBox: "0 0 22 10", "aria-hidden": "true" });
		made.classList.add("swatch", `s${index % 8}`);
		svg("line", made, { x1: 0, y1: 5, x2: 22, y2: 5, "stroke-width": 2, "stroke-dasharray": dashes[index % dashes.length].join(" ") });
		svg("path", made, { d: shapePath(index, 11, 5, 3.2), stroke: "none" });
		return made;
	}
	for (const place of document.querySelectorAll("[data-swatch]"))
		place.prepend(swatch(Number(place.dataset.swatch)));

	function niceLogTicks(low, high) {
		const ticks = [];
		for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
			for (const step of [1, 2, 5]) {
				const value = step * 10 ** power;
				if (value >= low && value <= high) ticks.push(value);
			}
		return ticks;
	}
	function niceTicks(high) {
		const rough = high / 5;
		const power = 10 ** Math.floor(Math.log10(rough));
		const step = power * [1, 2, 2.5, 5, 10].find((s) => s * power >= rough);
		return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => i * step);
	}

	function bounds(series, log) {
		let low = Infinity, high = 0;
		for (const one of series)
			one.y.forEach((y, i) => {
				if (y === null) return;
				low = Math.min(low, y);
				high = Math.max(high, y + (one.half[i] ?? 0));
			});
		if (!Number.isFinite(low)) return [0, 1];
		return log ? [low / 1.25, high * 1.15] : [0, high * 1.08 || 1];
	}

	// Whiskers and markers, over uPlot's lines.
	function drawPoints(u, series, halves) {
		const { ctx } = u;
		const ratio = devicePixelRatio || 1;
		ctx.save();
		ctx.beginPath();
		ctx.rect(u.bbox.left - 8, u.bbox.top - 8, u.bbox.width + 16, u.bbox.height + 16);
		ctx.clip();
		series.forEach((one, s) => {
			ctx.strokeStyle = ctx.fillStyle = seriesColor(one.color);
			ctx.lineWidth = 1.25 * ratio;
			u.data[s + 1].forEach((y, i) => {
				if (y === null || y === undefined) return;
				const x = u.valToPos(u.data[0][i], "x", true);
				const half = halves[s][i];
				if (half) {
					const top = u.valToPos(y + half, "y", true);
					const low = y - half > u.scales.y.min ? u.valToPos(y - half, "y", true) : u.bbox.top + u.bbox.height;
					const cap = 4 * ratio;
					ctx.beginPath();
					ctx.moveTo(x, top);
					ctx.lineTo(x, low);
					ctx.moveTo(x - cap, top);
					ctx.lineTo(x + cap, top);
					ctx.moveTo(x - cap, low);
					ctx.lineTo(x + cap, low);
					ctx.stroke();
				}
				ctx.fill(new Path2D(shapePath(one.color, x, u.valToPos(y, "y", true), 3.2 * ratio)));
			});
		});
		ctx.restore();
	}

	function showTip(u, tip, chart, series, halves, labels) {
		const i = u.cursor.idx;
		if (i === null || i === undefined || u.cursor.left < 0) {
			tip.hidden = true;
			return;
		}
		tip.replaceChildren();
		element("b", tip, "", labels[i]);
		series.forEach((one, s) => {
			const y = u.data[s + 1][i];
			if (y === null || y === undefined) return;
			const row = element("div", tip);
			const name = element("span", row, "", one.name);
			name.prepend(swatch(one.color));
			const half = halves[s][i];
			element("span", row, "", half ? `${format(y)} ± ${format(half)}` : format(y));
		});
		tip.hidden = false;
		const left = u.bbox.left / devicePixelRatio + u.cursor.left;
		const room = u.width - tip.offsetWidth;
		tip.style.left = `${Math.max(0, Math.min(room, left + 14 + tip.offsetWidth > u.width ? left - tip.offsetWidth - 14 : left + 14))}px`;
		tip.style.top = "12px";
	}

	// The variant's series on one x axis: uPlot wants them aligned. x come as places on a linear axis.
	function aligned(series) {
		const xs = [...new Set(series.flatMap((one) => one.x))].sort((a, b) => a - b);
		const pick = (one, what) => xs.map((x) => {
			const i = one.x.indexOf(x);
			return i < 0 ? null : one[what][i];
		});
		return { xs, ys: series.map((one) => pick(one, "y")), halves: series.map((one) => pick(one, "half")) };
	}

	function drawLines(chart, variant, plot, width) {
		const { xs, ys, halves } = aligned(variant.series);
		const [low, high] = bounds(variant.series, chart.y.log);
		const labels = xs.map((x) => {
			const tick = chart.x.ticks.find((t) => t.at === x);
			return `${chart.x.label}: ${tick ? tick.label : x}`;
		});
		const span = Math.max(xs.at(-1) - xs[0], 0.001);
		// Labels that would touch are left out; the first one stays.
		const ticks = [];
		for (const tick of chart.x.ticks) {
			if (tick.at < xs[0] || tick.at > xs.at(-1)) continue;
			const room = ((tick.at - (ticks.at(-1)?.at ?? -Infinity)) / span) * (width - 110);
			if (room > 5 + 3.8 * (tick.label.length + (ticks.at(-1)?.label.length ?? 0))) ticks.push(tick);
		}
		const yTicks = chart.y.log ? niceLogTicks(low, high) : niceTicks(high);
		const font = `12px ${getComputedStyle(document.body).fontFamily}`;
		const axis = {
			stroke: color("--soft"), font, labelFont: font, labelGap: 2,
			grid: { stroke: color("--grid"), width: 1 }, ticks: { show: false },
		};
		const tip = element("div", plot, "tip");
		tip.hidden = true;
		new uPlot({
			width, height,
			padding: [10, 14, 0, 0],
			legend: { show: false },
			cursor: { points: { show: false }, drag: { x: false, y: false }, y: false },
			scales: {
				x: { time: false, range: () => (xs.length === 1 ? [xs[0] - 0.5, xs[0] + 0.5] : [xs[0] - span * 0.02, xs.at(-1) + span * 0.02]) },
				y: { distr: chart.y.log ? 3 : 1, range: () => [low, high] },
			},
			axes: [
				{ ...axis, grid: { show: false }, label: chart.x.label, labelSize: 20, size: 26,
					splits: () => ticks.map((tick) => tick.at), values: () => ticks.map((tick) => tick.label) },
				{ ...axis, label: chart.y.label, labelSize: 20,
					size: (u, values) => 14 + 7 * Math.max(1, ...(values ?? []).map((v) => v.length)),
					splits: () => yTicks, filter: (u, splits) => splits, values: (u, splits) => splits.map(formatTick) },
			],
			series: [{}, ...variant.series.map((one) => ({
				label: one.name, stroke: seriesColor(one.color), width: 1.75, dash: dashes[one.color % dashes.length],
				spanGaps: true, points: { show: false },
			}))],
			hooks: {
				draw: [(u) => drawPoints(u, variant.series, halves)],
				setCursor: [(u) => showTip(u, tip, chart, variant.series, halves, labels)],
			},
		}, [xs, ...ys], plot);
	}

	// Patterns over the colours, so that parts can be told apart without them.
	function addPatterns(root, id) {
		const defs = svg("defs", root, {});
		const draw = (name, d) => {
			const pattern = svg("pattern", defs, { id: `${id}-${name}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" });
			svg("path", pattern, { d, stroke: color("--paper"), "stroke-width": 1.4, fill: "none" });
		};
		draw("diagonal", "M-1 1l2 -2M0 6l6 -6M5 7l2 -2");
		draw("back", "M-1 5l2 2M0 0l6 6M5 -1l2 2");
		draw("upright", "M3 0v6");
	}
	const patternOf = [null, "upright", null, "diagonal", null, "back", null, "diagonal"];

	function drawPart(root, id, box, kind) {
		svg("rect", root, { ...box, fill: color(`--c${kind}`) });
		if (patternOf[kind]) svg("rect", root, { ...box, fill: `url(#${id}-${patternOf[kind]})` });
	}

	function drawStack(chart, variant, plot, width) {
		const rowHeight = 46, bar = 20, bottom = 44;
		const high = Math.max(...variant.bars.map((one) => one.parts.reduce((sum, part) => sum + part.value, 0)), 1e-9) * 1.14;
		const tall = variant.bars.length * rowHeight + bottom;
		const root = svg("svg", plot, { viewBox: `0 0 ${width} ${tall}`, height: tall, role: "img", "aria-label": `${chart.title}; the figures are in the tables` });
		const id = `${chart.id}-fill`;
		addPatterns(root, id);
		const at = (value) => (value / high) * (width - 14) + 1;
		const label = (x, y, text, anchor, fill, weight) => {
			svg("text", root, { x, y, "text-anchor": anchor, fill: color(fill), "font-size": 12, "font-weight": weight ?? 400, style: "font-variant-numeric: tabular-nums" }).textContent = text;
		};
		for (const tick of niceTicks(high)) {
			svg("line", root, { x1: at(tick), x2: at(tick), y1: 0, y2: tall - bottom + 2, stroke: color("--grid") });
			label(at(tick), tall - bottom + 18, formatTick(tick), tick === 0 ? "start" : "middle", "--soft");
		}
		label(width / 2, tall - 6, chart.y.label, "middle", "--soft");
		variant.bars.forEach((one, row) => {
			const y = row * rowHeight + 18;
			label(1, y - 4, one.name, "start", "--ink");
			let sum = 0;
			for (const part of one.parts) {
				drawPart(root, id, { x: at(sum), y, width: Math.max(0, at(sum + part.value) - at(sum) - 0.75), height: bar }, part.kind);
				sum += part.value;
			}
			label(at(sum) + 6, y + 14.5, format(sum), "start", "--ink", 600);
		});
	}

	function stackLegend(chart, variant, list) {
		const used = new Set(variant.bars.flatMap((one) => one.parts.map((part) => part.kind)));
		chart.kinds.forEach((kind) => {
			if (!used.has(kind.index)) return;
			const item = element("li", list, "", kind.name);
			const sample = svg("svg", null, { viewBox: "0 0 22 10", "aria-hidden": "true" });
			sample.classList.add("swatch");
			const id = `${chart.id}-legend${kind.index}`;
			addPatterns(sample, id);
			drawPart(sample, id, { x: 0, y: 0, width: 22, height: 10 }, kind.index);
			item.prepend(sample);
		});
	}

	function draw(chart) {
		const figure = document.getElementById(chart.id);
		const variant = chart.variants[Number(figure.querySelector("select")?.value ?? 0)];
		const plot = figure.querySelector(".plot");
		const legend = figure.querySelector(".legend");
		plot.replaceChildren();
		legend.replaceChildren();
		const width = Math.floor(plot.clientWidth);
		if (!variant || width < 50) return;
		if (chart.kind === "stack") {
			drawStack(chart, variant, plot, width);
			stackLegend(chart, variant, legend);
			return;
		}
		drawLines(chart, variant, plot, width);
		for (const one of variant.series) element("li", legend, "", one.name).prepend(swatch(one.color));
	}

	const drawAll = () => charts.forEach(draw);
	for (const chart of charts) {
		const figure = document.getElementById(chart.id);
		figure.querySelector("select")?.addEventListener("change", () => draw(chart));
		let width = 0;
		new ResizeObserver(() => {
			const now = Math.floor(figure.querySelector(".plot").clientWidth);
			if (now !== width) draw(chart);
			width = now;
		}).observe(figure);
	}
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

	// On paper: light, and nothing folded away.
	addEventListener("beforeprint", () => {
		document.documentElement.dataset.theme = "light";
		for (const fold of document.querySelectorAll("details:not([open])")) {
			fold.open = true;
			fold.dataset.opened = "";
		}
		drawAll();
	});
	addEventListener("afterprint", () => {
		delete document.documentElement.dataset.theme;
		for (const fold of document.querySelectorAll("details[data-opened]")) {
			fold.open = false;
			delete fold.dataset.opened;
		}
		drawAll();
	});
	drawAll();
})();
