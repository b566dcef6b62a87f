// What is shown is in the URL's fragment, so that a view can be linked: #memory&tile=3&step=12
import { useEffect, useState } from "preact/hooks";

export type Params = Record<string, string>;
export interface Place {
  view: string;
  params: Params;
}

// What a view shares with the next one when the user moves on; the rest belongs to a view.
const kShared = ["tile", "step", "stream", "ipu"];

export function place_of(hash: string): Place {
  const [view = "", ...rest] = hash.replace(/^#/, "").split("&");
  return { view: decodeURIComponent(view), params: Object.fromEntries(new URLSearchParams(rest.join("&"))) };
}

export function text_of(place: Place): string {
  const params = new URLSearchParams(Object.entries(place.params).filter(([, v]) => v !== "")).toString();
  return "#" + encodeURIComponent(place.view) + (params ? "&" + params : "");
}

const listeners = new Set<() => void>();
export function current(): Place {
  return place_of(location.hash);
}

function show(place: Place, remember: boolean) {
  const text = text_of(place);
  if (text === location.hash) return;
  if (remember) history.pushState(null, "", text);
  else history.replaceState(null, "", text);
  for (const l of listeners) l();
}

/** Changes parameters of the view that is shown. */
export function set(params: Params, remember = false) {
  const here = current();
  show({ view: here.view, params: { ...here.params, ...params } }, remember);
}

/** The place of another view, with what views share. */
export function to(view: string, params: Params = {}): Place {
  const here = current();
  const kept = Object.fromEntries(kShared.filter((k) => here.params[k]).map((k) => [k, here.params[k]!]));
  return { view, params: { ...(here.view === view ? here.params : kept), ...params } };
}

export function go(view: string, params: Params = {}) {
  show(to(view, params), true);
}

export function use_place(): Place {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again((n) => n + 1);
    listeners.add(listener);
    addEventListener("hashchange", listener);
    addEventListener("popstate", listener);
    return () => {
      listeners.delete(listener);
      removeEventListener("hashchange", listener);
      removeEventListener("popstate", listener);
    };
  }, []);
  return current();
}

export function use_param(name: string, otherwise = ""): string {
  return use_place().params[name] ?? otherwise;
}

/** A parameter that is a whole number in [0, end); undefined if it is none. */
export function use_index(name: string, end: number): number | undefined {
  const text = use_param(name);
  const n = Number(text);
  return text !== "" && Number.isInteger(n) && n >= 0 && n < end ? n : undefined;
}
