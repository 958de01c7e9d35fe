/** A tool call in a reply: one line, which opens to what was asked, what came of it, and what it reached. */
import type { CallPart, NetworkDecision } from "../api/types.gen";
import type { CallView, OutputView } from "../chat/types";
import { visible, withoutTerminalSequences } from "../text/visible";
import { ErrorLine } from "./ErrorLine";
import { Icon, type IconName } from "./icons";
import { LiveOutput } from "./LiveOutput";
import { seconds } from "./replyStatus";
import { VisibleLines, VisibleText } from "./VisibleText";

const STATE_NAMES: Readonly<Record<CallPart["state"], string>> = {
  waiting: "waits for you",
  running: "running",
  ok: "done",
  refused: "refused",
  declined: "declined",
  failed: "failed",
  stopped: "stopped",
  timed_out: "timed out",
};

export function CallRow({ view }: { view: CallView }) {
  const { call, output } = view;
  const live = output.chunks.length > 0;
  return (
    <details
      class={`call call-${call.state}`}
      open={live}
      data-testid="call-row"
      data-tool={call.tool}
      data-state={call.state}
    >
      <summary>
        <Icon name={iconOf(call.tool)} />
        <code class="call-tool">{visible(call.tool)}</code>
        <span class="call-brief">{brief(call)}</span>
        <span class="call-state" data-testid="call-state">
          {call.state === "running" && <span class="pulse" aria-hidden="true" />}
          {STATE_NAMES[call.state]}
          {duration(call)}
        </span>
      </summary>
      <div class="call-body">
        {call.state !== "waiting" && <Arguments call={call} />}
        {live && <LiveOutput output={output} running={call.state === "running"} />}
        {showsResult(call, output) && <Result call={call} />}
        {call.refusal && <ErrorLine error={call.refusal} />}
        {call.network.length > 0 && <NetworkList decisions={call.network} />}
      </div>
    </details>
  );
}

// What took no time anyone would notice is not worth a number.
function duration({ started_at: started, ended_at: ended }: CallPart): string {
  if (started === null || ended === null || ended - started < 10) return "";
  return ` · ${seconds(ended - started)}`;
}

/** The arguments of a call as its tool takes them: a command or a program as it is, everything else as JSON. */
export function Arguments({ call, testId }: { call: Pick<CallPart, "tool" | "arguments">; testId?: string }) {
  const source = sourceOf(call);
  const text = source ?? JSON.stringify(call.arguments, null, 2);
  return (
    <pre class={source === null ? "source" : "source lines"} data-testid={testId ?? "call-arguments"}>
      <VisibleLines text={text} />
    </pre>
  );
}

/** The one argument that is a program in itself; null where there are others beside it. */
function sourceOf({ tool, arguments: given }: Pick<CallPart, "tool" | "arguments">): string | null {
  const name = tool === "run_command" ? "command" : tool === "run_js" ? "code" : null;
  if (name === null || Object.keys(given).length !== 1) return null;
  const value = given[name];
  return typeof value === "string" ? value : null;
}

/** One line that tells this call from others of its tool. */
function brief({ arguments: given }: CallPart): string {
  const first = given["command"] ?? given["path"] ?? given["url"] ?? given["code"];
  return typeof first === "string" ? visible(first.slice(0, 160).replaceAll(/\s+/g, " ")) : "";
}

// Live output that is whole says all there is; the result repeats it for the model.
function showsResult(call: CallPart, output: OutputView): boolean {
  if (call.content === "") return false;
  return output.chunks.length === 0 || output.incomplete;
}

function Result({ call }: { call: CallPart }) {
  return (
    <div class="call-result">
      <div class="call-label">
        Result{call.truncated && ", shortened"}
        {call.outside && ", outside text: the model gets it wrapped as information"}
      </div>
      <pre class="source" data-testid="call-result" tabIndex={0}>
        <VisibleText text={withoutTerminalSequences(call.content)} />
      </pre>
    </div>
  );
}

function NetworkList({ decisions }: { decisions: readonly NetworkDecision[] }) {
  return (
    <div class="network-list" data-testid="network-list">
      <div class="call-label">Network</div>
      <ul>
        {decisions.map((decision, index) => (
          <li key={index} class={`network-${decision.outcome}`}>
            <Icon name={decision.outcome === "connected" ? "globe" : "alert"} />
            <code>{visible(`${decision.host}:${decision.port}`)}</code>
            <span>{decision.outcome}</span>
            {decision.address && <code class="muted">{decision.address}</code>}
            {decision.code && <code class="muted">{decision.code}</code>}
          </li>
        ))}
      </ul>
    </div>
  );
}

function iconOf(tool: string): IconName {
  if (tool === "run_command" || tool === "run_js") return "command";
  return tool.includes("fetch") ? "globe" : "file";
}
