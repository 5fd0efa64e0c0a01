// The frame around the views.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { HtmError } from "htm-memory";
import { Awaited, Empty } from "./components/basics";
import { NamespacePicker } from "./components/namespace";
import { SignOut, allows, useUser } from "./components/sign-in";
import { ThemePicker } from "./components/theme";
import { Toasts } from "./components/toasts";
import { Link, address, usePlace } from "./router";
import { useAnswer } from "./server";
import { hasDrafts } from "./views/memory/kept-drafts";
import { VIEWS, viewAt, type ShowView, type View } from "./views";

export function App(): JSX.Element {
  const { path } = usePlace();
  const { role } = useUser();
  const content = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const found = viewAt(path);
  const title = found?.view.name ?? "HTM";
  // Search has several paths.
  const page = found?.view.path === "/" ? "/" : path;
  useEffect(() => {
    document.title = title === "HTM" ? title : `${title} · HTM`;
    // A page that has just been opened has its own beginning, such as the box of Search.
    if (!isFirst.current) content.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [page]);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        To the content
      </a>
      <header class="top">
        <Link class="brand" to={address("/")}>
          <img src="/console/icon.svg" alt="" />
          HTM
        </Link>
        <nav class="views" aria-label="Views">
          {VIEWS.filter((view) => view.name && allows(role, view.needs)).map((view) => (
            <Link key={view.path} to={address(view.path)} aria-current={view === found?.view ? "page" : undefined}>
              {view.name}
            </Link>
          ))}
        </nav>
        <div class="row">
          <NamespacePicker />
          <ThemePicker />
          <SignOut hasUnsaved={hasDrafts} />
        </div>
      </header>
      <main class="content" id="content" tabIndex={-1} ref={content}>
        {found && !allows(role, found.view.needs) ? (
          <Empty>
            <h1>{found.view.name}</h1>
            <p>Your key has a role that does not see this. Ask whoever runs the server for a key with the role {found.view.needs}.</p>
          </Empty>
        ) : found ? (
          <Loaded key={found.view.path} view={found.view} rest={found.rest} />
        ) : (
          <Empty>
            <h1>No such page</h1>
            <p>
              <Link to={address("/")}>Search the memories</Link>
            </p>
          </Empty>
        )}
      </main>
      <Toasts />
    </div>
  );
}

/** A view, once its script is here. */
function Loaded({ view, rest }: { view: View; rest: string }): JSX.Element {
  const load = async (): Promise<{ Show: ShowView }> => {
    const Show = await view.load().catch((cause: unknown) => {
      throw new HtmError("unreachable", "this view was not loaded", { hint: "load the page again", cause });
    });
    return { Show };
  };
  const answer = useAnswer(load, [view]);
  return <Awaited answer={answer}>{({ Show }) => <Show rest={rest} />}</Awaited>;
}
