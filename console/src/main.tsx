import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/components.css";
import { App } from "./app";
import { Gate } from "./components/sign-in";
import { applyTheme } from "./components/theme";
import { dropDrafts } from "./views/memory/kept-drafts";

applyTheme();
const root = document.getElementById("app");
if (root) {
  render(
    <Gate drop={dropDrafts}>
      <App />
    </Gate>,
    root,
  );
}
