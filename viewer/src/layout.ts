/** Layout of the page: header, stage, panels at the side, keys. */

import type { Playback } from "./api";
import { Background } from "./background";
import type { PageData } from "./data/page_data";
import { button, el } from "./dom";
import { handleKeys } from "./keys";
import { Page } from "./page";
import { aboutPanel } from "./panels/about";
import { ReducedModel } from "./model/reduced_model";
import { mapPanel } from "./panels/map";
import { modelPanel } from "./panels/model";
import { modesPanel } from "./panels/modes";
import { playbackPanel } from "./panels/playback";
import { posturePanel } from "./panels/posture";
import { responsePanel } from "./panels/response";
import { testPanel } from "./panels/test";
import { workspacePanel } from "./panels/workspace";
import { colorBar } from "./scene/color_bar";
import { gizmo } from "./scene/gizmo";
import { hover } from "./scene/hover";
import { Labels } from "./scene/labels";
import { systemTheme, type Theme } from "./theme";
import { length } from "./units";

export function layout(data: PageData): { page: Page; playback: Playback | null } {
  document.title = `${data.name} · supple`;
  const theme = systemTheme();
  document.documentElement.dataset.theme = theme;
  const canvas = el("canvas", { id: "scene", tabindex: 0, role: "img", "aria-label": `${data.name} in three dimensions; drag to rotate, scroll or pinch to zoom` });
  const stage = el("div", { id: "stage" }, canvas), side = el("div", { id: "panels", role: "region", "aria-label": "Controls" });
  const dark = button("", () => choose(page.theme === "dark" ? "light" : "dark"), { "aria-label": "dark or light", title: "dark or light theme (t)" });
  document.body.append(
    el("header", {}, el("h1", {}, data.name), el("p", { title: data.description }, data.description), el("div", { class: "tools" }, dark)),
    el("main", {}, stage, side),
  );
  const page = new Page(data, canvas, theme);
  function choose(chosen: Theme): void {
    document.documentElement.dataset.theme = chosen;
    dark.textContent = chosen === "dark" ? "☀ light" : "☾ dark";
    page.applyTheme(chosen);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => choose(systemTheme()));

  const background = new Background(data), labels = new Labels(page, stage);
  const model = data.model ? new ReducedModel(data.model, data.coordinates.map(({ name }) => name)) : null;
  const playback = data.runs?.length ? playbackPanel(page, data.runs) : null;
  side.append(
    ...(playback ? [playback.root] : []),
    posturePanel(page),
    modesPanel(page),
    ...(model ? [modelPanel(page, model)] : []),
    ...(data.test ? [testPanel(page, data.test)] : []),
    ...(data.coordinates.length ? [mapPanel(page, background, model)] : []),
    ...(data.vibration ? [responsePanel(page)] : []),
    ...(data.coordinates.length ? [workspacePanel(page, new Background(data), model)] : []),
    aboutPanel(page),
  );
  const names = button("names", () => names.setAttribute("aria-pressed", String(labels.toggle())), { "aria-pressed": "false", title: "names of places (n)" });
  const frames = button("frames", () => {
    const shown = frames.getAttribute("aria-pressed") !== "true";
    frames.setAttribute("aria-pressed", String(shown));
    page.shape.showFrames(shown);
    page.stage.touch();
  }, { "aria-pressed": "false", title: "axes of frames" });
  page.shape.showFrames(false);
  const see = (view: "home" | "front" | "top" | "side") => () => page.stage.fit(page.shape.bounds(), view);
  stage.append(
    el("div", { id: "views", class: "overlay", role: "group", "aria-label": "Views" },
      button("home", see("home"), { title: "show everything (h)" }),
      ...(["front", "side", "top"] as const).map((view) => button(view, see(view), { class: "wide" })), names, frames),
    colorBar(page), gizmo(page), hover(page),
  );
  const corner = el("div", { id: "corner", class: "overlay" });
  const showCorner = () => {
    const g = data.scene.gravity;
    corner.textContent = `grid ${length(page.spacing)}${g && Math.hypot(...g) > 0 ? ` · gravity ${Math.hypot(...g).toPrecision(3)} m/s²` : " · no gravity"}`;
  };
  page.on("theme", showCorner);
  stage.append(corner);
  choose(theme);
  handleKeys(page, canvas, { names: () => names.click(), theme: () => dark.click(), home: see("home") });
  return { page, playback: playback?.api ?? null };
}
