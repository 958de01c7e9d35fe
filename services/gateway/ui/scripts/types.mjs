/**
 * Makes src/api/types.gen.ts from src/api/schema.gen.json.
 *
 * With --check nothing is written: exit 1 when the committed types are stale. Where Python with the contracts is at
 * hand (PYTHON, or python3), the schema itself is renewed or checked first; elsewhere that step is left to `make check`.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const here = dirname(fileURLToPath(import.meta.url));
const schemaFile = join(here, "../src/api/schema.gen.json");
const typesFile = join(here, "../src/api/types.gen.ts");
const check = process.argv.includes("--check");

const python = process.env["PYTHON"] ?? "python3";
const canSeeContracts = spawnSync(python, ["-c", "import contracts.api"]).status === 0;
if (canSeeContracts) {
  const run = spawnSync(python, [join(here, "api_schema.py"), ...(check ? ["--check"] : [])], { stdio: "inherit" });
  if (run.status !== 0) process.exit(run.status ?? 1);
} else if (!check) {
  console.warn("The contracts cannot be imported here: the schema is taken as it is.");
}

const { $defs: definitions } = JSON.parse(readFileSync(schemaFile, "utf8"));
const compiled = await compile(
  { title: "ApiTypes", type: "object", additionalProperties: false, properties: {}, $defs: definitions },
  "ApiTypes",
  {
    additionalProperties: false,
    bannerComment: "/* Made by `npm run types` from the contracts. Do not edit. */",
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
    style: { printWidth: 120 },
  },
);

// The compiler's root type and its remarks on where each type was found say nothing.
const text = compiled
  .replaceAll(/ \*\n \* This interface was referenced by [^]*?(?= \*\/)/g, "")
  .replaceAll(/ *\/\*\*\n *\* This interface was referenced by [^]*?\*\/\n/g, "")
  .replace("export interface ApiTypes {}\n", "");

if (!check) {
  writeFileSync(typesFile, text);
} else if (readFileSync(typesFile, "utf8") !== text) {
  console.error("types.gen.ts is stale: run `npm run types`.");
  process.exit(1);
}
