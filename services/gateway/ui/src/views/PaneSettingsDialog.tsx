/** What one pane asks with: model, instructions, and how it writes. */
import { useEffect, useState } from "preact/hooks";
import type { Model, Pane, PaneSettings } from "../api/types.gen";
import { modelRef, settingsOf } from "../app/draft";
import type { Store } from "../app/store";
import { Dialog } from "./Dialog";

export function PaneSettingsDialog({ store, pane, onClose }: { store: Store; pane: Pane; onClose: () => void }) {
  const [settings, setSettings] = useState<PaneSettings>(() => settingsOf(pane));
  useEffect(() => {
    void store.loadModels();
  }, [store]);
  const set = (change: Partial<PaneSettings>) => {
    setSettings((before) => ({ ...before, ...change }));
  };
  const save = async (event: Event) => {
    event.preventDefault();
    if (await store.changePane(pane.position, settings)) onClose();
  };
  const { models, problems } = store.models.value;
  return (
    <Dialog title={`Pane ${pane.position + 1}`} onClose={onClose} testId="pane-settings-dialog">
      <form onSubmit={(event) => void save(event)}>
        <label class="field">
          Model
          <ModelSelect models={models} settings={settings} onChange={set} />
        </label>
        {problems.map((problem) => (
          <p key={problem.provider_id} class="field-problem">
            {problem.provider_name}: {problem.detail}
          </p>
        ))}
        <label class="field">
          Instructions
          <textarea
            rows={4}
            value={settings.system_prompt ?? ""}
            maxLength={100_000}
            data-testid="setting-system-prompt"
            onInput={(event) => {
              set({ system_prompt: event.currentTarget.value });
            }}
          />
        </label>
        <div class="field-pair">
          <NumberField
            label="Temperature"
            hint="0 is steady, 2 is wild"
            value={settings.temperature ?? null}
            min={0}
            max={2}
            step={0.1}
            testId="setting-temperature"
            onChange={(temperature) => {
              set({ temperature });
            }}
          />
          <NumberField
            label="Longest reply"
            hint="in tokens"
            value={settings.max_tokens ?? null}
            min={1}
            max={1_000_000}
            step={1}
            testId="setting-max-tokens"
            onChange={(maxTokens) => {
              set({ max_tokens: maxTokens });
            }}
          />
        </div>
        <label class="switch-row">
          <span>
            <strong>Tools</strong>
            <span class="muted">This pane’s model may ask for tools; the chat’s policies still decide.</span>
          </span>
          <input
            type="checkbox"
            role="switch"
            checked={settings.tools ?? true}
            data-testid="setting-tools"
            onChange={(event) => {
              set({ tools: event.currentTarget.checked });
            }}
          />
        </label>
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" data-testid="setting-save">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ModelSelectProps {
  readonly models: readonly Model[];
  readonly settings: PaneSettings;
  readonly onChange: (change: Partial<PaneSettings>) => void;
}

function ModelSelect({ models, settings, onChange }: ModelSelectProps) {
  const chosen = models.findIndex(
    ({ provider_id, model }) => provider_id === settings.model.provider_id && model === settings.model.model,
  );
  return (
    <select
      value={String(chosen)}
      data-testid="setting-model"
      onChange={(event) => {
        const model = models[Number(event.currentTarget.value)];
        if (model) onChange({ model: modelRef(model) });
      }}
    >
      {chosen < 0 && <option value="-1">{settings.model.model} (not to be reached now)</option>}
      {models.map((model, index) => (
        <option key={`${model.provider_id}/${model.model}`} value={String(index)}>
          {model.label} · {model.provider_name}
        </option>
      ))}
    </select>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: number | null;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly testId: string;
  readonly onChange: (value: number | null) => void;
}

function NumberField({ label, hint, value, min, max, step, testId, onChange }: NumberFieldProps) {
  return (
    <label class="field">
      {label}
      <input
        type="number"
        inputMode="decimal"
        value={value ?? ""}
        min={min}
        max={max}
        step={step}
        placeholder="model’s own"
        data-testid={testId}
        onInput={(event) => {
          const number = event.currentTarget.valueAsNumber;
          onChange(Number.isNaN(number) ? null : number);
        }}
      />
      <span class="muted">{hint}</span>
    </label>
  );
}
