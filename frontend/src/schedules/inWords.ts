/** What a schedule does, in a sentence. */
import type { Channel, Condition, Delivery } from "../api/scheduleTypes";
import { inWords } from "./times";

export const CHANNELS: Record<Channel, string> = {
  mail: "Mail",
  slack: "Slack",
  teams: "Microsoft Teams",
  json: "Webhook (JSON)",
};

export const STATES: Record<Delivery["state"], string> = {
  due: "Waiting",
  claimed: "Running",
  sending: "Sending",
  sent: "Sent",
  skipped: "Not sent",
  failed: "Failed",
  "in doubt": "In doubt",
};

interface Told {
  title: string;
  cron: string;
  zone: string;
  channel: Channel;
  recipients: readonly string[];
  condition: Condition | null;
  quiet_hours: number;
}

export function sentence({ title, cron, zone, channel, recipients, condition, quiet_hours }: Told): string {
  const to = channel === "mail" ? recipients.join(", ") || "…" : CHANNELS[channel];
  const looked = `${inWords(cron)} (${zone})`;
  if (!condition) return `“${title}” is run and sent to ${to} ${looked}.`;
  const quiet = quiet_hours > 0 ? `, at most once in ${quiet_hours} hours` : "";
  return `“${title}” is run ${looked}, and sent to ${to} only when ${when(condition)}${quiet}.`;
}

function when({ kind, column, value, percent }: Condition): string {
  if (kind === "new rows") return "there are new rows";
  if (kind === "changes") return `${column} has changed by at least ${value}${percent ? " %" : ""} since it was last told`;
  return `${column} goes ${kind} ${value}`;
}
