/** Time that passes, shown from the first second on. */
import { useEffect, useState } from "preact/hooks";

/** The present time, renewed each second while `running`. */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => {
      setNow(Date.now());
    }, 1_000);
    return () => {
      clearInterval(timer);
    };
  }, [running]);
  return now;
}

export function Elapsed({ since }: { since: number | null }) {
  const passed = Math.floor((useNow(since !== null) - (since ?? 0)) / 1_000);
  if (since === null || passed < 1) return null;
  // Read aloud each second it would drown the reply.
  return <span aria-hidden="true"> {passed} s</span>;
}
