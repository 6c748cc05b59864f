// SPDX-License-Identifier: GPL-3.0-or-later
// The page login#CODE: exchanges the code for a session.
import { keepKey, sessionPath } from "./session_key";

interface Answer {
  key: string;
  error?: { text: string };
}

// Whether an operator's address was opened here before, and still lets in.
async function isOperator(): Promise<boolean> {
  const response = await fetch(`${sessionPath()}/api/v1/session`);
  return response.ok && ((await response.json()) as { role: string }).role === "operator";
}

function show(text: string): void {
  const refused = document.getElementById("refused")!;
  refused.querySelector("p")!.textContent = text;
  refused.hidden = false;
}

async function logIn(): Promise<void> {
  const response = await fetch("login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code: location.hash.slice(1) }),
  });
  const { key, error } = (await response.json()) as Answer;
  if (response.ok) keepKey(key);
  else if (!(await isOperator())) return show(error?.text ?? response.statusText);
  // The page behind it does not stay in the history.
  location.replace("./");
}

const start = () => logIn().catch((error: unknown) => show(String(error)));

// Another address for the same page loads nothing anew.
addEventListener("hashchange", start);
void start();
