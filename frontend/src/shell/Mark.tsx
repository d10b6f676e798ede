/** The name, as the way home. */
import css from "./Mark.module.css";
import { followLink, paths } from "./router";

export function Mark() {
  return (
    <a className={css["mark"]} href={paths.home} onClick={followLink}>
      text<span className={css["two"]}>2</span>sql
    </a>
  );
}
