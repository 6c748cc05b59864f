// SPDX-License-Identifier: GPL-3.0-or-later
// Which page the URL asks for, in its frame.
import { useEffect } from "preact/hooks";
import { RunPage } from "./pages/run";
import { RunsPage } from "./pages/runs";
import { Announcer } from "./shell/announce";
import { Dialogs } from "./shell/dialog";
import { Guard, LockedOut, Message } from "./shell/messages";
import { ofPart } from "./shell/part";
import { isLockedOut } from "./shell/session";
import { LostBar, TopBar } from "./shell/top";
import { href, path } from "./url";

const CompareRuns = ofPart("compare", "CompareRuns");

function NoPage() {
  return (
    <Message title="Page not found">
      <a class="btn" href={href("/")}>
        All runs
      </a>
    </Message>
  );
}

function Page() {
  if (isLockedOut.value) return <LockedOut />;
  if (path.value === "/") return <RunsPage />;
  if (path.value === "/compare") return <CompareRuns />;
  const [, run, view] = /^\/runs\/(\d+)(?:\/([a-z-]+))?$/.exec(path.value) ?? [];
  if (run === undefined) return <NoPage />;
  return <RunPage key={run} id={Number(run)} view={view ?? ""} />;
}

export function App() {
  const first = path.value.split("/").slice(0, 3).join("/");
  useEffect(() => {
    scrollTo(0, 0);
  }, [first]);
  return (
    <>
      <TopBar />
      <LostBar />
      <main class="page" tabIndex={-1}>
        <Guard key={first}>
          <Page />
        </Guard>
      </main>
      <Announcer />
      <Dialogs />
    </>
  );
}
