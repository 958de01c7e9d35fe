/** Character references in Markdown text (CommonMark 6.2), without the browser's HTML parser. */

// Those that models write. Any other name stays as it was written, which is what a person would want to see anyway.
const NAMED: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", hellip: "…",
  mdash: "—", ndash: "–", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", bull: "•",
  middot: "·", deg: "°", plusmn: "±", times: "×", divide: "÷", frac12: "½", sup2: "²", sup3: "³", micro: "µ",
  para: "¶", sect: "§", euro: "€", pound: "£", yen: "¥", cent: "¢", larr: "←", uarr: "↑", rarr: "→", darr: "↓",
  harr: "↔", rArr: "⇒", lArr: "⇐", infin: "∞", ne: "≠", le: "≤", ge: "≥", asymp: "≈", sum: "∑", radic: "√",
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", lambda: "λ", mu: "μ", pi: "π", sigma: "σ", omega: "ω",
}; // prettier-ignore

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,31}));/g;

/** Replaces the references in `text` by the characters they stand for. */
export function decodeEntities(text: string): string {
  return text.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    return fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}

function fromCodePoint(value: number): string {
  const valid = value > 0 && value <= 0x10ffff && !(value >= 0xd800 && value <= 0xdfff);
  return valid ? String.fromCodePoint(value) : "\ufffd";
}
