// SPDX-License-Identifier: GPL-3.0-or-later
// The session of this browser: the page asks below s/KEY, where alone its cookie is sent. The key is kept where only
// pages of this very host and port can read it: what else listens on this host sees neither. Behind a reverse proxy,
// where several dashboards have one host and port, each has a key of its own, by its path.
//
// All paths of the page are relative to it, so that a proxy may show it below any path.
const folder = () => location.pathname.replace(/[^/]*$/, "");
const stored = () => `smtune-key ${folder()}`;

export const keepKey = (key: string) => localStorage.setItem(stored(), key);

export const sessionPath = () => `s/${localStorage.getItem(stored())}`;
