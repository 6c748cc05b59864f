// SPDX-License-Identifier: GPL-3.0-or-later
// The bar at the top, and the one that says that there is no connection.
import { useEffect } from "preact/hooks";
import { isArchive } from "../api";
import { heardMs, isLost } from "../live";
import { href, path, visit } from "../url";
import { announce } from "./announce";
import { ArchiveNote } from "./archive_note";
import { nowMs } from "./clock";
import { openHelp } from "./help";
import { useKeys } from "./keys";
import { runs } from "./runs";
import { readSession, session } from "./session";
import { nextTheme, themeChoice } from "./theme";

const themeSigns = {
  auto: "M8 1.5a6.5 6.5 0 1 0 0 13zM8 1.5a6.5 6.5 0 0 1 0 13",
  light: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8 13 13M13 3l-1.2 1.2M4.2 11.8 3 13",
  dark: "M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1Z",
};

function ThemeSwitch() {
  const choice = themeChoice.value;
  const words = choice === "auto" ? "system" : choice;
  return (
    <button
      class="btn btn-quiet btn-icon"
      aria-label={`Colours: ${words}. Change`}
      data-tip={`Colours: ${words}`}
      onClick={nextTheme}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <path
          d={themeSigns[choice]}
          fill={choice === "auto" ? "currentColor" : "none"}
          fill-opacity="0.35"
          stroke="currentColor"
          stroke-width="1.4"
          stroke-linecap="round"
        />
      </svg>
    </button>
  );
}

// The runs that it is below, the outermost first, and itself.
function chainOf(id: number): { id: number; name: string }[] {
  const row = runs.value?.get(id);
  const above = row?.parent ? chainOf(row.parent) : [];
  return [...above, { id, name: row?.name ?? `run ${id}` }];
}

function Crumb() {
  const id = Number(/^\/runs\/(\d+)/.exec(path.value)?.[1] ?? 0);
  if (id === 0) return <span class="crumb" />;
  return (
    <nav class="crumb" aria-label="Breadcrumb">
      {chainOf(id).map((run) =>
        run.id === id ? (
          <span class="ellipsis" aria-current="page">
            {run.name}
          </span>
        ) : (
          <a class="ellipsis" href={href(`/runs/${run.id}`)}>
            {run.name}
          </a>
        ),
      )}
    </nav>
  );
}

function Connection() {
  if (isArchive()) return <ArchiveNote />;
  if (isLost.value || heardMs.value === 0) return null;
  return (
    <span class="live">
      <span>live</span>
    </span>
  );
}

export function TopBar() {
  useKeys("All pages", [
    { keys: "?", does: "show keyboard shortcuts", run: openHelp },
    { keys: "g l", does: "list of runs", run: () => visit("/") },
    { keys: "T", does: "colours: system, light, dark", run: nextTheme },
  ]);
  return (
    <header class="topbar">
      <button
        class="btn skip"
        onClick={() => document.querySelector<HTMLElement>("main")?.focus()}
      >
        Skip to content
      </button>
      <a class="brand" href={href("/")}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path
            d="M3 16V9M8 16V4M13 16v-5M18 16V7"
            stroke="currentColor"
            stroke-width="2.4"
            stroke-linecap="round"
          />
        </svg>
        <span>smtune</span>
      </a>
      <Crumb />
      <div class="topbar-end">
        <Connection />
        {session.value?.role === "viewer" && !isArchive() && <span class="tag">read-only</span>}
        <ThemeSwitch />
        <button
          class="btn btn-quiet btn-icon"
          aria-label="Help: keyboard shortcuts"
          data-tip="Keyboard shortcuts ( ? )"
          onClick={openHelp}
        >
          ?
        </button>
      </div>
    </header>
  );
}

export function LostBar() {
  const lost = isLost.value;
  useEffect(() => {
    if (!lost) return undefined;
    announce("disconnected");
    void readSession();
    const timer = setInterval(() => void readSession(), 2000);
    return () => {
      clearInterval(timer);
      announce("reconnected");
    };
  }, [lost]);
  if (!lost) return null;
  const seconds = Math.max(0, Math.round((nowMs.value - heardMs.value) / 1000));
  return (
    <aside class="lost">
      <b>Disconnected{heardMs.value > 0 ? ` ${seconds} s` : ""}.</b> The page shows the last known state
      and reconnects by itself.
    </aside>
  );
}
