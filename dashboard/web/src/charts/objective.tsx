// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a run's objectives a view shows.
import type { Objective, RunModel } from "../types";
import { Choose, useHeldText } from "./controls";

export function useObjective(run: RunModel, key: string) {
  const chosen = useHeldText(key, run.objectives[0].metric);
  const objective: Objective =
    run.objectives.find(({ metric }) => metric === chosen.value) ?? run.objectives[0];
  const choices = run.objectives.map(({ metric }) => ({ id: metric, text: metric }));
  const control = run.objectives.length > 1 && (
    <Choose
      label="Objective"
      value={objective.metric}
      choices={choices}
      onChoose={(metric) => (chosen.value = metric)}
    />
  );
  return { objective, control };
}
