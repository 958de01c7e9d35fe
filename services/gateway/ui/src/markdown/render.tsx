/**
 * Markdown tokens to elements: a fixed set of tags, no HTML strings, nothing fetched.
 *
 * Raw HTML is shown as the text it is. An image is a link to it: loading it would tell a server that a model chose
 * that this reply was read, and could carry what the chat knows in its address.
 */
import type { ComponentChildren, VNode } from "preact";
import type { MarkedToken, Token, Tokens } from "marked";
import { visible } from "../text/visible";
import { CodeBlock } from "./CodeBlock";
import { decodeEntities } from "./entities";
import { safeHref } from "./links";

// Deeper than any text for people goes; below that the source is shown.
const MAX_DEPTH = 24;

/** One block as elements. */
export function renderBlock(token: Token, depth = 0): ComponentChildren {
  if (depth > MAX_DEPTH) return token.raw;
  // The reader is used without extensions, so that every token is one of its own.
  const known = token as MarkedToken;
  switch (known.type) {
    case "heading":
      return heading(known, depth);
    case "paragraph":
      return <p>{inline(known.tokens, depth)}</p>;
    case "code":
      return <CodeBlock text={known.text} language={known.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{known.tokens.map((child) => renderBlock(child, depth + 1))}</blockquote>;
    case "list":
      return list(known, depth);
    case "table":
      return table(known, depth);
    case "hr":
      return <hr />;
    case "html":
      return known.block ? <p class="raw-html">{known.raw.trimEnd()}</p> : known.raw;
    case "space":
    case "def":
      return null;
    default:
      return renderInline(known, depth);
  }
}

function inline(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  return tokens?.map((token) => renderInline(token, depth + 1));
}

function renderInline(token: Token, depth: number): ComponentChildren {
  if (depth > MAX_DEPTH) return token.raw;
  const known = token as MarkedToken;
  switch (known.type) {
    case "text":
      return known.tokens ? inline(known.tokens, depth) : decodeEntities(known.text);
    case "escape":
      return known.text;
    case "strong":
      return <strong>{inline(known.tokens, depth)}</strong>;
    case "em":
      return <em>{inline(known.tokens, depth)}</em>;
    case "del":
      return <del>{inline(known.tokens, depth)}</del>;
    case "codespan":
      return <code>{known.text}</code>;
    case "br":
      return <br />;
    case "link":
      // In an autolink nothing is decoded: what stands there is the address.
      if (known.autolink) return link(known.href, known.text);
      return link(decodeEntities(known.href), inline(known.tokens, depth));
    case "image":
      return link(decodeEntities(known.href), <span class="image-link">Image: {decodeEntities(known.text) || "without a title"}</span>);
    case "html":
      return known.raw;
    case "checkbox":
      return checkbox(known.checked);
    case "def":
    case "space":
      return null;
    default:
      return renderBlock(known, depth + 1);
  }
}

function link(target: string, children: ComponentChildren): ComponentChildren {
  const href = safeHref(target);
  if (href === null) return children;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" title={visible(href)}>
      {children}
    </a>
  );
}

function heading(token: Tokens.Heading, depth: number): VNode {
  const children = inline(token.tokens, depth);
  // The page's own headings end at the second level.
  if (token.depth <= 1) return <h3>{children}</h3>;
  if (token.depth === 2) return <h4>{children}</h4>;
  return token.depth === 3 ? <h5>{children}</h5> : <h6>{children}</h6>;
}

function list(token: Tokens.List, depth: number): VNode {
  const items = token.items.map((item, index) => (
    <li key={index} class={item.task ? "task" : undefined}>
      {item.tokens.map((child) => renderBlock(child, depth + 1))}
    </li>
  ));
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol start={token.start === "" ? 1 : token.start}>{items}</ol>;
}

function checkbox(checked: boolean): VNode {
  return <input type="checkbox" checked={checked} disabled aria-label={checked ? "done" : "open"} />;
}

function table(token: Tokens.Table, depth: number): VNode {
  const align = (index: number) => {
    const side = token.align[index];
    return side ? `align-${side}` : undefined;
  };
  return (
    <div class="table-scroll">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} class={align(index)}>
                {inline(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={align(column)}>
                  {inline(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
