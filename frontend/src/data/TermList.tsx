/** The words that were taught for a database, and a form for another. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { remove } from "../api/client";
import { termsQuery } from "../api/queries";
import { Button } from "../shell/Button";
import { Teach } from "../threads/Teach";
import css from "./VerifiedList.module.css";

export function TermList({ preset }: { preset: string }) {
  const client = useQueryClient();
  const { data, error } = useQuery(termsQuery(preset));
  const forgetting = useMutation({
    mutationFn: (termId: string) => remove(`/terms/${encodeURIComponent(termId)}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ["terms", preset] }),
  });
  const problem = error ?? forgetting.error;
  return (
    <section className={css["list"]} aria-label="Taught words">
      {problem && <p role="alert">{problem.message}</p>}
      {data?.length === 0 && <p className={css["none"]}>None yet. Say below what a word means in this database.</p>}
      {data && data.length > 0 && (
        <ul className={css["list"]}>
          {data.map((one) => (
            <li key={one.term_id} className={css["pair"]}>
              <div className={css["head"]}>
                <p className={css["question"]}>
                  <b>{one.term}</b> means <code>{one.means}</code>
                </p>
                <Button icon="cross" disabled={forgetting.isPending} onClick={() => forgetting.mutate(one.term_id)}>
                  Forget
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
      <Teach preset={preset} words={[]} />
    </section>
  );
}
