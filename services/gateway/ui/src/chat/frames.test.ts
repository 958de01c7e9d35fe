// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FrameBatch } from "./frames";

const handed: number[][] = [];
let frames = true;

beforeEach(() => {
  handed.length = 0;
  frames = true;
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => (frames ? Number(setTimeout(draw, 16)) : 0));
  vi.stubGlobal("cancelAnimationFrame", (id: number) => {
    clearTimeout(id);
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const batch = () => new FrameBatch<number>((items) => handed.push([...items]));

test("the first items come with the next frame, those of the meantime together", () => {
  const items = batch();
  items.add([1]);
  items.add([2, 3]);
  vi.advanceTimersByTime(17);
  expect(handed).toEqual([[1, 2, 3]]);
});

test("a fast stream is handed over in order, at most 25 times a second, and nothing is lost", () => {
  const items = batch();
  for (let number = 0; number < 1_000; number += 1) {
    items.add([number]);
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(100);
  expect(handed.flat()).toEqual(Array.from({ length: 1_000 }, (_, number) => number));
  expect(handed.length).toBeLessThanOrEqual(26);
  expect(handed.length).toBeGreaterThan(10);
});

test("a hidden tab, which gets no frames, is served all the same", () => {
  frames = false;
  const items = batch();
  items.add([1]);
  vi.advanceTimersByTime(301);
  expect(handed).toEqual([[1]]);
});

test("what was forgotten never comes", () => {
  const items = batch();
  items.add([1]);
  items.clear();
  vi.advanceTimersByTime(1_000);
  expect(handed).toEqual([]);
});
