/** Light and dark theme: that of the system, until the user chooses one. */

export type Theme = "light" | "dark";

export interface Colors { stage: string; grid: string; gridStrong: string; ink: string; faint: string; line: string; panel: string }

const COLORS: Record<Theme, Colors> = {
  light: { stage: "#f4f6f8", grid: "#e1e5ea", gridStrong: "#cfd5dc", ink: "#22262b", faint: "#66707a", line: "#d5dae0", panel: "#ffffff" },
  dark: { stage: "#14171b", grid: "#242a31", gridStrong: "#333b45", ink: "#e6e9ed", faint: "#98a2ad", line: "#333a43", panel: "#1c2026" },
};

export function colors(theme: Theme): Colors {
  return COLORS[theme];
}

export function systemTheme(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
