// SPDX-License-Identifier: GPL-3.0-or-later
// What the keys do here.
import { Dialog, closeDialog, openDialog } from "./dialog";
import { allBindings } from "./keys";
import type { Binding } from "./keys";

const names: Record<string, string> = { Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓" };

function Keys({ keys }: { keys: string }) {
  return (
    <span class="nowrap">
      {keys.split(" ").map((key, i) => (
        <>
          {i > 0 && " "}
          <kbd>{names[key] ?? key}</kbd>
        </>
      ))}
    </span>
  );
}

// Groups of one name together, in the order in which they came.
function groups(): Map<string, Binding[]> {
  const result = new Map<string, Binding[]>();
  for (const { group, list } of allBindings.value)
    result.set(group, [...(result.get(group) ?? []), ...list]);
  return result;
}

function Help() {
  return (
    <Dialog title="Keyboard shortcuts" isWide>
      <div class="help">
        {[...groups()].map(([group, list]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl class="pairs">
              {list.map(({ keys, does }) => (
                <>
                  <dt>
                    <Keys keys={keys} />
                  </dt>
                  <dd>{does}</dd>
                </>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div class="dialog-foot">
        <button class="btn" onClick={closeDialog}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

export const openHelp = () => openDialog(() => <Help />);
