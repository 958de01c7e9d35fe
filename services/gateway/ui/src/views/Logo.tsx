/** The mark: four panes, one of them lit. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect class="logo-lit" x="3" y="3" width="12" height="12" rx="3.5" />
      <rect x="18" y="4" width="10" height="10" rx="3" />
      <rect x="4" y="18" width="10" height="10" rx="3" />
      <rect x="18" y="18" width="10" height="10" rx="3" />
    </svg>
  );
}
