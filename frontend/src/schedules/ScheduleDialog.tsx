/** When a board or a kept answer is sent, where to, and on which condition; new, or one that is there. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { post, put } from "../api/client";
import { channelsQuery, timesQuery } from "../api/queries";
import type { Channel, Condition, Schedule, ScheduleRequest } from "../api/scheduleTypes";
import { Button } from "../shell/Button";
import dialogCss from "../shell/Dialog.module.css";
import { followLink, paths } from "../shell/router";
import { Check } from "./Check";
import { CHANNELS, sentence } from "./inWords";
import { OnlyWhen } from "./OnlyWhen";
import css from "./Schedules.module.css";
import { type Choice, choiceOf, cronOf, FIRST, shownAt } from "./times";
import { When } from "./When";

export interface Subject {
  title: string;
  keptId?: string;
  boardId?: string;
}

interface Props {
  subject: Subject;
  /** The one to change; a new one otherwise. */
  schedule?: Schedule;
  onClose: () => void;
}

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export default function ScheduleDialog({ subject, schedule, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const client = useQueryClient();
  const channels = useQuery(channelsQuery);
  const [title, setTitle] = useState(schedule?.title ?? subject.title);
  const [choice, setChoice] = useState<Choice>(schedule ? choiceOf(schedule.cron) : FIRST);
  const [zone, setZone] = useState(schedule?.zone ?? HERE);
  const [chosen, setChannel] = useState<Channel | null>(schedule?.channel ?? null);
  const [to, setTo] = useState(schedule?.channel === "mail" ? schedule.recipients.join(", ") : "");
  const [webhook, setWebhook] = useState("");
  const [sent, setSent] = useState({
    table: schedule?.table ?? true,
    picture: schedule?.picture ?? false,
    link: schedule?.link ?? true,
  });
  const [condition, setCondition] = useState<Condition | null>(schedule?.condition ?? null);
  const [quiet, setQuiet] = useState(schedule?.quiet_hours ?? 0);
  const channel = chosen ?? (channels.data?.mail === false ? "slack" : "mail");
  const cron = cronOf(choice);
  const times = useQuery(timesQuery(cron, zone));
  const recipients = to.split(/[\s,;]+/).filter(Boolean);

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const saving = useMutation({
    mutationFn: () => {
      const body: ScheduleRequest = {
        title: title.trim() || subject.title,
        kept_id: subject.keptId ?? null,
        board_id: subject.boardId ?? null,
        cron,
        zone,
        channel,
        recipients: channel === "mail" ? recipients : [],
        webhook: channel === "mail" ? null : webhook.trim() || null,
        ...sent,
        condition,
        quiet_hours: condition ? quiet : 0,
      };
      return schedule
        ? put<Schedule>(`/schedules/${encodeURIComponent(schedule.schedule_id)}`, body)
        : post<Schedule>("/schedules", body);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["schedules"] }),
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation();
    if (!saving.isPending) saving.mutate();
  }

  const problem = saving.error ?? channels.error;
  return createPortal(
    <dialog ref={dialog} className={dialogCss["dialog"]} onClose={onClose} aria-labelledby="schedule-title">
      <form className={dialogCss["form"]} onSubmit={submit}>
        <h2 id="schedule-title" className={dialogCss["title"]}>
          {saving.isSuccess ? "Scheduled" : schedule ? "Change the schedule" : "Schedule"}
        </h2>
        {!saving.isSuccess && (
          <>
            <label className={dialogCss["field"]}>
              <span>Title</span>
              <input value={title} maxLength={200} onChange={(e) => setTitle(e.target.value)} autoComplete="off" />
            </label>
            <When choice={choice} onChange={setChoice} zone={zone} onZone={setZone} />
            <label className={dialogCss["field"]}>
              <span>Send by</span>
              <select value={channel} onChange={(e) => setChannel(e.target.value as Channel)}>
                {(Object.keys(CHANNELS) as Channel[]).map((each) => (
                  <option key={each} value={each} disabled={each === "mail" && channels.data?.mail === false}>
                    {CHANNELS[each]}
                  </option>
                ))}
              </select>
              {channels.data?.mail_problem && <span className={dialogCss["hint"]}>{channels.data.mail_problem}</span>}
            </label>
            {channel === "mail" ? (
              <label className={dialogCss["field"]}>
                <span>To</span>
                <input value={to} inputMode="email" autoComplete="off" onChange={(e) => setTo(e.target.value)} />
                {channels.data && !channels.data.mail_domains.includes("*") && (
                  <span className={dialogCss["hint"]}>
                    Addresses at {channels.data.mail_domains.join(", ")}, separated by commas
                  </span>
                )}
              </label>
            ) : (
              <label className={dialogCss["field"]}>
                <span>Address of the webhook</span>
                <input
                  value={webhook}
                  type="password"
                  autoComplete="off"
                  placeholder={schedule && schedule.channel !== "mail" ? "Stays as it is" : "https://…"}
                  onChange={(e) => setWebhook(e.target.value)}
                />
                <span className={dialogCss["hint"]}>It is kept sealed, and shown to nobody.</span>
              </label>
            )}
            <fieldset className={css["set"]}>
              <legend>What is sent</legend>
              <Check label="The first rows" on={sent.table} set={(table) => setSent({ ...sent, table })} />
              {channel === "mail" && channels.data?.pictures && (
                <Check label="The charts as pictures" on={sent.picture} set={(picture) => setSent({ ...sent, picture })} />
              )}
              {channels.data?.links && (
                <Check label="A link to this page" on={sent.link} set={(link) => setSent({ ...sent, link })} />
              )}
            </fieldset>
            {subject.keptId && (
              <OnlyWhen
                keptId={subject.keptId}
                condition={condition}
                onChange={setCondition}
                quiet={quiet}
                onQuiet={setQuiet}
              />
            )}
          </>
        )}
        <div className={css["told"]} role="status">
          <p>{sentence({ title: title || subject.title, cron, zone, channel, recipients, condition, quiet_hours: quiet })}</p>
          {times.data && <p>Next: {times.data.next.map((time) => shownAt(time, zone)).join(" · ")}</p>}
          {times.error && <p className={css["bad"]}>{times.error.message}</p>}
        </div>
        {problem && (
          <p className={dialogCss["problem"]} role="alert">
            {problem.message}
          </p>
        )}
        <div className={dialogCss["actions"]}>
          {saving.isSuccess && (
            <a
              className={dialogCss["way"]}
              href={paths.activity}
              onClick={(event) => {
                followLink(event);
                dialog.current?.close();
              }}
            >
              All schedules
            </a>
          )}
          <Button look={saving.isSuccess ? "framed" : "plain"} onClick={() => dialog.current?.close()}>
            {saving.isSuccess ? "Close" : "Cancel"}
          </Button>
          {!saving.isSuccess && (
            <Button look="filled" type="submit" disabled={saving.isPending || Boolean(times.error)}>
              {saving.isPending ? "Saving…" : schedule ? "Save" : "Schedule"}
            </Button>
          )}
        </div>
      </form>
    </dialog>,
    document.body,
  );
}
