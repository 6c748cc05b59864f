// SPDX-License-Identifier: GPL-3.0-or-later
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTable } from "../src/data/columns";
import type { Column } from "../src/types";

const ROWS = 1;

function column(name: string, data: Column["data"]): Column {
  return { name, kind: "real", data, words: [], none: NaN };
}

test("only the first 32 reals have a bit for NaN", () => {
  const values = Array.from({ length: 34 }, (_, i) =>
    column(`value:m${i}`, Float64Array.from([NaN])),
  );
  const bits = column("nans", Uint32Array.from([0x8000_0001]));
  const { columns } = makeTable([...values, bits], ROWS, 0);
  const said = columns.flatMap(({ name, isNan }) => (isNan?.(0) ? [name] : []));
  assert.deepEqual(said, ["value:m0", "value:m31"]);
});
