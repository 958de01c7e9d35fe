/** Offsets on the wire count Unicode code points; JavaScript's strings count UTF-16 units. */

/** How many code points `text` has. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index += 1) {
    if (isLow(text.charCodeAt(index)) && isHigh(text.charCodeAt(index - 1))) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}

/** `text` without its first `count` code points. */
export function dropCodePoints(text: string, count: number): string {
  let index = 0;
  for (let dropped = 0; dropped < count && index < text.length; dropped += 1) {
    const pair = isHigh(text.charCodeAt(index)) && isLow(text.charCodeAt(index + 1));
    index += pair ? 2 : 1;
  }
  return text.slice(index);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
