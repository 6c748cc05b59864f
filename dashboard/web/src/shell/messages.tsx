// SPDX-License-Identifier: GPL-3.0-or-later
// Pages that say why there is nothing else to see.
import { Component } from "preact";
import type { ComponentChildren } from "preact";
import { ApiError } from "../api";
import { href } from "../url";

interface MessageProps {
  title: string;
  children: ComponentChildren;
}

export function Message({ title, children }: MessageProps) {
  return (
    <div class="message card" role="alert">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

export function LockedOut() {
  return (
    <Message title="Not logged in">
      <p>
        Open the address for viewers again, or the one that <code>smtune dashboard --login</code> prints.
      </p>
    </Message>
  );
}

export function RunRemoved({ name }: { name: string }) {
  return (
    <Message title="This run was removed">
      <p>
        <b>{name}</b> and its files were removed from the store.
      </p>
      <a class="btn" href={href("/")}>
        All runs
      </a>
    </Message>
  );
}

// again: what the button does; without it the page is asked for anew.
export function Problem({ error, again }: { error: Error; again?: () => void }) {
  if (error instanceof ApiError && error.status === 401) return <LockedOut />;
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <Message title={isMissing ? "Not found" : "Request failed"}>
      <p class="problem">{error.message}</p>
      <div class="btns">
        <button class="btn btn-primary" onClick={again ?? (() => location.reload())}>
          Try again
        </button>
        <a class="btn" href={href("/")}>
          All runs
        </a>
      </div>
    </Message>
  );
}

interface GuardState {
  error: Error | null;
}

// What fails in a part of the page leaves the rest of it standing.
export class Guard extends Component<{ children: ComponentChildren }, GuardState> {
  override state: GuardState = { error: null };

  static override getDerivedStateFromError(error: Error): GuardState {
    return { error };
  }

  override componentDidCatch(error: Error): void {
    console.error(error);
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <Problem error={error} again={() => this.setState({ error: null })} />;
  }
}
