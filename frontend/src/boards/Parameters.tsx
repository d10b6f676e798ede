/** The constants of a kept statement, to be set anew. */
import { type FormEvent, useState } from "react";
import type { KeptParameter } from "../api/boardTypes";
import { axisTitle } from "../result/axisTitle";
import { Button } from "../shell/Button";
import css from "./Tile.module.css";

interface Props {
  parameters: readonly KeptParameter[];
  /** Whether the values stay for the next time. */
  kept: boolean;
  disabled: boolean;
  onRun: (values: string[]) => void;
}

export function Parameters({ parameters, kept, disabled, onRun }: Props) {
  const [values, setValues] = useState(() => parameters.map((parameter) => parameter.value));
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!disabled) onRun(values);
  }
  return (
    <form className={css["parameters"]} onSubmit={submit}>
      {parameters.map((parameter, index) => (
        // a column may be compared twice
        <label key={`${index}-${parameter.name}`} className={css["parameter"]}>
          <span>{parameter.name === "limit" ? "Rows at most" : axisTitle(parameter.name)}</span>
          <input
            value={values[index] ?? ""}
            inputMode={parameter.kind === "number" ? "decimal" : "text"}
            autoComplete="off"
            onChange={(event) => setValues(values.with(index, event.target.value))}
          />
        </label>
      ))}
      <Button look="framed" type="submit" disabled={disabled}>
        {kept ? "Run and keep" : "Run"}
      </Button>
    </form>
  );
}
