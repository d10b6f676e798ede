/** What stands where something should be that is not there, and the way on. */
import css from "./NotFound.module.css";
import { followLink, paths } from "./router";

export function NotFound({ title, reason = "" }: { title: string; reason?: string }) {
  return (
    <div className={css["missing"]}>
      <h1 className={css["title"]}>{title}</h1>
      <p className={css["reason"]}>{reason}</p>
      <p>
        <a href={paths.home} onClick={followLink}>
          Ask a question
        </a>
      </p>
    </div>
  );
}
