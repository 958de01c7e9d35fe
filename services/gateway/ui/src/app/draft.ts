/** A chat that is not begun yet: what the first message will create. */
import type { Model, ModelRef, NewChat, Pane, PaneSettings } from "../api/types.gen";
import type { ChatState } from "../chat/types";

/** The id of the chat that does not exist yet. */
export const DRAFT_ID = "";
export const MAX_PANES = 4;

// Four ways to look at one question, so that even one and the same model gives four different answers.
const VOICES: readonly Pick<PaneSettings, "system_prompt" | "temperature">[] = [
  { system_prompt: "Answer briefly and directly, in one or two plain sentences.", temperature: 0.2 },
  { system_prompt: "Explain step by step, for someone who is new to the subject.", temperature: 0.5 },
  { system_prompt: "Be a careful sceptic: answer, then name what could be wrong with the answer.", temperature: 0.7 },
  { system_prompt: "Answer with a vivid example or a comparison from everyday life.", temperature: 1 },
];

/** The model that a pane begins with: the embedded one, which answers on every machine, else the first there is. */
export function firstModel(models: readonly Model[]): Model | null {
  return models.find((model) => model.embedded) ?? models[0] ?? null;
}

/**
 * The settings of pane number `index` in a chat begun with `model`.
 *
 * Tools begin switched off where the model cannot call them by itself: a small model that is given tools through
 * constrained output calls them whether or not it should. The pane's settings switch them on.
 */
export function paneSettings(model: Pick<Model, "provider_id" | "model" | "tool_calls">, index: number): PaneSettings {
  const voice = VOICES[index % VOICES.length];
  return {
    model: modelRef(model),
    system_prompt: voice?.system_prompt ?? "",
    temperature: voice?.temperature ?? null,
    top_p: null,
    max_tokens: null,
    tools: model.tool_calls === "native",
  };
}

export function modelRef(model: Pick<Model, "provider_id" | "model">): ModelRef {
  return { provider_id: model.provider_id, model: model.model };
}

/** A chat with these panes, as the page shows it before it exists. */
export function draftChat(panes: readonly PaneSettings[], policies: ChatState["policies"]): ChatState {
  return {
    chat_id: DRAFT_ID,
    title: "",
    created_at: 0,
    updated_at: 0,
    panes: panes.map(draftPane),
    policies,
    network: false,
    exchanges: [],
    replies: new Map(),
    approvals: new Map(),
  };
}

/** The request that creates what is shown. */
export function newChat(draft: ChatState): NewChat {
  return { panes: draft.panes.map(settingsOf) };
}

/** A pane's settings without its identity. */
export function settingsOf(pane: Pane): PaneSettings {
  const { model, system_prompt, temperature, top_p, max_tokens, tools } = pane;
  return { model, system_prompt, temperature, top_p, max_tokens, tools };
}

function draftPane(settings: PaneSettings, position: number): Pane {
  return {
    model: settings.model,
    system_prompt: settings.system_prompt ?? "",
    temperature: settings.temperature ?? null,
    top_p: settings.top_p ?? null,
    max_tokens: settings.max_tokens ?? null,
    tools: settings.tools ?? true,
    pane_id: `draft-${position}`,
    position,
  };
}
