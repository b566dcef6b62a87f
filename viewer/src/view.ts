import { ComponentType } from "preact";
import { Report } from "./report/report.ts";

export interface ViewProps {
  report: Report;
  /** The second report, for comparing. */
  other: Report | undefined;
}

/** What has keys of its own. */
export type Widget = "pictures" | "lines" | "tiles" | "points" | "tables";

/** A view is one file in views/ whose default export is this; the page finds it. */
export interface View {
  id: string;
  title: string;
  /** Where it stands in the navigation. */
  order: number;
  /** Why there is nothing to show; undefined if there is. */
  missing(report: Report, other: Report | undefined): string | undefined;
  show: ComponentType<ViewProps>;
  /** What the view is made of, for the help. */
  widgets: Widget[];
  /** Keys of this view alone, for the help. */
  keys?: [string, string][];
}
