// What several devices do: the IPUs of a program, or the devices of a plan or of a run on ranks.
import { Ipus } from "../distributed/ipus.tsx";
import { PlanView } from "../distributed/plan.tsx";
import { View, ViewProps } from "../view.ts";

const view: View = {
  id: "distributed", title: "Distributed", order: 8, widgets: ["pictures", "points", "lines", "tables"], missing: (r) => (r.plan || r.target.ipus > 1 ? undefined : "The program runs on one IPU: there is nothing distributed. Runs on several devices (pando run --profile) and searches (pando search --report) have reports of their own."),
  show: (props: ViewProps) => (props.report.plan ? <PlanView {...props} /> : <Ipus {...props} />),
};
export default view;
