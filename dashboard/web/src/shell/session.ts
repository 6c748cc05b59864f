// SPDX-License-Identifier: GPL-3.0-or-later
// Who looks, and at what.
import { computed, signal } from "@preact/signals";
import { ApiError, getJson, isArchive } from "../api";

export interface Session {
  role: "viewer" | "operator";
  version: string;
  store?: string;
  read_only?: boolean;
}

export const session = signal<Session | null>(null);
export const mayAct = computed(() => session.value?.role === "operator" && !isArchive());

// The server does not know this browser: it was started anew, the link for
// viewers was withdrawn, or no address of it was ever opened here.
export const isLockedOut = signal(false);

// Asks who we are. Whoever asks again after an error learns whether it was that.
export async function readSession(): Promise<void> {
  try {
    session.value = await getJson<Session>("/session");
    isLockedOut.value = false;
  } catch (error) {
    isLockedOut.value = error instanceof ApiError && error.status === 401;
  }
}
