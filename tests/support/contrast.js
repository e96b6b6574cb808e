// SPDX-License-Identifier: Apache-2.0
// Returns {n: number of visible texts, faint: texts whose contrast is less than the 4.5 to 1 that WCAG 2 requires}.
(() => {
	const LEAST = 4.5;

	// "rgb(1, 2, 3)", "rgba(1, 2, 3, 0.5)"
	const parse = (text) => {
		const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
		return {r, g, b, a};
	};
	const lay = (over, under) =>
		Object.fromEntries(["r", "g", "b"].map((key) => [key, over[key] * over.a + under[key] * (1 - over.a)]).concat([["a", 1]]));
	const behind = (element) => {
		const layers = [];
		for (let e = element; e; e = e.parentElement)
			layers.push(parse(getComputedStyle(e).backgroundColor));
		return layers.reduceRight((under, over) => lay(over, under), {r: 255, g: 255, b: 255, a: 1});
	};
	const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
	const brightness = ({r, g, b}) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
	const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

	const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
	const isSeen = (element) => element.checkVisibility() && !element.closest(".unseen, .skip, option, :disabled");
	const seen = [...document.querySelectorAll("body *")].filter((element) => hasText(element) && isSeen(element));
	const faint = seen.map((element) => {
		const ground = behind(element);
		const text = lay(parse(getComputedStyle(element).color), ground);
		return [contrast(brightness(text), brightness(ground)), element];
	}).filter(([value]) => value < LEAST);
	return {n: seen.length, faint: faint.map(([value, element]) => `${value.toFixed(2)} ${element.outerHTML.slice(0, 100)}`)};
})()
