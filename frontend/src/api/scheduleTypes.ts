/** The bodies of `/schedules` and `/deliveries`, as the server documents them. */

export interface Condition {
  kind: "above" | "below" | "changes" | "new rows";
  /** Empty for new rows. */
  column: string;
  value: number;
  percent: boolean;
}

export type Channel = "mail" | "slack" | "teams" | "json";

interface Plan {
  title: string;
  kept_id: string | null;
  board_id: string | null;
  /** Minute, hour, day of the month, month, day of the week. */
  cron: string;
  /** IANA name. */
  zone: string;
  channel: Channel;
  recipients: string[];
  table: boolean;
  picture: boolean;
  link: boolean;
  condition: Condition | null;
  quiet_hours: number;
}

export interface ScheduleRequest extends Plan {
  /** Null keeps the address that is there. */
  webhook: string | null;
}

export interface Delivery {
  delivery_id: string;
  schedule_id: string;
  due: string;
  state: "due" | "claimed" | "sending" | "sent" | "skipped" | "failed" | "in doubt";
  next_try: string;
  reason: string;
  ended: string | null;
}

export interface Schedule extends Plan {
  schedule_id: string;
  /** Why nothing is sent; empty while it is. */
  paused: string;
  next_run: string;
  last_delivery: Delivery | null;
}

/** What can be sent from the server. */
export interface Channels {
  mail: boolean;
  mail_problem: string | null;
  mail_domains: string[];
  webhook_hosts: string[];
  pictures: boolean;
  links: boolean;
}
