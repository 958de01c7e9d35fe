// @vitest-environment happy-dom
import { render } from "preact";
import { afterEach, describe, expect, test } from "vitest";
import { readBlocks } from "./blocks";
import { Markdown } from "./Markdown";
import { renderBlock } from "./render";

const TAGS = new Set(
  ("A BLOCKQUOTE BR BUTTON CODE DEL DIV EM H3 H4 H5 H6 HR INPUT LI OL P PATH PRE SPAN STRONG SVG TABLE TBODY TD TH THEAD TR UL")
    .split(" "),
); // prettier-ignore
const ATTRIBUTES = new Set(
  "aria-hidden aria-label aria-live checked class d disabled focusable href rel start target title type viewbox".split(" "),
);

let root: HTMLElement;

function draw(text: string): HTMLElement {
  root = document.createElement("div");
  document.body.append(root);
  render(<div>{readBlocks(text).blocks.map(({ token }) => renderBlock(token))}</div>, root);
  return root;
}

afterEach(() => {
  render(null, root);
  root.remove();
});

const VECTORS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "text <svg/onload=alert(1)> text",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<a href='javascript:alert(1)'>x</a>",
  "<div style='position:fixed'>cover</div>",
  "<style>@import 'http://e'</style>",
  "<form action=//e><button>x",
  "[x](javascript:alert(1))",
  "[x](JAVASCRIPT&colon;alert(1))",
  "[x](java&#115;cript:alert(1))",
  "[x](<javascript:alert(1)>)",
  "[x](\tjavascript:alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x][y]\n\n[y]: javascript:alert(1)",
  "<javascript:alert(1)>",
  "![x](javascript:alert(1))",
  "![x](http://e/p.png \"onerror='alert(1)'\")",
  "![x](data:image/svg+xml,<svg onload=alert(1)>)",
  "[x](http://e 'a\" onmouseover=\"alert(1)')",
  "`<script>`",
  "```html\" onload=\"alert(1)\n<script>alert(1)</script>\n```",
  "| <img src=x onerror=alert(1)> |\n|---|\n| <b onclick=alert(1)>x</b> |",
  "- <details ontoggle=alert(1) open>",
  "> <math><mtext></mtext></math>",
  "<!-- --><script>alert(1)</script>",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "# <img src=x onerror=alert(1)>",
  "**<b onclick=alert(1)>**",
  "> ".repeat(200) + "<script>alert(1)</script>",
];

describe("render", () => {
  test.each(VECTORS)("makes nothing of %j but text and known elements", (text) => {
    for (const element of draw(text).querySelectorAll("*")) {
      expect(TAGS).toContain(element.tagName.toUpperCase());
      for (const { name, value } of element.attributes) {
        expect(ATTRIBUTES).toContain(name.toLowerCase());
        if (name === "href") expect(value).toMatch(/^(https?|mailto):/);
      }
    }
  });

  test("shows raw HTML as the text it is", () => {
    expect(draw("<script>alert(1)</script>").textContent).toBe("<script>alert(1)</script>");
    expect(draw("a <b onclick=x>b</b>").textContent).toBe("a <b onclick=x>b</b>");
  });

  test("makes a link of an image and loads nothing", () => {
    const link = draw("![a chart](https://e.example/c.png)").querySelector("a");
    expect(link?.getAttribute("href")).toBe("https://e.example/c.png");
    expect(link?.textContent).toBe("Image: a chart");
    expect(root.querySelector("img")).toBeNull();
  });

  test("opens links elsewhere, without a word of where they came from", () => {
    const link = draw("[x](https://e.example/)").querySelector("a");
    expect(link?.getAttribute("target")).toBe("_blank");
    expect(link?.getAttribute("rel")).toBe("noreferrer noopener");
  });

  test("renders what models write", () => {
    const text = "# T\n\na **b** *c* ~~d~~ `e &amp;` &amp; \\<\n\n1. x\n   - y\n- [x] z\n\n| a |\n|--:|\n| 1 |\n\n> q\n\n---\n\n```py\nx < 1\n```";
    const shown = draw(text);
    expect(shown.querySelector("h3")?.textContent).toBe("T");
    expect(shown.querySelector("p")?.textContent).toBe("a b c d e &amp; & <");
    expect(shown.querySelector("ol li ul li")?.textContent).toBe("y");
    expect(shown.querySelector<HTMLInputElement>("input")?.checked).toBe(true);
    expect(shown.querySelector("td")?.className).toBe("align-right");
    expect(shown.querySelector("blockquote")?.textContent).toBe("q");
    expect(shown.querySelector("pre")?.textContent).toBe("x < 1");
  });

  test("keeps the elements of finished blocks while the text grows, and links references at the end", () => {
    const text = "first\n\n[second][s]\n\nthird\n\nfourth";
    draw("");
    render(<Markdown text={text} growing />, root);
    const first = root.querySelector("p");
    render(<Markdown text={`${text} grows`} growing />, root);
    expect(root.querySelector("p")).toBe(first);
    expect(root.querySelector("a")).toBeNull();
    render(<Markdown text={`${text} grows\n\n[s]: https://e.example/`} growing={false} />, root);
    expect(root.querySelector("a")?.getAttribute("href")).toBe("https://e.example/");
  });
});
