// The namespace that the views look at.

import type { JSX } from "preact";
import { address, go, useNamespace, usePlace } from "../router";
import { useUser } from "./sign-in";
import { htm, useAnswer } from "../server";

const SHOWN = 500;

export function NamespacePicker(): JSX.Element {
  const chosen = useNamespace();
  const { path } = usePlace();
  const own = useUser().namespace;
  const { value } = useAnswer((signal) => htm.namespaces.list({ limit: SHOWN }, { signal }), []);
  const names = value?.namespaces ?? [];
  const others = chosen === undefined || names.includes(chosen) ? names : [chosen, ...names];
  return (
    <label>
      <span class="hidden-label">Namespace</span>
      <select
        class="input"
        value={chosen === own ? "" : (chosen ?? "")}
        onChange={(event) => go(address(path.startsWith("/console/memories/") ? "/" : path, { namespace: event.currentTarget.value }))}
      >
        <option value="">{own}</option>
        {others.filter((name) => name !== own).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
