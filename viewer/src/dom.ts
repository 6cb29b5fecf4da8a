/** Elements of the page. Text is always inserted as text, so that names cannot act as markup. */

type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string | null)[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(key, value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null) made.append(child);
  return made;
}

/** A selection among texts; the value is the index of the choice. */
export function select(label: string, options: string[], chosen: number, changed: (index: number) => void): { root: HTMLLabelElement; input: HTMLSelectElement } {
  const input = el("select", { "aria-label": label }, ...options.map((text, i) => el("option", { value: i }, text)));
  input.value = String(chosen);
  input.addEventListener("change", () => changed(Number(input.value)));
  return { root: el("label", { class: "field" }, el("span", {}, label), input), input };
}

export function slider(label: string, low: number, high: number, step: number | "any", value: number, changed: (value: number) => void, extra: Attributes = {}): HTMLInputElement {
  const input = el("input", { type: "range", min: low, max: high, step, "aria-label": label, ...extra });
  input.value = String(value);
  input.addEventListener("input", () => changed(Number(input.value)));
  return input;
}

export function button(text: string, pressed: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = el("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", pressed);
  return made;
}
