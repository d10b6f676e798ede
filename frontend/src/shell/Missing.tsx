/** What stands where something should be that is not there, and the way on. */
import css from "./Missing.module.css";
import { followLink, paths } from "./router";

export function Missing({ title, reason = "" }: { title: string; reason?: string }) {
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
