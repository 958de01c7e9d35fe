"""Latency of run_js in its container, from the request to the answer, beside what Node takes for the same.

    python services/js-sandbox/tests/container/bench.py

Every program is `1+1`, so this is the price of isolation alone. Node, if it is there, is measured on the host: a process for
each program, and a worker thread with a fresh vm context for each.
"""

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import js_container as js

WORKER = """
const { Worker } = require('node:worker_threads');
const source = "const vm=require('vm');const {parentPort}=require('worker_threads');" +
  "parentPort.postMessage(JSON.stringify(vm.runInNewContext('1+1',{}, {timeout:5000})))";
const one = () => new Promise((resolve, reject) => {
  const began = performance.now();
  const worker = new Worker(source, { eval: true });
  worker.on('message', value => { if (value !== '2') reject(value); resolve(performance.now() - began); });
  worker.on('error', reject);
});
(async () => {
  const atOnce = Number(process.argv[1]), rounds = Number(process.argv[2]);
  const all = [];
  for (let i = 0; i < rounds; i++) all.push(...await Promise.all(Array.from({ length: atOnce }, one)));
  console.log(JSON.stringify(all.slice(atOnce)));
})();
"""


def main() -> None:
    """Measure and print."""
    js.build()
    with js.running() as sandbox:
        sandbox.run("1+1")
        for name, programs, at_once, pause in (
            ("one after the other, 50 ms between", 100, 1, 0.05),
            ("200 back to back", 200, 1, 0),
            ("eight at once, 0.3 s between", 160, 8, 0.3),
            ("eight at once, back to back", 400, 8, 0),
        ):
            answers = sandbox.run(*["1+1"] * programs, at_once=at_once, pause_seconds=pause)
            assert {answer.result.value for answer in answers} == {"2"}
            show(f"run_js: {name}", [answer.seconds for answer in answers])
    node = shutil.which("node")
    if node is None:
        print("node: not here")
        return
    show("node -e: one after the other", [timed([node, "-e", "1+1"]) for _ in range(30)])
    for name, at_once, rounds in (("one after the other", 1, 60), ("eight at once", 8, 15)):
        said = subprocess.run(
            [node, "-e", WORKER, str(at_once), str(rounds)], check=True, capture_output=True, text=True, timeout=300
        )
        show(f"node worker thread with vm: {name}", [float(value) / 1000 for value in said.stdout.strip("[]\n").split(",")])


def timed(command: Sequence[str]) -> float:
    """How long a command takes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return time.perf_counter() - began


def show(name: str, seconds: Sequence[float]) -> None:
    """One line of percentiles."""
    ordered = sorted(seconds)
    p95 = ordered[int(len(ordered) * 0.95)]
    print(
        f"{name:55} p50 {statistics.median(ordered) * 1000:6.1f} ms   p95 {p95 * 1000:6.1f} ms   worst {ordered[-1] * 1000:6.1f} ms",
        flush=True,
    )


if __name__ == "__main__":
    main()
